import ConcordModel
import Foundation

/// Which rows a predicate holds for: what a store can evaluate itself, or a list of those for which it was evaluated.
enum RowFilter {
  case condition(StoredCondition)
  case keys(Set<StoredValue>)

  /// Evaluates what a store cannot evaluate. Not from within a reading, since a computed property is the user's.
  init<T: PersistentEntity>(_ predicate: Predicate<T>?, _ entity: EntityDescription, _ context: ContextCore) throws {
    let descriptor = FetchDescriptor<T>(predicate: predicate)
    let plan = FetchPlan(descriptor, entity, context.model)
    if plan.isExact {
      self = .condition(plan.condition)
    } else {
      self = .keys(Set(try plan.fetch(context).map { try T.storedKey(of: $0.id) }))
    }
  }

  /// What a store looks for. It may find more.
  var stored: StoredCondition { if case .condition(let condition) = self { condition } else { .always(true) } }

  var isAll: Bool { if case .condition(.always(true)) = self { true } else { false } }

  func holds(_ key: StoredValue, _ source: RowSource) -> Bool {
    switch self {
    case .condition(.always(let isTrue)): isTrue
    case .condition(let condition):
      condition.holds { column in
        switch column {
        case .key: key
        case .position(let position): source.value(at: position)
        }
      }
    case .keys(let keys): keys.contains(key)
    }
  }
}
