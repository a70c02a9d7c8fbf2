#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  /// A computation over rows, as statements: one for all but the sums of numbers with a fraction, and one for each of these.
  struct PostgreSQLAggregation {
    let statements: [PostgreSQLConnection.Command]
    /// The rows with texts that are not plain, which are looked at in memory; `nil` if the server treats all rows alike.
    let others: String?
    private let aggregation: RowAggregation
    private let table: PostgreSQLTable

    /// - Returns: `nil` if the server cannot compute it.
    init?(
      _ aggregation: RowAggregation, _ table: PostgreSQLTable, tables: @escaping (EntityDescription) -> PostgreSQLTable?
    ) {
      // Whose order is asked for has to be plain.
      var query = aggregation.rows
      for position in aggregation.measures.compactMap({ $0.extreme?.position })
      where aggregation.entity.columns[position].comparison == .text {
        query.order.append(StoredOrder(.position(position), collation: .lexical))
      }
      let sql = PostgreSQLQuery(query, table, tables: tables)
      guard sql.isExact, let columns = Self.columns(aggregation, table),
        aggregation.group.map({ table.forms[$0] != .any }) ?? true
      else { return nil }
      self.aggregation = aggregation
      self.table = table
      others = sql.others
      let group = aggregation.group.map { Self.name($0, table) }
      let rows = "FROM \(identifier(aggregation.entity.name)) AS t\(sql.filter)"
      var statements = [
        PostgreSQLConnection.Command(
          sql: """
            SELECT \(([group ?? "NULL"] + columns).joined(separator: ", ")) \(rows)\(group.map { " GROUP BY \($0)" } ?? "")
            """, parameters: sql.parameters)
      ]
      for case .reals(let position) in aggregation.measures {
        statements.append(
          .init(sql: Self.sums(of: Self.name(position, table), by: group ?? "NULL", rows), parameters: sql.parameters))
      }
      self.statements = statements
    }

    private static func name(_ position: Int, _ table: PostgreSQLTable) -> String {
      PostgreSQLTable.resultColumn(table.entity, at: position, table.keepsExactID, of: "t.")
    }

    private static func columns(_ aggregation: RowAggregation, _ table: PostgreSQLTable) -> [String]? {
      var columns: [String] = []
      for measure in aggregation.measures {
        switch measure {
        case .count: columns.append("count(*)")
        case .integers(let position, let bounds):
          guard table.forms[position] == .integer else { return nil }
          let name = name(position, table)
          // Two halves, neither of which overflows; and the number of values that are out of bounds.
          columns += [
            "count(\(name))", "sum(\(name) >> 32)::bigint", "sum(\(name) & 4294967295)::bigint",
            "count(*) FILTER (WHERE \(name) < '\(bounds.lowerBound)'::bigint OR \(name) > '\(bounds.upperBound)'::bigint)",
          ]
        case .reals(let position):
          guard table.forms[position].type == .double else { return nil }
        case .least(let position), .greatest(let position):
          let name = name(position, table)
          let function = measure.extreme?.isLeast == true ? "min" : "max"
          switch table.forms[position] {
          case .integer, .text: columns.append("\(function)(\(name))")
          case .real, .float: columns.append("\(function)(NULLIF(\(name), 'NaN'::double precision))")
          default: return nil
          }
        }
      }
      return columns
    }

    /// A statement that adds the significands of the numbers with the same sign and exponent, so that nothing is rounded.
    private static func sums(of column: String, by group: String, _ rows: String) -> String {
      """
      SELECT g, e, count(*), sum(m >> 26)::bigint, sum(m & 67108863)::bigint FROM (\
      SELECT g, (b >> 52) & 4095 AS e, b & 4503599627370495 AS m FROM (\
      SELECT \(group) AS g, ('x' || encode(float8send(\(column)), 'hex'))::bit(64)::bigint AS b \
      \(rows)) AS bits WHERE b IS NOT NULL) AS parts GROUP BY g, e
      """
    }

    // MARK: Results

    /// Adds what the server has computed; `false` if there are values that are none of their type.
    func add(_ results: [PostgreSQLResult], to groups: inout RowGroups) -> Bool {
      for row in 0..<results[0].count {
        guard let values = read(results[0], row) else { return false }
        groups.merge(values, for: group(results[0], row))
      }
      var next = 1
      for (index, measure) in aggregation.measures.enumerated() {
        guard case .reals = measure else { continue }
        add(results[next], of: index, to: &groups)
        next += 1
      }
      return true
    }

    private func group(_ result: PostgreSQLResult, _ row: Int) -> StoredValue {
      guard let group = aggregation.group, !result.isNull(row, 0) else { return .null }
      return table.forms[group].read(result, row, 0)
    }

    private func read(_ result: PostgreSQLResult, _ row: Int) -> [MeasuredValue]? {
      var next = 1
      func integer() -> Int64 {
        defer { next += 1 }
        return result.isNull(row, next) ? 0 : result.integer(row, next)
      }
      var values: [MeasuredValue] = []
      for measure in aggregation.measures {
        switch measure {
        case .count: values.append(.count(Int(integer())))
        case .integers:
          let (count, high, low, others) = (integer(), integer(), integer(), integer())
          if others > 0 { return nil }
          values.append(.integers(sum: Int128(high) << 32 + Int128(low), count: Int(count)))
        case .reals: values.append(MeasuredValue(measure))
        case .least(let position), .greatest(let position):
          values.append(.extreme(result.isNull(row, next) ? .null : table.forms[position].read(result, row, next)))
          next += 1
        }
      }
      return values
    }

    private func add(_ result: PostgreSQLResult, of index: Int, to groups: inout RowGroups) {
      var values = aggregation.measures.map { MeasuredValue($0) }
      for row in 0..<result.count {
        var sum = ExactSum()
        let exponent = Int(result.integer(row, 1))
        let count = Int(result.integer(row, 2))
        sum.add(
          significands: UInt128(result.integer(row, 3)) << 26 + UInt128(result.integer(row, 4)), count: count,
          exponent: exponent & 0x7FF, isNegative: exponent > 0x7FF)
        values[index] = .reals(sum, count: count)
        groups.merge(values, for: group(result, row))
      }
    }
  }
#endif
