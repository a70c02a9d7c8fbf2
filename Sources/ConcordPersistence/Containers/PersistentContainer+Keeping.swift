public import ConcordModel

extension PersistentContainer {
  /// Purges the store of a type now, and again and again as entities are written, so that it keeps what a rule says.
  ///
  /// ```swift
  /// try container.keep(Article.self, .atMost(10_000))
  /// ```
  ///
  /// The rule is applied again, on a thread of its own, once more entities of the type were inserted, updated or deleted than its slack: for
  /// ``Retention/atMost(_:)`` a tenth of the number, at least 10; for the other rules 1,000. So `.atMost(10_000)` leaves up to 11,000 stored, and `.atMost(3)`
  /// up to 13, and what must stay besides; and what is written by the save that exceeds the slack, or after it, until the thread has got to it.
  /// What was left since a context had not saved it is looked at again within ten seconds after its save.
  /// ``Retention/used(within:)`` is also applied ten times within its time, though at most once a second.
  ///
  /// The rule is not stored: a program sets it each time. A later rule for the type replaces it. Errors of later times reach the container's error
  /// block. See <doc:Lasting>.
  ///
  /// - Parameters:
  ///   - type: the type of the entities.
  ///   - retention: the rule that says which entities are kept.
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``; then the rule is not set.
  /// - Complexity: each time, the number of stored entities of the type, in a transaction of its own.
  public func keep<T: PersistentEntity>(_ type: T.Type, _ retention: Retention<T>) throws {
    let (coordinator, view) = (persistentStoreCoordinator, viewContext)
    let entity = try coordinator.model.entity(type)
    coordinator.uses.follow(entity)
    /// Applies the rule, and returns whether something that it has left was saved meanwhile; `nil` if all was saved.
    @Sendable func apply(_ coordinator: PersistentStoreCoordinator) throws -> (@Sendable () -> Bool)? {
      let unsaved = try coordinator.purge(type, keeping: retention).unsaved
      if unsaved.isEmpty { return nil }
      return { [weak coordinator] in coordinator.map { !$0.unsavedKeys().isSuperset(of: unsaved) } ?? false }
    }
    let isDue = try apply(coordinator)
    let report = view.errorHandler
    coordinator.retentionRules.set(
      entity, slack: retention.slack, interval: retention.interval, dueAgain: isDue
    ) { [weak coordinator] in
      do { return try coordinator.flatMap { try apply($0) } } catch {
        report(error)
        return nil
      }
    }
  }

  /// Ends the rule that ``keep(_:_:)`` has set for a type: all of its entities are kept.
  ///
  /// - Throws: ``/ConcordModel/StoreError/unknownEntity(_:)`` if the type is not in the model.
  public func keepAll<T: PersistentEntity>(_ type: T.Type) throws {
    persistentStoreCoordinator.retentionRules.remove(try model.entity(type))
  }
}

extension Retention {
  /// The number of writes after which the rule is applied again.
  ///
  /// Each time costs a transaction and the reading of all that is kept: a write pays for a tenth of a transaction at most, and for some ten rows.
  fileprivate var slack: Int {
    if case .atMost(let count) = rule { max(10, count / 10) } else { 1_000 }
  }

  /// The seconds after which the rule is applied again.
  fileprivate var interval: Double? {
    if case .usedWithin(let time) = rule { max(1, time / 10) } else { nil }
  }
}
