import Concord

/// A push of objects, or of removals, on its way to the environments.
///
/// The stores are asked first. Owners do not receive a state that a store discards as stale, but the store's state.
final class Push: Sendable {
  /// The content of a push that an environment receives.
  struct Content: Sendable {
    /// The object that the environment is called with.
    let object: any ConsistentObject
    /// The index of all objects in it, made once for all environments.
    let index: ConsistentIndex

    init(_ objects: [any ConsistentObject], removing removed: [any ConsistentObject] = []) {
      if objects.count == 1, removed.isEmpty {
        object = objects[0]
        index = ConsistentIndex.of(object)
      } else {
        let batch = ConsistentBatch(objects, removing: removed)
        object = batch
        index = batch.index
      }
    }

    /// The pushed objects, each once, in their winning states, as the objects inside them are.
    var objects: [any ConsistentObject] {
      guard let batch = object as? ConsistentBatch else { return [object] }
      var seen: Set<Int> = []
      return batch.objects.compactMap { object in
        guard let position = index.position(of: object), !index.isRemoved[position] else { return nil }
        return seen.insert(position).inserted ? index.winners[position] : nil
      }
    }
  }

  /// The stamp of the objects, for the stores.
  private let stamp: Stamp?
  /// The stamps that some objects have of their own, by their position in the index.
  private let stamps: [Int: Stamp]
  /// The context of the pushing code.
  let context: TransactionContext?
  /// The length of the chain of pushes that it answers: a store answers a push that it discards, and another one may answer
  /// that.
  private let answers: Int
  /// The pushed content, as the stores receive it.
  let given: Content
  private let objects: [any ConsistentObject]
  private let removed: [any ConsistentObject]

  private struct State {
    /// The number of stores that have not answered.
    var asked = 0
    /// The stores' states of the objects that they discarded.
    var kept: [any ConsistentObject] = []
    /// The content for the owners, once all stores have answered.
    var content: Content?
    var whenDecided: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  init(
    _ objects: [any ConsistentObject], removing removed: [any ConsistentObject] = [], modifiedAt stamp: Stamp? = nil,
    stamps: [(object: any ConsistentObject, stamp: Stamp)] = [], context: TransactionContext? = nil,
    answering push: Push? = nil
  ) {
    self.objects = objects
    self.removed = removed
    self.stamp = stamp
    self.context = context
    answers = push.map { $0.answers + 1 } ?? 0
    let given = Content(objects, removing: removed)
    self.given = given
    self.stamps = Dictionary(
      stamps.compactMap { object, stamp in given.index.position(of: object).map { ($0, stamp) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Creates a push for owners alone, which no store is asked about.
  convenience init(
    toOwners objects: [any ConsistentObject], removing removed: [any ConsistentObject] = [],
    context: TransactionContext?
  ) {
    self.init(objects, removing: removed, context: context)
    ask(0)
  }

  /// Whether a store that discards the push is to answer. Answers are newer than the answered push, so they come to an end,
  /// unless there is no newer stamp.
  var mayBeAnswered: Bool { answers < 8 }

  /// The states of the push, in the order in which a store takes them, each with its stamp.
  var updates: [(object: any ConsistentObject, stamp: Stamp?)] {
    let objects = given.index.updated
    if stamps.isEmpty { return objects.map { ($0, stamp) } }
    // The oldest first, so that an object inside another does not keep the greater stamp of that.
    let stamped = objects.map { object in
      (object, given.index.position(of: object).flatMap { stamps[$0] } ?? stamp)
    }
    return stamped.sorted { $0.1 ?? .infinity < $1.1 ?? .infinity }
  }

  /// The content for the owners; `nil` while a store has not answered.
  var content: Content? { state.withLock { $0.content } }

  /// Sets the number of stores that are asked, before the first is.
  func ask(_ stores: Int) {
    state.withLock { state in
      state.asked = stores
      if stores == 0 { state.content = given }
    }
  }

  /// Notes the answer of a store: its states of the objects that it discarded.
  func answer(keeping kept: [any ConsistentObject] = []) {
    let all = state.withLock { state -> [any ConsistentObject]? in
      state.kept += kept
      state.asked -= 1
      return state.asked == 0 ? state.kept : nil
    }
    guard let all else { return }
    // Without the lock, because this runs the user's code. The last ones count, and they are the outermost.
    let content = all.isEmpty ? given : Content(objects + all, removing: removed)
    let whenDecided = state.withLock { state in
      state.content = content
      return state.whenDecided.take()
    }
    whenDecided?()
  }

  /// Whether all stores have answered. If not, `body` is called by the thread with the last answer.
  func isDecided(orLater body: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.content == nil { state.whenDecided = body }
      return state.content != nil
    }
  }
}
