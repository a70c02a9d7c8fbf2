public import Concord
public import ConcordModel
import Foundation
import Synchronization

/// A context for screens, whose entities live in an ``/Concord/EntityStore`` as long as they are observed.
///
/// ```swift
/// let book = try container.viewContext.find(Book.self, id: "ACK")
/// let subscription = book?.observe { print($0.title) }
/// ```
///
/// Changes to it are shown at once, and written by ``save()``. It may be used from any thread. Each call that changes
/// something is a transaction of ``store``, and so is a block of `performAndWait(_:)`.
// Unchecked, because the compiler cannot see that `lock` guards `core`, `queries` and the shown entities.
public final class ViewContext: ContextParent, @unchecked Sendable {
  /// The entity store that observers read. Direct writes to it, not through the context, are shown until the context
  /// shows something else, and are not saved. Optimistic layers above it are shown by observers, and by live queries at their place once
  /// ``followLayers()`` was called.
  public var store: EntityStore {
    beginUse()
    return entities
  }
  let entities: EntityStore
  /// Whether the view was ever used. Until then it shows nothing, and need not hear of commits.
  let isUsed = Atomic<Bool>(false)
  /// Whether the overlay may have changes of commits that ended before the view was used.
  private let hasUnreadOverlay = Atomic<Bool>(false)
  let core: ContextCore
  let queries = QueryIndex()
  /// Whether changes are being shown at this moment.
  var isShowing = false
  /// The types that could not be read, and are shown later.
  var unshown = UnshownTypes()
  /// The number of announced commits that had ended before the shown state was read, which includes them.
  var shownCommits = 0
  /// Taken after the store's turn, never before.
  private let lock = NSRecursiveLock()
  let isKeptUpToDate: Bool
  let errorHandler: AsyncErrorHandlerBlock
  /// The queue of asynchronous blocks, so that only one thread waits for the context.
  let queue = DispatchQueue(label: "concord.view")
  let changeCount = Locked(0)
  private let observation = Locked<StoreObservation?>(nil)
  /// Whether layers count in the queries that begin.
  let followsLayers = Atomic<Bool>(false)
  let overlaid = Locked<(any ViewOverlay)?>(nil)
  let cache = ViewCache()
  /// The steps that can be undone.
  let undoSteps = UndoSteps()
  /// The coordinator of the stores; `nil` if a strategy has parents of its own kind.
  let home: PersistentStoreCoordinator?

  /// Creates a context for screens.
  ///
  /// - Parameters:
  ///   - parent: the parent that the context reads from and saves to.
  ///   - isKeptUpToDate: whether the context shows saves of other contexts.
  ///   - delivery: the delivery for observers that belong to no actor.
  ///   - errorHandler: a closure that receives the error if a save of another context cannot be read.
  public init(
    parent: any ContextParent, isKeptUpToDate: Bool = true, delivery: EntityStore.Delivery = .queue(.main),
    errorHandler: @escaping AsyncErrorHandlerBlock
  ) {
    // A row that is read replaces the shown one, also with an older stamp, as after a rollback.
    entities = EntityStore(delivery: delivery, stamping: .unstampedWritesWin)
    core = ContextCore(parent: parent)
    home = parent.coordinator
    core.noteTouched()
    self.isKeptUpToDate = isKeptUpToDate
    self.errorHandler = errorHandler
    let observed = parent.observeChanges { [weak self] in
      self?.isUsed.load(ordering: .sequentiallyConsistent) ?? false
    } _: { [weak self] in
      self?.show($0)
    }
    observation.withLock { $0 = observed }
    home?.guards.add(self)
  }

  /// Notes that the view is used, before it reads anything: commits that had ended are in what it reads, and it is told of later ones.
  func beginUse() {
    if isUsed.load(ordering: .relaxed) { return }
    // The overlay was told of none of the commits before.
    hasUnreadOverlay.store(true, ordering: .sequentiallyConsistent)
    isUsed.store(true, ordering: .sequentiallyConsistent)
  }

  func locked<R>(_ body: () throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }

  /// Changes the context, and shows it.
  func change<R>(_ body: (ContextCore) throws -> R) throws -> R { try result(of: body).get() }

  private func result<R>(of body: (ContextCore) throws -> R) -> Result<R, any Error> {
    store.transaction { _ in
      locked {
        // What throws undoes nothing that it did before, so that this is shown too.
        let result = Result { try body(core) }
        // The change may have read a commit that is not told yet, or one that ends a change shown above it. Changes
        // that a computed property makes during showing are shown with the rest.
        let isUnread = !isShowing && hasUnreadOverlay.exchange(false, ordering: .sequentiallyConsistent)
        if !isShowing, !showTouched() || isUnread, !announced.isEmpty || isOverlaid || isUnread {
          show([], withOverlay: isUnread)
        }
        return result
      }
    }
  }

  // MARK: Blocks

  /// Runs a block on another thread, as one transaction.
  ///
  /// If the task is cancelled, the block is run all the same, as in a ``BackgroundContext``.
  ///
  /// - Parameter body: a block that receives the context, on a thread of the context's queue. Observers are called
  ///   after it.
  /// - Returns: what the block returns.
  /// - Throws: what the block throws. What it has changed before stays changed.
  public func perform<R: Sendable>(_ body: @escaping @Sendable (ViewContext) throws -> R) async throws -> R {
    try await TaskCancellation.perform(on: queue) { try self.performAndWait(body) }
  }

  /// Runs a block without parameters as one transaction, with exclusive use of the context.
  ///
  /// - Throws: what the block throws. What it has changed before stays changed.
  public func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await perform { _ in try body() }
  }

  /// Runs a block on this thread, as one transaction. Blocks may be nested.
  ///
  /// - Parameter body: a block that receives the context. Observers are called after it.
  /// - Returns: what the block returns.
  /// - Throws: what the block throws. What it has changed before stays changed.
  @discardableResult
  public func performAndWait<R>(_ body: (ViewContext) throws -> R) throws -> R { try change { _ in try body(self) } }

  /// Runs a block without parameters as one transaction, with exclusive use of the context.
  ///
  /// - Throws: what the block throws. What it has changed before stays changed.
  @discardableResult
  public func performAndWait<R>(_ body: () throws -> R) throws -> R { try change { _ in try body() } }

  // MARK: Reading

  /// Finds an entity, to observe it. The observer follows changes in the view and, depending on the strategy, saves of
  /// other contexts.
  ///
  /// - Returns: `nil` if the entity is neither stored nor inserted by a pending change. For an entity that a pending
  ///   change removes, an observer whose `isRemoved` is true.
  /// - Throws: as ``BackgroundContext/find(_:id:)``.
  /// - Complexity: the number of entities in it.
  public func find<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> EntityObserver<T>? {
    let stored: EntityObserver<T>? = try change { core in
      let (value, others, unannounced) = try core.load(type, id) { value, loader in
        (
          value, value == nil ? [] : loader.membersOfCycles,
          isKeptUpToDate ? try loader.reading.unannouncedKeys() : []
        )
      }
      // The rest of what other processes have committed is shown with it.
      defer { if !unannounced.isEmpty, !isShowing { show(unannounced) } }
      guard let value else {
        store.remove(type, id: id)
        return nil
      }
      return withExtendedLifetime(others.map { store.keep($0) }) { store.store(value) }
    }
    // A layer may have made it, as one of what waits to be sent does.
    let found = stored ?? store.find(type, id: id)
    didFind(type, id, found)
    return found
  }

  /// Fetches entities, with all they contain, without observing them.
  ///
  /// - Parameter descriptor: the condition, the order and the limit of the fetch.
  /// - Throws: as ``BackgroundContext/fetch(_:)``.
  public func fetch<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let plan = try plan(descriptor)
    // Without the lock: what is evaluated in memory may use the view, whose turn is taken before its lock.
    let found = try plan.finish(locked { try plan.load(core) })
    didFetch(found)
    return found
  }

  /// Returns the number of entities that a fetch would return.
  ///
  /// - Throws: as ``BackgroundContext/fetch(_:)``.
  public func count<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    let plan = try plan(descriptor)
    return plan.isExact ? try locked { try plan.count(core) } : try fetch(descriptor).count
  }

  private func plan<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan<T> {
    FetchPlan(descriptor, try model.entity(T.self), model)
  }

  /// Explains which part of a fetch the stores evaluate, and how, and which is evaluated in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  public func explain<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
    try locked { try core.explain(descriptor) }
  }

  // MARK: Changing

  /// Inserts an entity, with all it contains, or replaces the one with its id. See ``BackgroundContext/insert(_:modifiedAt:)``.
  public func insert<T: PersistentEntity>(_ entity: T, modifiedAt stamp: Stamp? = nil) {
    _ = result { $0.insert(entity, stamp) }
  }

  /// Changes an entity and the entities that it contains. See ``BackgroundContext/update(_:id:modifiedAt:_:)``.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, _ body: (inout T) throws -> Void
  ) throws -> Bool {
    try change { try $0.update(type, id, stamp, body) }
  }

  /// Changes an entity without reading the entities in some of its collections. See
  /// ``BackgroundContext/update(_:id:leavingOut:modifiedAt:_:)``.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, leavingOut collections: PartialKeyPath<T>..., modifiedAt stamp: Stamp? = nil,
    _ body: (inout T, EntityLinks<T>) throws -> Void
  ) throws -> Bool {
    try change { try $0.update(type, id, leavingOut: collections, stamp, body) }
  }

  /// Deletes an entity. See ``BackgroundContext/delete(_:id:modifiedAt:)``.
  @discardableResult
  public func delete<T: PersistentEntity>(_ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil) throws -> Bool {
    try change { try $0.delete(type, id, stamp) }
  }

  /// The rule by which the next save merges changes that other contexts have saved since.
  public var mergePolicy: MergePolicy {
    get { locked { core.policy } }
    set { locked { core.policy = newValue } }
  }

  // MARK: Saving

  /// Whether the context has unsaved changes.
  public var hasChanges: Bool { locked { core.hasChanges } }

  /// The entities that a save would insert. Empty while a store cannot be read.
  public var insertedObjects: [any PersistentEntity] { changed(.inserted) }
  /// The entities that a save would update. Empty while a store cannot be read.
  public var updatedObjects: [any PersistentEntity] { changed(.updated) }
  /// The entities that a save would delete, with their stored values. Empty while a store cannot be read.
  public var deletedObjects: [any PersistentEntity] { changed(.deleted) }

  private func changed(_ kind: ContextCore.ChangeKind) -> [any PersistentEntity] {
    locked { (try? core.changed(kind)) ?? [] }
  }

  /// Saves all changes, or none, to where the strategy says.
  ///
  /// - Throws: as ``BackgroundContext/save()``. The changes are still there then, and can be saved again.
  public func save() throws {
    try locked { try core.save(origin: ObjectIdentifier(self)) }
    // A change that lost against another context's save is no longer shown.
    try change { _ in }
  }

  /// Discards all unsaved changes.
  public func rollback() { _ = result { $0.rollback() } }
}

// MARK: For contexts that save to the view

extension ViewContext {
  public var model: Model { core.parent.model }
  public var generation: Int { core.parent.generation &+ changeCount.withLock { $0 } }
  public func nextStamp() -> Stamp { core.parent.nextStamp() }
  public func nextStamp(after stamp: Stamp) -> Stamp { core.parent.nextStamp(after: stamp) }
  public func isAhead(_ stamp: Stamp) -> Bool { core.parent.isAhead(stamp) }
  public func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
    core.parent.observeChanges(body)
  }
  public func observeChanges(
    while isWanted: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable (StoreChange) -> Void
  ) -> StoreObservation {
    core.parent.observeChanges(while: isWanted, body)
  }

  public func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    try locked { try core.read(entities, body) }
  }

  /// Saves the changes of another context, together with all unsaved changes of this one.
  ///
  /// - Parameters:
  ///   - changes: the changes of the other context.
  ///   - policy: the rule for what other contexts have changed since that context read it.
  ///   - origin: the identifier of that context.
  /// - Throws: ``/ConcordModel/StoreError``; then nothing is saved.
  public func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    try change { try $0.save(changes, policy, origin: origin) }
  }
}
