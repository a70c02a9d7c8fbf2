#if Persistence
  import ConcordModel

  /// A query as SQL. What a query carries is bound.
  struct SQLiteQuery {
    /// Selects the rows.
    let rows: String
    /// The same without the stamps, and the keys only where the properties do not tell them.
    let entities: String
    /// Counts them.
    let count: String
    private let values: [StoredValue]

    init(_ query: RowQuery, _ table: SQLiteTable) {
      var writer = SQLiteConditionWriter(table, isOrderedByKey: query.order.isEmpty)
      let condition = writer.sql(query.condition)
      let filter = query.condition == .always(true) ? "" : " WHERE \(condition)"
      let from = "FROM \(quoted(query.entity.name))\(filter)"
      var orders = query.order.map { "\(writer.name($0.column))\($0.isAscending ? "" : " DESC")" }
      // What comes after the key cannot tell any two rows apart.
      orders = Array(orders.prefix((query.order.firstIndex { $0.column == .key } ?? orders.count) + 1))
      if !query.order.contains(where: { $0.column == .key }) { orders.append("\"id\"") }
      // Without a range each row is a step less.
      let hasRange = query.limit != nil || query.start > 0
      let range = hasRange ? " LIMIT ? OFFSET ?" : ""
      let selection = "\(from) ORDER BY \(orders.joined(separator: ", "))\(range)"
      rows = "SELECT \(SQLiteTable.resultColumns(query.entity, table.keepsExactID)) \(selection)"
      entities = "SELECT \(SQLiteTable.entityColumns(query.entity, table.keepsExactID)) \(selection)"
      count = "SELECT COUNT(*) FROM (SELECT 1 \(from)\(range))"
      // No limit is a negative one.
      let rangeValues: [StoredValue] =
        hasRange ? [.integer(query.limit.map { Int64(max(0, $0)) } ?? -1), .integer(Int64(query.start))] : []
      values = writer.values + rangeValues
    }

    func bind(to statement: SQLiteStatement) throws {
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    }
  }

  /// Writes conditions as SQL, and collects the values to be bound.
  private struct SQLiteConditionWriter {
    private(set) var values: [StoredValue] = []
    private let table: SQLiteTable
    private let isOrderedByKey: Bool

    init(_ table: SQLiteTable, isOrderedByKey: Bool) {
      self.table = table
      self.isOrderedByKey = isOrderedByKey
    }

    func name(_ column: StoredColumn) -> String {
      switch column {
      case .key: "\"id\""
      case .position(let position): SQLiteTable.resultColumn(table.entity, at: position, table.keepsExactID)
      }
    }

    private func mayBeNull(_ column: StoredColumn) -> Bool {
      switch column {
      case .key: false
      case .position(let position): table.entity.columns[position].isOptional
      }
    }

    private mutating func bind(_ value: StoredValue) -> String {
      values.append(value)
      return "?"
    }

    /// True or false, never `NULL`, so that it can be negated.
    mutating func sql(_ condition: StoredCondition) -> String {
      switch condition {
      case .always(let isTrue): return isTrue ? "1" : "0"
      case .isEqual(let column, let value):
        return "\(name(column)) IS \(bind(value))"
      case .isIn(let column, let wanted):
        let present = wanted.filter { !$0.isNull }.sorted(by: StoredValue.precedes).map { bind($0) }
        let isIn = "\(name(column)) IN (\(present.joined(separator: ", ")))"
        if !mayBeNull(column) { return isIn }
        return wanted.contains(.null)
          ? "(\(name(column)) IS NULL OR \(isIn))" : "(\(name(column)) IS NOT NULL AND \(isIn))"
      case .compares(let column, let comparison, let value):
        let other = StoredRanges([condition]).missingEnd(of: column, table, isOrderedByKey)
        let compares = compares(column, comparison, value)
        return other.map { "(\(compares) AND \(self.compares(column, $0.comparison, $0.value)))" } ?? compares
      case .areEqual(let a, let b): return "\(name(a)) IS \(name(b))"
      case .areOrdered(let a, let comparison, let b):
        return "COALESCE(\(name(a)) \(comparison.rawValue) \(name(b)), 0)"
      case .not(let condition): return "NOT (\(sql(condition)))"
      case .all: return conjunction(condition.conjuncts)
      case .any(let conditions): return joined(conditions, "OR", empty: "0")
      }
    }

    /// - Parameter isSearched: whether an index may be searched for it.
    private mutating func compares(
      _ column: StoredColumn, _ comparison: StoredComparisonOperator, _ value: StoredValue, isSearched: Bool = true
    ) -> String {
      // With `+`, SQLite takes it for an expression.
      let compares = "\(isSearched ? "" : "+")\(name(column)) \(comparison.rawValue) \(bind(value))"
      return mayBeNull(column) ? "(\(name(column)) IS NOT NULL AND \(compares))" : compares
    }

    private mutating func conjunction(_ conditions: [StoredCondition]) -> String {
      if conditions.isEmpty { return "1" }
      let ranges = StoredRanges(conditions)
      var parts: [String] = []
      for (index, condition) in conditions.enumerated() {
        if case .compares(let column, let comparison, let value) = condition {
          parts.append(compares(column, comparison, value, isSearched: ranges.isEnd(index)))
        } else {
          parts.append(sql(condition))
        }
      }
      for column in ranges.columns {
        guard let other = ranges.missingEnd(of: column, table, isOrderedByKey) else { continue }
        parts.append(compares(column, other.comparison, other.value))
      }
      return "(\(parts.joined(separator: " AND ")))"
    }

    private mutating func joined(_ conditions: [StoredCondition], _ operation: String, empty: String) -> String {
      if conditions.isEmpty { return empty }
      var parts: [String] = []
      for condition in conditions { parts.append(sql(condition)) }
      return "(\(parts.joined(separator: " \(operation) ")))"
    }
  }
#endif
