public import Concord
public import ConcordModel
import Foundation

extension BackgroundContext {
  /// Changes all entities that a predicate finds, and the entities that they contain.
  ///
  /// ```swift
  /// try context.update(Book.self, where: #Predicate { $0.year < 1817 }) { $0.title += " (out of print)" }
  /// try context.save()
  /// ```
  ///
  /// It is the same as ``update(_:id:modifiedAt:_:)`` of each: the save merges them with what other contexts have saved since, and observers, live
  /// queries and the feed of other processes are told. Which entities are changed is decided before the first one is. The closure must
  /// change no id, and not save the context.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - predicate: the entities that are changed; `nil` for all.
  ///   - stamp: the freshness of the changes; the date if `nil`.
  ///   - body: a closure that changes one of the entities, in the order of their ids.
  /// - Returns: the number of entities that took the change: those that are newer than a given stamp do not.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``, and what the closure throws; then nothing changed.
  /// - Complexity: the number of entities that are found, which are read at once and stay in memory until the save. Where the closure changes
  ///   entities inside, or a type may contain itself, each is read again.
  @discardableResult
  public func update<T: PersistentEntity>(
    _ type: T.Type, where predicate: Predicate<T>?, modifiedAt stamp: Stamp? = nil, _ body: (inout T) throws -> Void
  ) throws -> Int {
    try locked { try $0.update(type, where: predicate, stamp, body) }
  }

  /// Deletes all entities that a predicate finds.
  ///
  /// ```swift
  /// try context.delete(Book.self, where: #Predicate { $0.year < 1817 })
  /// try context.save()
  /// ```
  ///
  /// It is the same as ``delete(_:id:modifiedAt:)`` of each: they are taken out of collections and optionals, and what requires one of them is
  /// deleted, too.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - predicate: the entities that are deleted; `nil` for all. It must not change the context.
  ///   - stamp: the freshness of the deletions; if `nil`, the later of the date and just after the stamp of each entity.
  /// - Returns: the number of entities that the predicate finds and that are older than a given stamp.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``; then nothing changed.
  /// - Complexity: the number of entities that are found, and of those that refer to them.
  @discardableResult
  public func delete<T: PersistentEntity>(
    _ type: T.Type, where predicate: Predicate<T>?, modifiedAt stamp: Stamp? = nil
  ) throws -> Int {
    try locked { try $0.delete(type, where: predicate, stamp) }
  }
}
