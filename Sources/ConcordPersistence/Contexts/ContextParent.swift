public import Concord
public import ConcordModel
import Foundation

/// The source and target of a context: the stores, or another context.
///
/// A strategy makes its contexts with parents: ``PersistentStoreCoordinator``, ``RootContext``, ``ViewContext``.
public protocol ContextParent: AnyObject, Sendable {
  /// The model whose entities the parent keeps.
  var model: Model { get }
  /// Reads the rows of some types, in one committed state of each store.
  ///
  /// - Parameters:
  ///   - entities: the types whose rows are read.
  ///   - body: a closure that reads, on the thread of the caller. The reading is valid during the call only.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if a store cannot be read, or none is attached
  ///   that keeps one of the types.
  func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R
  /// Saves the changes of a context, all or none.
  ///
  /// - Parameters:
  ///   - changes: the changes.
  ///   - policy: the rule for what other contexts have changed since the context read it.
  ///   - origin: the identifier of the context, so that it need not be told of its own changes.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/notUnique(entity:columns:)``; then
  ///   nothing is saved.
  func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws
  /// Differs after each commit that this process has made.
  var generation: Int { get }
  /// The stamp of a change that is given none: the date, strictly increasing.
  func nextStamp() -> Stamp
  /// Returns the stamp of an unstamped change to a row with a stamp: later than the date and than the row's stamp.
  func nextStamp(after stamp: Stamp) -> Stamp
  /// Returns whether a stamp is ahead of the clock, as one is that was given while the clock was wrong.
  func isAhead(_ stamp: Stamp) -> Bool
  /// Calls a closure with the rows that may have changed, until the result is released.
  ///
  /// - Parameter body: a closure that receives the changes, one call at a time, on any thread. Several commits may come
  ///   as one call.
  /// - Returns: an observation, which ends when it is released.
  func observeChanges(_ body: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation
  /// Calls a closure with the changes as long as they are wanted. A parent can save faster if it wakes no thread for
  /// changes that nobody wants.
  ///
  /// - Parameters:
  ///   - isWanted: a closure that returns whether changes are wanted at this moment, on any thread. It must not use the
  ///     parent.
  ///   - body: a closure that receives the changes, one call at a time, on any thread.
  /// - Returns: an observation, which ends when it is released.
  func observeChanges(
    while isWanted: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable (StoreChange) -> Void
  ) -> StoreObservation
  /// Changes that readers may have seen and observers have not been told of yet. Empty by default.
  var announcedChanges: AnnouncedChanges { get }
}

extension ContextParent {
  public func observeChanges(
    while isWanted: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable (StoreChange) -> Void
  ) -> StoreObservation {
    observeChanges { if isWanted() { body($0) } }
  }

  public var announcedChanges: AnnouncedChanges { .none }
  public func nextStamp(after stamp: Stamp) -> Stamp { max(nextStamp(), stamp.nextUp) }
  public func isAhead(_ stamp: Stamp) -> Bool { stamp > nextStamp() }
}

extension PersistentStoreCoordinator: ContextParent {
  public func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    // An order, so that several stores are always entered in the same one.
    try read(Array(entities), body)
  }

  public func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    var changed: [EntityDescription] = []
    // Removals reach all that refers to what goes, and references are checked.
    var isFlat = true
    for entry in changes.all {
      let entity = entry.key.entity
      if changed.last !== entity, !changed.contains(entity) { changed.append(entity) }
      if entry.change.row == nil || !entity.targets.isEmpty {
        isFlat = false
        break
      }
    }
    func run(_ writing: any RowWriting) throws {
      try SaveOperation(model: model, changes: changes, policy: policy, writing: writing, parent: self).run()
    }
    if isFlat { return try write(changed, run) }
    // A store that keeps nothing of all this is not asked, since it may be unusable at the moment.
    try write(model.connected(with: changes.entities), run)
  }

  public var generation: Int { commitCount.withLock { $0 } }

  public func nextStamp() -> Stamp { clock.next() }
  public func nextStamp(after stamp: Stamp) -> Stamp { clock.next(after: stamp) }
  public func isAhead(_ stamp: Stamp) -> Bool { clock.isAhead(stamp) }
}
