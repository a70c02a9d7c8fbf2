package import ConcordModel

/// Rows of a table that are to be shown, as a program without the model asks for them. Columns are positions in the table.
package struct RowSelection {
  package var columns: [Int]
  package var condition: RowCondition?
  /// The columns by which the rows are ordered, the first one first.
  package var order: [(column: Int, isDescending: Bool)]
  /// The greatest number of rows; `nil` for all.
  package var limit: Int64?
  /// The number of rows that are left out at first.
  package var offset: Int64 = 0

  package init(
    columns: [Int], condition: RowCondition? = nil, order: [(column: Int, isDescending: Bool)], limit: Int64? = nil,
    offset: Int64 = 0
  ) {
    (self.columns, self.condition, self.order) = (columns, condition, order)
    (self.limit, self.offset) = (limit, offset)
  }
}

/// A condition on the stored values of a row. It is true or false, never unknown, and compares as SQLite does.
package indirect enum RowCondition {
  case isNull(Int)
  /// `null` equals `null`, and is neither less nor greater than anything.
  case compare(Int, Comparison, StoredValue)
  case match(Int, Match, StoredValue)
  case all([RowCondition])
  case any([RowCondition])
  case not(RowCondition)

  package enum Comparison: String {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
  }

  /// A condition on a text.
  package enum Match {
    case contains, startsWith, endsWith
  }
}
