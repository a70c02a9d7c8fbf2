import Concord

/// Objects that were pushed, or removed, on their way to the environments.
///
/// The stores are asked first. What one of them discards as stale, the owners do not take: they are told of its state.
final class Push: Sendable {
  /// What an environment is told.
  struct Content: Sendable {
    /// What it is called with.
    let object: any ConsistentObject
    /// All that it brings, gathered once for all environments.
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

    /// The objects that were pushed, each once, in the state that counts, as what is in them is.
    var objects: [any ConsistentObject] {
      guard let batch = object as? ConsistentBatch else { return [object] }
      var seen: Set<Int> = []
      return batch.objects.compactMap { object in
        guard let position = index.position(of: object), !index.isRemoved[position] else { return nil }
        return seen.insert(position).inserted ? index.winners[position] : nil
      }
    }
  }

  /// How fresh the objects are, for the stores.
  private let stamp: Stamp?
  /// How fresh some of them are by themselves, by their position in the index.
  private let stamps: [Int: Stamp]
  /// Who pushes.
  let context: TransactionContext?
  /// How many pushes it answers: a store answers a push that it discards, another one may have to answer that.
  private let answers: Int
  /// What was pushed, as the stores get it.
  let given: Content
  private let objects: [any ConsistentObject]
  private let removed: [any ConsistentObject]

  private struct State {
    /// How many stores have not answered.
    var asked = 0
    /// What the stores have in place of what they discarded.
    var kept: [any ConsistentObject] = []
    /// What the owners are told, once all stores have answered.
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

  /// Several that an environment was not told of, as one: of each object the last state, unless any removes it.
  convenience init(combining pushes: [Push]) {
    let contents = pushes.compactMap(\.content)
    self.init(
      contents.flatMap(\.index.updated), removing: contents.flatMap(\.index.removed), context: pushes.last?.context)
    ask(0)
  }

  /// Whether a store that discards it is to say so. Answers are newer than what they answer, so they come to an end; unless
  /// there is no newer stamp.
  var mayBeAnswered: Bool { answers < 8 }

  /// The states that it brings, in the order in which a store takes them, each with its stamp.
  var updates: [(object: any ConsistentObject, stamp: Stamp?)] {
    let objects = given.index.updated
    if stamps.isEmpty { return objects.map { ($0, stamp) } }
    // The oldest first: what is inside is then not left with the greater stamp of what contains it.
    let stamped = objects.map { object in
      (object, given.index.position(of: object).flatMap { stamps[$0] } ?? stamp)
    }
    return stamped.sorted { $0.1 ?? .infinity < $1.1 ?? .infinity }
  }

  /// What the owners are told; `nil` while a store has not answered.
  var content: Content? { state.withLock { $0.content } }

  /// Says how many stores are asked, before any of them is.
  func ask(_ stores: Int) {
    state.withLock { state in
      state.asked = stores
      if stores == 0 { state.content = given }
    }
  }

  /// Notes the answer of a store: its states of what it discarded.
  func answer(keeping kept: [any ConsistentObject] = []) {
    let all = state.withLock { state -> [any ConsistentObject]? in
      state.kept += kept
      state.asked -= 1
      return state.asked == 0 ? state.kept : nil
    }
    guard let all else { return }
    // Without the lock, because this runs code of the objects. The last ones count, and they are the outermost.
    let content = all.isEmpty ? given : Content(objects + all, removing: removed)
    let whenDecided = state.withLock { state in
      state.content = content
      return state.whenDecided.take()
    }
    whenDecided?()
  }

  /// Whether all stores have answered. If not, `body` is called by the thread that brings the last answer.
  func isDecided(orLater body: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      if state.content == nil { state.whenDecided = body }
      return state.content != nil
    }
  }
}
