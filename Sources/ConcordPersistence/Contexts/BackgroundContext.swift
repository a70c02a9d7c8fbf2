public import ConcordModel
import Foundation

/// A set of unsaved changes to entities, which only this context sees until it is saved.
///
/// ```swift
/// let context = container.newBackgroundContext()
/// try await context.perform { context in
///   try context.update(Book.self, id: "ACK") { $0.title = "Cannery Row" }
///   try context.save()
/// }
/// ```
///
/// Reads see the newest committed state of the stores, and the context's own changes over it. It may be used from any
/// thread; calls wait for each other. Unsaved changes are lost when the context is released.
///
/// A strategy makes it with the parent that it reads from and saves to; see ``ContextStrategyType``.
// Unchecked, because a class that can be inherited from has to be, and because the compiler cannot see that `lock` guards `core`.
open class BackgroundContext: @unchecked Sendable {
  private let core: ContextCore
  /// Recursive, so that a block may use the context, and begin another block.
  private let lock = NSRecursiveLock()
  /// The queue of asynchronous blocks, so that only one thread waits for the context.
  let queue = DispatchQueue(label: "concord.context")

  /// Creates a context that reads from a parent and saves to it.
  public required init(parent: any ContextParent) { core = ContextCore(parent: parent, isGuard: true) }

  /// The model, which lists the entities that the context may hold.
  public var model: Model { core.parent.model }

  func locked<R>(_ body: (ContextCore) throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body(core)
  }

  // MARK: Blocks

  /// Runs a block on another thread, while no other block or call of the context runs.
  ///
  /// The block is run also if the task is cancelled. What a PostgreSQL server runs for it is ended then, and its later calls
  /// of such a store throw `CancellationError`; a save throws it if it has had no effect.
  ///
  /// - Parameter body: a block that receives the context, on a thread of the context's queue.
  /// - Returns: what the block returns.
  /// - Throws: what the block throws.
  public func perform<R: Sendable>(
    _ body: @escaping @Sendable (BackgroundContext) throws -> R
  ) async throws -> R {
    try await TaskCancellation.perform(on: queue) { try self.performAndWait(body) }
  }

  /// Runs a block without parameters, with exclusive use of the context.
  ///
  /// - Throws: what the block throws.
  public func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await perform { _ in try body() }
  }

  /// Runs a block on this thread, while no other block or call of the context runs. Blocks may be nested.
  ///
  /// - Parameter body: a block that receives the context.
  /// - Returns: what the block returns.
  /// - Throws: what the block throws.
  open func performAndWait<R>(_ body: (BackgroundContext) throws -> R) rethrows -> R {
    try locked { _ in try body(self) }
  }

  /// Runs a block without parameters, with exclusive use of the context.
  open func performAndWait<R>(_ body: () throws -> R) rethrows -> R { try locked { _ in try body() } }

  // MARK: Reading

  /// Finds an entity, with all it contains.
  ///
  /// - Returns: `nil` if it is not stored, or was deleted in this context.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read, or a row of it is no valid entity, and
  ///   ``/ConcordModel/StoreError/noStore(entity:)`` if no store is attached that keeps the type.
  /// - Complexity: the number of entities in it.
  open func find<T: PersistentEntity>(_ type: T.Type, id: T.ID) throws -> T? { try locked { try $0.find(type, id) } }

  /// Fetches entities, with all they contain.
  ///
  /// ```swift
  /// try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)], fetchLimit: 20))
  /// ```
  ///
  /// - Parameter descriptor: the condition, the order and the limit of the fetch.
  /// - Throws: ``/ConcordModel/StoreError``: ``/ConcordModel/StoreError/predicateFailed(entity:reason:)`` if the predicate has no answer for
  ///   an entity; as ``find(_:id:)`` otherwise.
  /// - Complexity: the entities that are found, and all that they contain, if the stores evaluate the condition;
  ///   otherwise all entities of the type. ``explain(_:)`` says which.
  open func fetch<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try locked { try $0.fetch(descriptor) }
  }

  /// Returns the number of entities that a fetch would return.
  ///
  /// - Throws: as ``fetch(_:)``.
  /// - Complexity: the rows that the stores count; no entity is built if they evaluate the whole condition, otherwise
  ///   as ``fetch(_:)``.
  open func count<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try locked { try $0.count(descriptor) }
  }

  /// Explains which part of a fetch the stores evaluate, and how, and which is evaluated in memory.
  ///
  /// - Throws: ``/ConcordModel/StoreError``.
  open func explain<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
    try locked { try $0.explain(descriptor) }
  }

  // MARK: Changing

  /// Inserts an entity, with all it contains, or replaces the one with its id.
  ///
  /// A value that cannot be written makes the next ``save()`` throw.
  ///
  /// An entity that was read inside of another one of its cycle is brief: relations that lead back into the cycle are left
  /// out, and stay as they are stored. A collection that was left out is recognised, also in the value itself, so that an
  /// empty one empties the relation of the value. Inside of the value, an empty relation to a type that may contain itself
  /// leaves the stored one unchanged.
  ///
  /// A value that cannot be inserted, as one of a type that the model lacks, changes nothing. The next ``save()`` throws the error, once.
  ///
  /// - Parameters:
  ///   - entity: the value. Where it contains one entity several times, the outermost value is stored.
  ///   - stamp: the freshness of the value; the date if `nil`. A value that is older than the deletion of its entity is not
  ///     inserted as long as the store remembers the deletion.
  public func insert<T: PersistentEntity>(_ entity: T, modifiedAt stamp: Stamp? = nil) {
    locked { $0.insert(entity, stamp) }
  }

  /// Changes an entity and the entities that it contains. Only properties that the closure changes are written.
  ///
  /// ```swift
  /// try context.update(Book.self, id: "ACK") { $0.title = "Cannery Row" }
  /// ```
  ///
  /// What the closure takes from elsewhere can be brief, as in ``insert(_:modifiedAt:)``: what is left out there stays as it is
  /// stored. A relation that the closure was shown, and that it emptied in the same place, is emptied.
  ///
  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - id: the id of the entity.
  ///   - stamp: the freshness of the change; if `nil`, the later of the date and just after the stamp of the entity.
  ///   - body: a closure that receives the entity and changes it, once, on the thread of the caller. It must not change
  ///     the id.
  /// - Returns: `false` if it is not stored, if the closure changed the id, or if what it changed is newer. Also if it cannot
  ///   be known whether the closure took a brief entity or set `nil`: inside of the value, in place of an entity that was shown
  ///   and that leads back to its owner. An update of that owner sets it to `nil`. An update that changes nothing is not
  ///   refused, as in ``/Concord/EntityStore``.
  /// - Throws: ``/ConcordModel/StoreError``, and what the closure throws; then nothing changed.
  /// - Complexity: the number of entities in it, all of which are read. For an owner of many, leave its collections out:
  ///   ``update(_:id:leavingOut:modifiedAt:_:)``. The save writes the columns and positions that changed, and reads the links of the
  ///   collections that changed.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, _ body: (inout T) throws -> Void
  ) throws -> Bool {
    try locked { try $0.update(type, id, stamp, body) }
  }

  /// Deletes an entity: it is taken out of collections, an optional becomes `nil`, and a parent that requires it is deleted too.
  ///
  /// ```swift
  /// try context.delete(Book.self, id: event.book, modifiedAt: event.version)
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - id: the id of the entity.
  ///   - stamp: the freshness of the deletion; if `nil`, the later of the date and just after the stamp of the entity. A deletion with a
  ///     given stamp is remembered also if the entity is not stored, such as one that a server tells before the insertion.
  /// - Returns: whether it was there, and older than the given stamp.
  /// - Throws: ``/ConcordModel/StoreError``.
  @discardableResult
  public func delete<T: PersistentEntity>(_ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil) throws -> Bool {
    try locked { try $0.delete(type, id, stamp) }
  }

  /// The rule by which the next save merges changes that other contexts have saved since.
  public var mergePolicy: MergePolicy {
    get { locked { $0.policy } }
    set { locked { $0.policy = newValue } }
  }

  // MARK: Saving

  /// Whether the context has unsaved changes.
  public var hasChanges: Bool { locked { $0.hasChanges } }

  /// The entities that a save would insert. Empty while a store cannot be read.
  public var insertedObjects: [any PersistentEntity] { changed(.inserted) }
  /// The entities that a save would update. Empty while a store cannot be read.
  public var updatedObjects: [any PersistentEntity] { changed(.updated) }
  /// The entities that a save would delete, with their stored values. Empty while a store cannot be read.
  public var deletedObjects: [any PersistentEntity] { changed(.deleted) }

  private func changed(_ kind: ContextCore.ChangeKind) -> [any PersistentEntity] {
    locked { (try? $0.changed(kind)) ?? [] }
  }

  /// Saves all changes, or none, to where the strategy says.
  ///
  /// - Throws: ``/ConcordModel/StoreError``: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another entity has a unique value,
  ///   ``/ConcordModel/StoreError/conflict(entity:id:properties:)`` if another context has changed the same and ``mergePolicy`` is `error`,
  ///   another one if a store cannot be written. The changes are still there then, and can be saved again.
  /// - Complexity: the number of changed entities. A deletion also costs those that refer to the entity.
  open func save() throws { try locked { try $0.save(origin: ObjectIdentifier(self)) } }

  /// Discards all unsaved changes.
  public func rollback() { locked { $0.rollback() } }
}
