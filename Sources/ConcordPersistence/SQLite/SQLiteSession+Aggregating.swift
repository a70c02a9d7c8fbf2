#if Persistence
  import ConcordModel
  import GRDB

  extension SQLiteSession: AggregatingReading {
    func mayHaveIndexes(_ entity: EntityDescription) -> Bool { true }

    func aggregate(_ aggregation: RowAggregation) throws -> RowGroups? {
      let query = try simplified(aggregation.rows)
      let table = try table(query.entity)
      let sql = SQLiteAggregation(aggregation)
      var groups = RowGroups(aggregation)
      for part in try parts(of: query) {
        let select = try SQLiteQuery(query, table, part)
        let statement = try db.reusableStatement(sql.statement(select))
        defer { statement.reset() }
        try select.bind(to: statement)
        while try statement.step() {
          guard let (group, values) = sql.read(statement) else { return nil }
          groups.merge(values, for: group)
        }
      }
      return groups
    }

    func explain(_ aggregation: RowAggregation) throws -> (steps: [String], plan: QueryPlan)? {
      let plans = try plans(of: aggregation.rows) { SQLiteAggregation(aggregation).statement($0) }
      return (
        plans.flatMap { [$0.statement] + $0.lines },
        plans.reduce(into: QueryPlan()) { $0.add(QueryPlan(sqlite: $1.lines, of: $1.statement).ofAllRows) }
      )
    }
  }

  /// The measures that are computed of rows, as the columns of a statement.
  private struct SQLiteAggregation {
    private let aggregation: RowAggregation
    private let columns: [String]
    private let group: String?

    init(_ aggregation: RowAggregation) {
      self.aggregation = aggregation
      func name(_ position: Int) -> String {
        SQLiteTable.resultColumn(aggregation.entity, at: position, SQLiteTable.keepsExactID(aggregation.entity))
      }
      group = aggregation.group.map(name)
      columns = aggregation.measures.flatMap { measure -> [String] in
        switch measure {
        case .count: return ["COUNT(*)"]
        case .integers(let position, let bounds):
          // Two halves, neither of which overflows; and the number of values that are none.
          let name = name(position)
          return [
            "COUNT(\(name))", "SUM(\(name) >> 32)", "SUM(\(name) & 4294967295)",
            """
            SUM(typeof(\(name)) NOT IN ('integer', 'null') \
            OR \(name) NOT BETWEEN \(Self.literal(bounds.lowerBound)) AND \(Self.literal(bounds.upperBound)))
            """,
          ]
        case .reals(let position): return ["COUNT(\(name(position)))", "\(SQLiteExactSum.name)(\(name(position)))"]
        case .least(let position):
          return ["MIN(\(Self.compared(name(position), aggregation.entity.columns[position])))"]
        case .greatest(let position):
          return ["MAX(\(Self.compared(name(position), aggregation.entity.columns[position])))"]
        }
      }
    }

    /// SQLite reads the least number without its sign, as one with a fraction.
    private static func literal(_ number: Int64) -> String { number == .min ? "(-\(Int64.max) - 1)" : "\(number)" }

    /// A column as its values are compared. The bits of NaN do not count, those of -0.0 are 0.
    private static func compared(_ name: String, _ column: ColumnDescription) -> String {
      if column.comparison == .text { return "\(name) COLLATE \(SQLiteFunctions.lexical)" }
      guard column.isReal else { return name }
      return """
        CASE typeof(\(name)) WHEN 'blob' THEN CASE WHEN \(name) IN (x'8000000000000000', x'80000000') THEN 0.0 END \
        ELSE \(name) END
        """
    }

    func statement(_ select: SQLiteQuery) -> String {
      """
      SELECT \(([group ?? "NULL"] + columns).joined(separator: ", ")) \(select.from)\(group.map { " GROUP BY \($0)" } ?? "")
      """
    }

    /// Reads the group and what was measured of it; `nil` if there are values of another kind than the column's.
    func read(_ statement: SQLiteStatement) -> (group: StoredValue, values: [MeasuredValue])? {
      var next: Int32 = 1
      func take() -> StoredValue {
        defer { next += 1 }
        return statement.value(at: next)
      }
      func integer() -> Int64 { if case .integer(let value) = take() { value } else { 0 } }
      var values: [MeasuredValue] = []
      for measure in aggregation.measures {
        switch measure {
        case .count: values.append(.count(Int(integer())))
        case .integers:
          let (count, high, low, others) = (integer(), integer(), integer(), integer())
          if others > 0 { return nil }
          values.append(.integers(sum: Int128(high) << 32 + Int128(low), count: Int(count)))
        case .reals:
          let count = integer()
          guard let sum = SQLiteExactSum.read(take()) else { return nil }
          values.append(.reals(sum, count: Int(count)))
        case .least, .greatest: values.append(.extreme(take()))
        }
      }
      return (statement.value(at: 0), values)
    }
  }
#endif
