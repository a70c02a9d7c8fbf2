import ConcordModel
import Foundation

/// The rows for which a predicate holds: a condition that a store can evaluate, or the keys for which it was evaluated.
enum RowFilter {
  case condition(StoredCondition)
  /// The rows with some keys, and a condition that all of them fulfil and further rows may.
  case keys(Set<StoredValue>, within: StoredCondition)

  /// Evaluates what a store cannot evaluate. Not from within a reading, since a computed property is the user's.
  init<T: PersistentEntity>(_ predicate: Predicate<T>?, _ entity: EntityDescription, _ context: ContextCore) throws {
    let descriptor = FetchDescriptor<T>(predicate: predicate)
    let plan = FetchPlan(descriptor, entity, context.model)
    if plan.isExact, plan.condition.isOfRow {
      self = .condition(plan.condition)
    } else {
      self = .keys(
        Set(try plan.fetch(context).map { try T.storedKey(of: $0.id) }), within: plan.condition)
    }
  }

  /// The rows with these keys.
  init(keys: [StoredValue]) {
    // A statement takes so many values and no more.
    if keys.count <= 500 {
      self = .condition(.isIn(.key, Set(keys)))
    } else if let first = keys.min(by: StoredValue.precedes), let last = keys.max(by: StoredValue.precedes) {
      self = .keys(
        Set(keys),
        within: .all([.compares(.key, .greaterOrEqual, first), .compares(.key, .lessOrEqual, last)]))
    } else {
      self = .condition(.always(false))
    }
  }

  /// The condition for the store, which may find more rows.
  var stored: StoredCondition {
    switch self {
    case .condition(let condition), .keys(_, within: let condition): condition
    }
  }

  var isAll: Bool { if case .condition(.always(true)) = self { true } else { false } }

  func holds(_ key: StoredValue, _ source: RowSource) throws -> Bool {
    switch self {
    case .condition(.always(let isTrue)): isTrue
    case .condition(let condition): try StoredEvaluation(EvaluatedRow(key, source), nil).holds(condition)
    case .keys(let keys, _): keys.contains(key)
    }
  }
}
