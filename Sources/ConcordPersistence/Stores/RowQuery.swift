public import ConcordModel
import Foundation

/// A query for rows: their condition, order and number.
public struct RowQuery: Sendable {
  /// The entity whose rows are queried.
  public var entity: EntityDescription
  /// The condition that the rows meet.
  public var condition: StoredCondition
  /// The order of the rows. Rows that are equal in it are in the order of their keys.
  public var order: [StoredOrder]
  /// The greatest number of rows; no limit if it is `nil`.
  public var limit: Int?
  /// The number of rows to leave out at the beginning of the result.
  public var offset: Int

  /// Creates a query; by default for all rows, in the order of their keys.
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
  /// The key, which equal ids have in common.
  case key
  /// A column, by its position in ``/ConcordModel/EntityDescription/columns``.
  case position(Int)
}

/// A column by which rows are ordered: as SQLite orders values, `null` first.
public struct StoredOrder: Sendable, Hashable {
  /// The column whose values decide.
  public var column: StoredColumn
  /// Whether smaller values come first.
  public var isAscending: Bool
  /// The collation of texts.
  public var collation: StoredCollation

  /// Creates an order by one column.
  public init(_ column: StoredColumn, isAscending: Bool = true, collation: StoredCollation = .binary) {
    self.column = column
    self.isAscending = isAscending
    self.collation = collation
  }
}

/// An order of texts.
public enum StoredCollation: Sendable, Hashable {
  /// The order of their bytes.
  case binary
  /// The order of the scalars of their composed form (Unicode's NFC): that of `String`, and of the comparator `.lexical`.
  case lexical
  /// The order of one of Foundation's comparators, forward.
  case comparator(String.StandardComparator)
}

/// A condition on a row that a store evaluates itself: each part is true or false, also where a value is `null`.
public indirect enum StoredCondition: Sendable, Hashable {
  /// A condition that all rows meet, or none.
  case always(Bool)
  /// A condition that the value of a column is a given one; `null` is the same as `null`.
  case isEqual(StoredColumn, StoredValue)
  /// A condition that the value of a column is one of several.
  case isIn(StoredColumn, Set<StoredValue>)
  /// A condition that the value of a column is not `null`, and has a certain order beside a given value.
  case compares(StoredColumn, StoredComparisonOperator, StoredValue)
  /// A condition that two values are the same.
  case areEqual(StoredColumn, StoredColumn)
  /// A condition that the values of two columns are not `null`, and have a certain order.
  case areOrdered(StoredColumn, StoredComparisonOperator, StoredColumn)
  /// A condition that two computed values have a certain relation.
  case relates(StoredExpression, StoredRelation, StoredExpression)
  /// A condition that an element of the collection at an index, which holds entities of a type, fulfils another one.
  case hasElement(Int, EntityDescription, StoredCondition)
  /// A condition that the texts at some positions are a hit of a search.
  case matches(SearchQuery, in: [Int])
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

/// The values by which a query orders a row.
package struct SortKey: Sendable {
  let values: [StoredValue]
  let key: StoredValue

  package init(values: [StoredValue], key: StoredValue) { (self.values, self.key) = (values, key) }
}

extension StoredOrder {
  /// Whether a value comes before another one, if the order is ascending.
  fileprivate func precedes(_ a: StoredValue, _ b: StoredValue) -> Bool {
    guard case .text(let first) = a, case .text(let second) = b else { return StoredValue.precedes(a, b) }
    return switch collation {
    case .binary: StoredValue.precedes(a, b)
    case .lexical: TextOrder.compare(first, second) < 0
    case .comparator(let comparator): comparator.compare(first, second) == .orderedAscending
    }
  }
}

extension RowQuery {
  /// Whether a row fulfils the condition.
  ///
  /// - Parameter reading: what tells the rows that the condition looks at beside this one.
  func holds(_ row: StoredRow, key: StoredValue, _ reading: (any RowReading)?) throws -> Bool {
    try holds(EvaluatedRow(key, row), reading)
  }

  func holds(_ row: @autoclosure () -> EvaluatedRow, _ reading: (any RowReading)?) throws -> Bool {
    if case .always(let isTrue) = condition { return isTrue }
    return try entity.evaluating { try StoredEvaluation(row(), reading).holds(condition) }
  }

  package func sortKey(_ key: StoredValue, _ value: (Int) -> StoredValue) -> SortKey {
    SortKey(
      values: order.map { order in
        switch order.column {
        case .key: key
        case .position(let position): value(position)
        }
      }, key: key)
  }

  /// Returns whether one row comes before another.
  package func precedes(_ a: SortKey, _ b: SortKey) -> Bool {
    for (order, (a, b)) in zip(order, zip(a.values, b.values)) {
      if order.precedes(a, b) { return order.isAscending }
      if order.precedes(b, a) { return !order.isAscending }
    }
    return StoredValue.precedes(a.key, b.key)
  }

  package var start: Int { max(0, offset) }
  /// The maximum number of rows.
  package var maximum: Int { limit.map { max(0, $0) } ?? .max }
}
