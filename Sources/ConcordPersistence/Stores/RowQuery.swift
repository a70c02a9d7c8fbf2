public import ConcordModel

/// Which rows, in which order.
public struct RowQuery: Sendable {
  /// The entity whose rows are queried.
  public var entity: EntityDescription
  /// The condition that the rows meet.
  public var condition: StoredCondition
  /// Rows that it does not tell apart are in the order of their keys.
  public var order: [StoredOrder]
  /// The greatest number of rows; no limit if it is `nil`.
  public var limit: Int?
  /// The number of rows to leave out at the beginning of the result.
  public var offset: Int

  /// All rows, in the order of their keys, unless said otherwise.
  public init(
    _ entity: EntityDescription, where condition: StoredCondition = .always(true), order: [StoredOrder] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.entity = entity
    self.condition = condition
    self.order = order
    self.limit = limit
    self.offset = offset
  }
}

/// A place in a row.
public enum StoredColumn: Sendable, Hashable {
  /// What equal ids have in common.
  case key
  /// As ``/ConcordModel/EntityDescription/columns`` says.
  case position(Int)
}

/// By which column rows are ordered: as SQLite orders values, `null` first.
public struct StoredOrder: Sendable, Hashable {
  /// The column whose values decide.
  public var column: StoredColumn
  /// Whether smaller values come first.
  public var isAscending: Bool

  /// Creates an order by one column.
  public init(_ column: StoredColumn, isAscending: Bool = true) {
    self.column = column
    self.isAscending = isAscending
  }
}

/// A condition on a row that a store evaluates itself: each part is true or false, also where a value is `null`.
public indirect enum StoredCondition: Sendable, Hashable {
  /// A condition that all rows meet, or none.
  case always(Bool)
  /// The value is the same; `null` is the same as `null`.
  case isEqual(StoredColumn, StoredValue)
  /// The value is one of these.
  case isIn(StoredColumn, Set<StoredValue>)
  /// The value is not `null`, and is ordered so beside the other one.
  case compares(StoredColumn, StoredComparisonOperator, StoredValue)
  /// The two are the same.
  case areEqual(StoredColumn, StoredColumn)
  /// Neither is `null`, and they are ordered so.
  case areOrdered(StoredColumn, StoredComparisonOperator, StoredColumn)
  /// The negation of a condition.
  case not(StoredCondition)
  /// A condition that requires all of several.
  case all([StoredCondition])
  /// A condition that requires at least one of several.
  case any([StoredCondition])
}

/// An operator that compares a column with a value.
public enum StoredComparisonOperator: String, Sendable, Hashable {
  /// Less than the value.
  case less = "<"
  /// Less than or equal to the value.
  case lessOrEqual = "<="
  /// Greater than the value.
  case greater = ">"
  /// Greater than or equal to the value.
  case greaterOrEqual = ">="

  /// Whether two values are ordered so, in SQLite's order.
  func holds(_ a: StoredValue, _ b: StoredValue) -> Bool {
    if a.isNull || b.isNull { return false }
    return switch self {
    case .less: StoredValue.precedes(a, b)
    case .lessOrEqual: !StoredValue.precedes(b, a)
    case .greater: StoredValue.precedes(b, a)
    case .greaterOrEqual: !StoredValue.precedes(a, b)
    }
  }
}

// MARK: Evaluating in memory

extension StoredCondition {
  /// Whether a row fulfils it.
  func holds(_ value: (StoredColumn) -> StoredValue) -> Bool {
    switch self {
    case .always(let isTrue): isTrue
    case .isEqual(let column, let wanted): isSame(value(column), wanted)
    case .isIn(let column, let wanted):
      wanted.contains(value(column)) || wanted.contains { isSame(value(column), $0) }
    case .compares(let column, let comparison, let other): comparison.holds(value(column), other)
    case .areEqual(let a, let b): isSame(value(a), value(b))
    case .areOrdered(let a, let comparison, let b): comparison.holds(value(a), value(b))
    case .not(let condition): !condition.holds(value)
    case .all(let conditions): conditions.allSatisfy { $0.holds(value) }
    case .any(let conditions): conditions.contains { $0.holds(value) }
    }
  }

  /// To SQL, 1 and 1.0 are the same.
  private func isSame(_ a: StoredValue, _ b: StoredValue) -> Bool {
    switch (a, b) {
    case (.integer, .real), (.real, .integer):
      !StoredValue.precedes(a, b) && !StoredValue.precedes(b, a)
    default: a == b
    }
  }
}

/// What a query compares of a row.
struct SortKey: Sendable {
  let values: [StoredValue]
  let key: StoredValue
}

extension RowQuery {
  func holds(_ row: StoredRow, key: StoredValue) -> Bool {
    if case .always(let isTrue) = condition { return isTrue }
    return condition.holds { column in
      switch column {
      case .key: key
      case .position(let position): row.values[position]
      }
    }
  }

  func sortKey(_ key: StoredValue, _ value: (Int) -> StoredValue) -> SortKey {
    SortKey(
      values: order.map { order in
        switch order.column {
        case .key: key
        case .position(let position): value(position)
        }
      }, key: key)
  }

  /// Which of two rows comes first.
  func precedes(_ a: SortKey, _ b: SortKey) -> Bool {
    for (order, (a, b)) in zip(order, zip(a.values, b.values)) {
      if StoredValue.precedes(a, b) { return order.isAscending }
      if StoredValue.precedes(b, a) { return !order.isAscending }
    }
    return StoredValue.precedes(a.key, b.key)
  }

  var start: Int { max(0, offset) }
  /// How many rows at most.
  var maximum: Int { limit.map { max(0, $0) } ?? .max }
}
