import Concord
public import ConcordModel
import Foundation

/// The parent of a view, which writes the view's saves to the stores in the background, in order.
///
/// A save that cannot be written now (a full disk, a locked file, a detached store) stays, is visible to reads through
/// the root, and is tried again: with the next save, after a second, and by ``writePendingChanges()``. It delays later
/// saves of the same types, and of types that contain them. Saves of further types are written; one that deletes something or has
/// relations, if no relations connect its types with those of an unusable store, since what refers to its entities is looked for
/// there. A save that can never be written (a conflict, a value that must be unique) is given up, and so is each later save that
/// depends on it. Both reach the error handler as a ``BackgroundSaveError``.
public final class RootContext: ContextParent {
  let parent: PersistentStoreCoordinator
  private let errorHandler: AsyncErrorHandlerBlock
  private let state = Locked(State())
  /// A lock that makes saves follow each other.
  private let saving = NSLock()
  /// The queue of writes.
  private let queue = DispatchQueue(label: "concord.root")
  /// The queue of calls to the error handler, which may wait for the root.
  private let errorQueue = DispatchQueue(label: "concord.errors")

  private struct State {
    /// The saves that are not written yet, oldest first.
    var layers: [Layer] = []
    /// All unwritten saves as one set of changes, without entities that other contexts have removed.
    var combined = PendingChanges()
    /// The last commit of the stores whose removals `combined` has been compared with.
    var reconciled = (generation: -1, types: Set<EntityDescription>())
    var saves = 0
    /// The number of writes after which changes were no longer pending.
    var writes = 0
    var isRetrying = false
    /// Whether the queue is going to write.
    var isEnqueued = false
    /// The insertions of saves that were given up.
    var givenUp = GivenUpChanges()

    /// Returns the first save that can be written while saves of some types wait, and the following ones that can be
    /// written with it: one transaction for several saves, if it succeeds.
    func layers(besides waiting: Set<EntityDescription>, _ model: Model) -> [Layer] {
      var waiting = waiting
      var found: [Layer] = []
      for layer in layers {
        let concerned = layer.types.reduce(into: Set()) { $0.formUnion(model.contained(in: $1)) }
        guard concerned.isDisjoint(with: waiting) else {
          waiting.formUnion(layer.types)
          continue
        }
        if let first = found.first, first.policy != layer.policy { break }
        found.append(layer)
      }
      return found
    }

    mutating func remove(_ written: [Layer]) {
      let numbers = Set(written.map(\.number))
      layers.removeAll { numbers.contains($0.number) }
      writes += 1
      combined = PendingChanges()
      reconciled = (-1, [])
      for layer in layers { combined.merge(layer.changes) }
    }

    /// The changes of the unwritten saves before a layer: what was saved later is nothing that this one would have stored.
    func changes(below layer: Layer, without lost: Set<Int> = []) -> PendingChanges {
      var changes = PendingChanges()
      for other in layers where other.number < layer.number && !lost.contains(other.number) {
        changes.merge(other.changes)
      }
      return changes
    }

    /// Notes that a layer was told to have failed and is tried again; whether that is new.
    mutating func setReported(_ layer: Layer) -> Bool {
      guard let index = layers.firstIndex(where: { $0.number == layer.number }), !layers[index].isReported else {
        return false
      }
      layers[index].isReported = true
      return true
    }
  }

  /// The changes of one save.
  private struct Layer {
    let number: Int
    let changes: PendingChanges
    let policy: MergePolicy
    let types: Set<EntityDescription>
    var isReported = false

    init(_ number: Int, _ changes: PendingChanges, _ policy: MergePolicy) {
      (self.number, self.changes, self.policy) = (number, changes, policy)
      types = Set(changes.keys.map(\.entity))
    }
  }

  /// Creates a root context, which writes to the stores of `parent` in the background.
  ///
  /// - Parameters:
  ///   - parent: the coordinator of the stores.
  ///   - errorHandler: a closure that receives a ``BackgroundSaveError`` for each save that was given up, on a queue of
  ///     its own.
  public init(parent: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock) {
    self.parent = parent
    self.errorHandler = errorHandler
    parent.guards.add(self)
  }

  // MARK: For contexts

  public var model: Model { parent.model }
  public var generation: Int { parent.generation &+ state.withLock { $0.saves } }
  public func nextStamp() -> Stamp { parent.nextStamp() }
  public func nextStamp(after stamp: Stamp) -> Stamp { parent.nextStamp(after: stamp) }
  public func isAhead(_ stamp: Stamp) -> Bool { parent.isAhead(stamp) }
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    parent.observeChanges(body)
  }
  public func observeChanges(
    while isWanted: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable (StoreChange) -> Void
  ) -> StoreObservation {
    parent.observeChanges(while: isWanted, body)
  }

  public var announcedChanges: AnnouncedChanges { parent.announcedChanges }

  public func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    let isReconciled = state.withLock { state in
      state.combined.isEmpty
        || state.reconciled.generation == parent.generation && entities.isSubset(of: state.reconciled.types)
    }
    if !isReconciled { try reconcile(with: entities) }
    do {
      return try readUnreconciled(entities, body)
    } catch StoreError.danglingReference where state.withLock({ !$0.combined.isEmpty }) {
      // Another process may have removed it, or another thread this moment.
      try reconcile(with: entities)
      return try readUnreconciled(entities, body)
    }
  }

  private func readUnreconciled<R>(
    _ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R
  ) throws -> R {
    while true {
      let writes = state.withLock { $0.writes }
      let result: R? = try parent.read(entities) { base in
        let (pending, now) = state.withLock { ($0.combined, $0.writes) }
        // A save that was written meanwhile may be in neither of the two.
        if now != writes { return nil }
        return try body(pending.isEmpty ? base : PendingReading(base, pending))
      }
      if let result { return result }
    }
  }

  /// Takes entities that other contexts have removed out of the unwritten saves, as the writing will do.
  private func reconcile(with entities: Set<EntityDescription>) throws {
    let core = ContextCore(parent: parent)
    let generation = parent.generation
    let (saves, writes) = state.withLock { state in
      core.pending = state.combined
      return (state.saves, state.writes)
    }
    try core.reconcile(with: entities)
    state.withLock { state in
      // Otherwise the next reader reconciles again.
      guard state.saves == saves, state.writes == writes else { return }
      state.combined = core.pending
      if state.reconciled.generation != generation { state.reconciled = (generation, []) }
      state.reconciled.types.formUnion(model.connected(with: entities))
    }
  }

  public func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    saving.lock()
    defer { saving.unlock() }
    if try isGivenUp(changes) { return }
    let written = try read(model.connected(with: changes.entities)) { base in
      let writing = PendingWriting(base, of: changes)
      try SaveOperation(model: model, changes: changes, policy: policy, writing: writing, parent: parent).run()
      return writing.result
    }
    if written.isEmpty { return }
    parent.announce(written.keys) {
      state.withLock { state in
        state.saves += 1
        state.layers.append(Layer(state.saves, written, policy))
        state.combined.merge(written)
      }
    }
    enqueue()
  }

  /// Writes soon, unless that is to be tried again later anyway.
  private func enqueue() {
    let isFirst = state.withLock { state in
      if state.isEnqueued || state.isRetrying { return false }
      state.isEnqueued = true
      return true
    }
    guard isFirst else { return }
    queue.async { [self] in
      state.withLock { $0.isEnqueued = false }
      try? writeLayers()
    }
  }

  /// The entities of saves that are not written yet, and those that they contain.
  package func pendingKeys() -> Set<EntityKey> { state.withLock { $0.combined }.neededKeys(in: parent.model) }

  // MARK: Writing

  /// Returns when all that was saved is in the stores.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if something cannot be written now.
  public func writePendingChanges() throws { try queue.sync { try writeLayers() } }

  /// Writes the saves, on the queue. A save that cannot be written now delays those of the same types, and of types
  /// that contain them.
  private func writeLayers() throws {
    var waiting: Set<EntityDescription> = []
    var failure: (any Error)?
    /// The maximum number of saves in one transaction.
    var most = Int.max
    func note(_ error: any Error) {
      // What waits for a store that is not attached hides no other reason.
      if failure == nil || failure.map(StoreError.isOfDetachedStore) ?? false { failure = error }
    }
    while true {
      let layers = Array(state.withLock { $0.layers(besides: waiting, model) }.prefix(most))
      guard let first = layers.first else { break }
      most = .max
      do {
        try write(layers)
      } catch let error where layers.count > 1 && !StoreError.mayPass(error) {
        // One of them can never be written: it is looked for by halves, since there may be many.
        most = layers.count / 2
      } catch {
        // One of them cannot be written now.
        guard layers.count == 1 else {
          do { try write([first]) } catch {
            waiting.formUnion(first.types)
            note(error)
          }
          continue
        }
        waiting.formUnion(first.types)
        note(error)
      }
    }
    if let failure { throw failure }
  }

  /// Throws only what may pass, or what several layers cannot be written for.
  private func write(_ layers: [Layer]) throws {
    guard let first = layers.first else { return }
    var changes = first.changes
    for layer in layers.dropFirst() { changes.merge(layer.changes) }
    do {
      try parent.save(changes, first.policy, origin: ObjectIdentifier(self))
    } catch {
      if layers.count > 1 { throw error }
      if StoreError.mayPass(error) {
        if state.withLock({ $0.setReported(first) }) {
          report(error, changes, state.withLock { $0.changes(below: first) }, isPending: true)
        }
        retryLater()
        throw error
      }
      return giveUp(first, error)
    }
    // An observer of the commit may already have read it below the unwritten saves, merged with rows that other
    // contexts had saved.
    parent.announce(changes.keys) { state.withLock { $0.remove(layers) } }
  }

  /// Gives up a save that can never be written, and those that depend on it, on the queue.
  private func giveUp(_ first: Layer, _ error: any Error) {
    // Nothing is saved meanwhile that may depend on it.
    saving.lock()
    defer { saving.unlock() }
    var (givenUp, later) = state.withLock { state in
      (state.givenUp, state.layers.filter { $0.number > first.number })
    }
    var lost = [first]
    func add(_ layer: Layer, _ error: any Error) {
      let lower = state.withLock { $0.changes(below: layer, without: Set(lost.map(\.number))) }
      report(error, layer.changes, above: givenUp.changes, lower, isPending: false)
      givenUp.add(layer.changes, error)
    }
    add(first, error)
    for layer in later {
      let error = givenUp.error(for: layer.changes, in: model) { key in
        (try? parent.read([key.entity]) { try $0.row(of: key) != nil }) ?? false
      }
      if let error {
        lost.append(layer)
        add(layer, error)
      } else {
        givenUp.removeInserted(by: layer.changes)
      }
    }
    givenUp.limit()
    parent.announce(lost.flatMap(\.changes.keys)) {
      state.withLock { state in
        state.givenUp = givenUp
        state.remove(lost)
      }
    }
  }

  /// Gives up a new save that depends on one that was given up.
  private func isGivenUp(_ changes: PendingChanges) throws -> Bool {
    var givenUp = state.withLock { $0.givenUp }
    if givenUp.isEmpty { return false }
    let error = try givenUp.error(for: changes, in: model) { key in
      try read([key.entity]) { try $0.row(of: key) != nil }
    }
    guard let error else {
      givenUp.removeInserted(by: changes)
      state.withLock { $0.givenUp = givenUp }
      return false
    }
    report(error, changes, above: givenUp.changes, isPending: false)
    givenUp.add(changes, error)
    givenUp.limit()
    parent.announce(changes.keys) { state.withLock { $0.givenUp = givenUp } }
    return true
  }

  private func retryLater() {
    let isFirst = state.withLock { state in
      defer { state.isRetrying = true }
      return !state.isRetrying
    }
    guard isFirst else { return }
    queue.asyncAfter(deadline: .now() + 1) { [weak self] in
      guard let self else { return }
      state.withLock { $0.isRetrying = false }
      try? writeLayers()
    }
  }

  /// - Parameters:
  ///   - others: changes given up before, which the changes may refer to.
  ///   - lower: the changes of the unwritten saves before this one; `nil` if these are all there are.
  private func report(
    _ error: any Error, _ changes: PendingChanges, above others: PendingChanges = PendingChanges(),
    _ lower: PendingChanges? = nil, isPending: Bool
  ) {
    var all = others
    all.merge(changes)
    let changes = changes.keys.compactMap { key -> BackgroundSaveError.Change? in
      guard let change = changes[key] else { return nil }
      func find(_ base: any RowReading) throws -> (any PersistentEntity)? {
        let loader = EntityLoader(change.row == nil ? base : PendingReading(base, all), model: model)
        return try loader.find(key.entity.type, key: key.id) as (any PersistentEntity)?
      }
      let types = model.contained(in: key.entity)
      let object = lower.flatMap { lower in
        try? parent.read(types) { try find(lower.isEmpty ? $0 : PendingReading($0, lower)) }
      }
      let kind: BackgroundSaveError.Change.Kind =
        change.row == nil ? .deleted : change.baseRow == nil ? .inserted : .updated
      let known = object ?? (try? read(types, find))
      return BackgroundSaveError.Change(kind: kind, key: key, row: change.row, object: known ?? nil)
    }
    let report = BackgroundSaveError(error: error, changes: changes, isPending: isPending)
    errorQueue.async { [errorHandler] in errorHandler(report) }
  }
}

/// A save that could not be written in the background, with the changes that it held.
public struct BackgroundSaveError: Error, CustomStringConvertible {
  /// The reason, a ``/ConcordModel/StoreError``.
  public let error: any Error
  /// The changes that the failed save contained.
  public let changes: [Change]
  /// Whether the save is tried again; otherwise its changes were given up, and contexts no longer show them.
  public let isPending: Bool

  /// A change to one entity that the failed save contained.
  public struct Change: Sendable {
    /// The kinds of changes.
    public enum Kind: Sendable {
      /// An insertion.
      case inserted
      /// An update.
      case updated
      /// A deletion.
      case deleted
    }

    /// The kind of the change.
    public let kind: Kind
    /// The key of the changed entity.
    public let key: EntityKey
    /// The row that was to be stored; `nil` for a deletion.
    public let row: StoredRow?
    /// The entity as the save would have stored it, or, for a deletion, as it was stored; `nil` if it cannot be read.
    public let object: (any PersistentEntity)?
  }

  public var description: String {
    let names = changes.prefix(5).map { "\($0.key.entity.name) \($0.key.id)" }.joined(separator: ", ")
    let rest = changes.count > 5 ? " and \(changes.count - 5) more" : ""
    return "\(names)\(rest) could not be written\(isPending ? " yet" : ""): \(error)"
  }
}

extension RootContext: RetentionGuard {}

extension PersistentStoreCoordinator {
  /// Returns the entities of saves that views have made and that are not written yet, and those that they contain.
  ///
  /// It waits for nobody. Within a transaction of the stores a save that is not among them is stored.
  package func unwrittenKeys() -> Set<EntityKey> {
    guards.all.reduce(into: []) { keys, keeper in
      if let root = keeper as? RootContext { keys.formUnion(root.pendingKeys()) }
    }
  }
}
