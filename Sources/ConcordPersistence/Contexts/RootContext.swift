import Concord
public import ConcordModel
import Foundation

/// Takes what a view saves, and writes it to the stores in the background, in order.
///
/// What cannot be written now (a full disk, a locked file, a detached store) stays, is seen by those who read through the root,
/// and is tried again: with the next save, after a second, and by ``writePendingChanges()``. What can never be written (a
/// conflict, a value that must be unique) is given up. Both are told to the error handler as a ``BackgroundSaveError``.
public final class RootContext: ContextParent {
  private let parent: PersistentStoreCoordinator
  private let errorHandler: AsyncErrorHandlerBlock
  private let state = Locked(State())
  /// One save after the other.
  private let saving = NSLock()
  /// Where it is written.
  private let queue = DispatchQueue(label: "concord.root")
  /// Where the error handler is called, so that it may wait for the root.
  private let errorQueue = DispatchQueue(label: "concord.errors")

  private struct State {
    /// What is not written yet, save by save.
    var layers: [Layer] = []
    /// All of it.
    var combined = PendingChanges()
    var saves = 0
    /// The last one that was told to have failed and is tried again.
    var reported = 0
    var isRetrying = false
    /// Whether the queue is going to write.
    var isEnqueued = false

    mutating func remove(_ count: Int) {
      layers.removeFirst(count)
      combined = PendingChanges()
      for layer in layers { combined.merge(layer.changes) }
    }
  }

  private struct Layer {
    let number: Int
    var changes: PendingChanges
    let policy: MergePolicy
  }

  public init(parent: PersistentStoreCoordinator, errorHandler: @escaping AsyncErrorHandlerBlock) {
    self.parent = parent
    self.errorHandler = errorHandler
  }

  // MARK: For contexts

  public var model: Model { parent.model }
  public var generation: Int { parent.generation &+ state.withLock { $0.saves } }
  public func nextStamp() -> Stamp { parent.nextStamp() }
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    parent.observeChanges(body)
  }

  public func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    // First what is not written: if it is written meanwhile, the stores have it too.
    let pending = state.withLock { $0.combined }
    return try parent.read(entities) { try body(pending.isEmpty ? $0 : PendingReading($0, pending)) }
  }

  public func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    saving.lock()
    defer { saving.unlock() }
    let written = try read(Set(model.entities)) { base in
      let writing = PendingWriting(base) { changes[$0]?.stamp ?? self.nextStamp() }
      try SaveOperation(model: model, changes: changes, policy: policy, writing: writing).run()
      return writing.written
    }
    if written.isEmpty { return }
    state.withLock { state in
      state.saves += 1
      state.layers.append(Layer(number: state.saves, changes: written, policy: policy))
      state.combined.merge(written)
    }
    parent.tell(.entities(Set(written.keys)))
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

  // MARK: Writing

  /// Returns when all that was saved is in the stores.
  ///
  /// - Throws: ``StoreError`` if something cannot be written now.
  public func writePendingChanges() throws { try queue.sync { try writeLayers() } }

  /// On the queue.
  private func writeLayers() throws {
    while true {
      let layers = state.withLock { $0.layers }
      guard let first = layers.first else { return }
      // Several saves are one transaction, if that succeeds.
      let joined = Array(layers.prefix { $0.policy == first.policy })
      do {
        try write(joined)
      } catch  where joined.count > 1 && !Self.mayPass(error) {
        // One of them can never be written.
        try write([first])
      }
    }
  }

  private func write(_ layers: [Layer]) throws {
    guard let first = layers.first else { return }
    var changes = first.changes
    for layer in layers.dropFirst() { changes.merge(layer.changes) }
    do {
      try parent.save(changes, first.policy, origin: ObjectIdentifier(self))
      state.withLock { $0.remove(layers.count) }
      // Who was told of the commit may have read it below the layers; it was merged with what others had saved.
      parent.tell(.entities(Set(changes.keys)))
    } catch  where Self.mayPass(error) {
      let isNew = state.withLock { state in
        let last = layers.last?.number ?? 0
        defer { state.reported = max(state.reported, last) }
        return state.reported < last
      }
      if isNew { report(error, changes, isPending: true) }
      retryLater()
      throw error
    } catch {
      if layers.count > 1 { throw error }
      report(error, changes, isPending: false)
      state.withLock { $0.remove(1) }
      parent.tell(.entities(Set(changes.keys)))
    }
  }

  /// Whether it may succeed another time.
  private static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case StoreError.diskFull, StoreError.locked, StoreError.noStore, StoreError.detached, StoreError.storeFailed,
      StoreError.damagedStore:
      true
    default: false
    }
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

  private func report(_ error: any Error, _ changes: PendingChanges, isPending: Bool) {
    let changes = changes.keys.compactMap { key -> BackgroundSaveError.Change? in
      guard let change = changes[key] else { return nil }
      let object = try? read(model.contained(in: key.entity)) { base in
        let loader = EntityLoader(change.row == nil ? base : PendingReading(base, changes), model: model)
        return try loader.find(key.entity.type, key: key.id) as (any PersistentEntity)?
      }
      let kind: BackgroundSaveError.Change.Kind =
        change.row == nil ? .deleted : change.baseRow == nil ? .inserted : .updated
      return BackgroundSaveError.Change(kind: kind, key: key, row: change.row, object: object ?? nil)
    }
    let report = BackgroundSaveError(error: error, changes: changes, isPending: isPending)
    errorQueue.async { [errorHandler] in errorHandler(report) }
  }
}

/// A save that could not be written in the background, with the changes that it held.
public struct BackgroundSaveError: Error, CustomStringConvertible {
  /// What was wrong: a ``StoreError``.
  public let error: any Error
  public let changes: [Change]
  /// Whether it is tried again; otherwise the changes were given up, and are no longer seen.
  public let isPending: Bool

  /// What was to become of an entity.
  public struct Change: Sendable {
    public enum Kind: Sendable { case inserted, updated, deleted }

    public let kind: Kind
    public let key: EntityKey
    /// What was to be stored; `nil` for a deletion.
    public let row: StoredRow?
    /// The entity as it was to be, of a deletion as it was; `nil` if it cannot be read.
    public let object: (any PersistentEntity)?
  }

  public var description: String {
    let names = changes.prefix(5).map { "\($0.key.entity.name) \($0.key.id)" }.joined(separator: ", ")
    let rest = changes.count > 5 ? " and \(changes.count - 5) more" : ""
    return "\(names)\(rest) could not be written\(isPending ? " yet" : ""): \(error)"
  }
}
