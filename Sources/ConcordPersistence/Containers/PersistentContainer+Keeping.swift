public import ConcordModel

extension PersistentContainer {
  /// Purges the store of a type now, and again and again as entities are written, so that it keeps what a rule says.
  ///
  /// ```swift
  /// try container.keep(Article.self, .atMost(10_000))
  /// ```
  ///
  /// The rule is applied on a thread of its own when a tenth more was written than it keeps, at least 100 entities, and, where a time is a part of it,
  /// ten times within that. It is not stored: a program sets it each time. A later rule for the type replaces it. Errors of later times reach the
  /// container's error block. See <doc:Lasting>.
  ///
  /// - Throws: ``/ConcordModel/StoreError``, such as ``/ConcordModel/StoreError/predicateFailed(entity:reason:)``; then the rule is not set.
  public func keep<T: PersistentEntity>(_ type: T.Type, _ retention: Retention<T>) throws {
    let (coordinator, view) = (persistentStoreCoordinator, viewContext)
    let entity = try coordinator.model.entity(type)
    coordinator.uses.follow(entity)
    _ = try coordinator.purge(type, keeping: retention)
    let report = view.errorHandler
    coordinator.retentionRules.set(entity, slack: retention.slack, interval: retention.interval) { [weak coordinator] in
      do { _ = try coordinator?.purge(type, keeping: retention) } catch { report(error) }
    }
  }

  /// Ends the rule that ``keep(_:_:)`` has set for a type: all of its entities are kept.
  public func keepAll<T: PersistentEntity>(_ type: T.Type) throws {
    persistentStoreCoordinator.retentionRules.remove(try model.entity(type))
  }
}

extension Retention {
  /// The number of writes after which the rule is applied again.
  fileprivate var slack: Int {
    if case .atMost(let count) = rule { max(100, count / 10) } else { 1_000 }
  }

  /// The seconds after which the rule is applied again.
  fileprivate var interval: Double? {
    if case .usedWithin(let time) = rule { max(1, time / 10) } else { nil }
  }
}
