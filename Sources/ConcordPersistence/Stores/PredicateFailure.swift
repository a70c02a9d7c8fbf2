import Concord
import ConcordModel

/// An error that may say that a condition has no answer for a row.
protocol ConditionFailure: Error {
  /// The reason why there is no answer; `nil` for another error.
  var reason: String? { get }
}

extension ArithmeticFailure: ConditionFailure {
  var reason: String? { description }
}

extension EntityDescription {
  /// Evaluates a predicate on entities of the type.
  ///
  /// - Throws: ``/ConcordModel/StoreError/predicateFailed(entity:reason:)`` if it has no answer for one of them.
  package func evaluating<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let failure as any ConditionFailure {
      guard let reason = failure.reason else { throw failure }
      throw StoreError.predicateFailed(entity: name, reason: reason)
    }
  }
}

extension CheckedPredicate where T: PersistentEntity {
  /// Whether the predicate holds for an entity.
  ///
  /// - Throws: ``/ConcordModel/StoreError/predicateFailed(entity:reason:)`` if it has no answer.
  func holds(_ value: T) throws -> Bool {
    do { return try evaluate(value) } catch {
      throw StoreError.predicateFailed(entity: T.entityName, reason: "\(error)")
    }
  }
}

extension StoreError {
  /// Whether an error says that a predicate has no answer for an entity.
  static func isOfPredicate(_ error: any Error) -> Bool { if case predicateFailed = error { true } else { false } }
}
