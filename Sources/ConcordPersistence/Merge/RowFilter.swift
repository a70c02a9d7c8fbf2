import ConcordModel
import Foundation

/// The rows for which a predicate holds: a condition that a store can evaluate, or the keys for which it was evaluated.
enum RowFilter {
  case condition(RowQuery)
  /// The rows with some keys, and conditions, of which each of them fulfils one, and further rows may.
  case keys(Set<StoredValue>, within: [StoredCondition])

  /// Evaluates what a store cannot evaluate. Not from within a reading, since a computed property is the user's.
  init<T: PersistentEntity>(_ predicate: Predicate<T>?, _ entity: EntityDescription, _ context: ContextCore) throws {
    let descriptor = FetchDescriptor<T>(predicate: predicate)
    let plan = FetchPlan(descriptor, entity, context.model)
    if plan.isExact, plan.condition.isOfRow {
      self = .condition(plan.unordered)
    } else {
      self = .keys(
        Set(try plan.fetch(context).map { try T.storedKey(of: $0.id) }), within: [plan.condition])
    }
  }

  /// The rows with these keys.
  init(keys: [StoredValue]) {
    let keys = Set(keys)
    let sorted = keys.sorted(by: StoredValue.precedes)
    // A statement takes so many values and no more.
    let parts = stride(from: 0, to: sorted.count, by: 500).map { start in
      StoredCondition.isIn(.key, Set(sorted[start..<min(start + 500, sorted.count)]))
    }
    // Between the first key and the last may lie the whole table, which is read only instead of many parts.
    if parts.count > 20, let first = sorted.first, let last = sorted.last {
      let range: [StoredCondition] = [.compares(.key, .greaterOrEqual, first), .compares(.key, .lessOrEqual, last)]
      self = .keys(keys, within: [.all(range)])
    } else {
      self = .keys(keys, within: parts)
    }
  }

  /// The conditions for the store, which may find more rows: one reading for each. If there are several, no row fulfils two,
  /// and those of a reading precede those of the next in the order of their keys.
  var readings: [StoredCondition] {
    switch self {
    case .condition(let query): [query.condition]
    case .keys(_, within: let conditions): conditions
    }
  }

  var isAll: Bool { if case .condition(let query) = self { query.condition == .always(true) } else { false } }

  func holds(_ key: StoredValue, _ source: RowSource) throws -> Bool {
    switch self {
    case .condition(let query): try query.holds(EvaluatedRow(key, source), nil)
    case .keys(let keys, _): keys.contains(key)
    }
  }
}
