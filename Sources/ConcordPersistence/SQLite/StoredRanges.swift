#if Persistence
  import ConcordModel
  import Foundation

  /// The ranges of columns that a conjunction asks for. SQLite does not know which of several ends on one side is the narrowest, and
  /// takes a range with one end for a quarter of the table, which it rather reads as a whole than sorts.
  struct StoredRanges {
    private struct Ends {
      var lower: (index: Int, value: StoredValue)?
      var upper: (index: Int, value: StoredValue)?
    }

    private var ends: [StoredColumn: Ends] = [:]
    /// In the order in which they came.
    private(set) var columns: [StoredColumn] = []

    init(_ conditions: [StoredCondition]) {
      for (index, condition) in conditions.enumerated() {
        guard case .compares(let column, let comparison, let value) = condition else { continue }
        if ends[column] == nil { columns.append(column) }
        var ends = ends[column, default: Ends()]
        switch comparison {
        case .greater, .greaterOrEqual:
          if ends.lower.map({ StoredValue.precedes($0.value, value) }) ?? true { ends.lower = (index, value) }
        case .less, .lessOrEqual:
          if ends.upper.map({ StoredValue.precedes(value, $0.value) }) ?? true { ends.upper = (index, value) }
        }
        self.ends[column] = ends
      }
    }

    /// Whether the condition at an index is the narrowest on its side.
    func isEnd(_ index: Int) -> Bool { ends.values.contains { $0.lower?.index == index || $0.upper?.index == index } }

    /// Returns a further condition that closes an open range without excluding a value: for a column with an index,
    /// unless the order uses another one.
    func missingEnd(
      of column: StoredColumn, _ table: SQLiteTable, _ isOrderedByKey: Bool
    ) -> (comparison: StoredComparisonOperator, value: StoredValue)? {
      guard isOrderedByKey, case .position(let position) = column, position != table.entity.idPosition,
        let ends = ends[column]
      else { return nil }
      let description = table.entity.columns[position]
      guard description.isIndexed || description.isUnique,
        description.storageClass == .real || description.storageClass == .integer
      else { return nil }
      switch (ends.lower, ends.upper) {
      case (nil, .some): return (.greaterOrEqual, .real(-.infinity))
      case (.some, nil): return (.lessOrEqual, Self.last)
      default: return nil
      }
    }

    /// A value after all stored numbers, those kept as bytes included.
    private static let last = StoredValue.blob(Data(repeating: 0xFF, count: 17))
  }

  extension StoredCondition {
    /// The columns that are compared with bytes.
    var columnsBesideBytes: Set<Int> {
      switch self {
      case .isEqual(.position(let position), .blob), .compares(.position(let position), _, .blob): [position]
      case .isIn(.position(let position), let values):
        values.contains { if case .blob = $0 { true } else { false } } ? [position] : []
      case .not(let condition): condition.columnsBesideBytes
      case .all(let conditions), .any(let conditions):
        conditions.reduce(into: []) { $0.formUnion($1.columnsBesideBytes) }
      default: []
      }
    }

    /// Returns the condition simplified for rows in which some columns hold no bytes.
    func withoutBytes(in positions: Set<Int>) -> StoredCondition {
      switch self {
      case .isEqual(.position(let position), .blob) where positions.contains(position): return .always(false)
      case .compares(.position(let position), .greater, .blob) where positions.contains(position),
        .compares(.position(let position), .greaterOrEqual, .blob) where positions.contains(position):
        return .always(false)
      case .isIn(let column, let values):
        guard case .position(let position) = column, positions.contains(position) else { return self }
        return .isIn(column, values.filter { if case .blob = $0 { false } else { true } })
      case .not(let condition):
        let inner = condition.withoutBytes(in: positions)
        if case .always(let isTrue) = inner { return .always(!isTrue) }
        return .not(inner)
      case .all(let conditions):
        let parts = conditions.map { $0.withoutBytes(in: positions) }.filter { $0 != .always(true) }
        if parts.contains(.always(false)) { return .always(false) }
        return parts.count == 1 ? parts[0] : .all(parts)
      case .any(let conditions):
        let parts = conditions.map { $0.withoutBytes(in: positions) }.filter { $0 != .always(false) }
        if parts.contains(.always(true)) { return .always(true) }
        return parts.isEmpty ? .always(false) : parts.count == 1 ? parts[0] : .any(parts)
      default: return self
      }
    }
  }
#endif
