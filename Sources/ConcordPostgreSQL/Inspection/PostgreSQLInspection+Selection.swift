#if PostgreSQL
  package import ConcordModel
  package import ConcordPersistence

  extension PostgreSQLInspection {
    /// The statement for a selection.
    package struct Statement {
      package let sql: String
      /// Whether its rows are those that were asked for. Otherwise they are all columns of more rows, in no order, of which the program makes the
      /// selection.
      package let isWhole: Bool
      let parameters: PostgreSQLParameters
      let columns: [InspectedTable.Column]
    }

    /// Translates a selection, as far as the server compares as SQLite does.
    package func statement(_ selection: RowSelection, of table: InspectedTable) -> Statement {
      var writer = SelectionWriter(table: table)
      let parts = Self.parts(selection.condition)
      let conditions = parts.map { writer.translate($0) }
      let order = selection.order.map { writer.order($0.column, $0.isDescending) }
      let isWhole = conditions.allSatisfy { $0 != nil } && order.allSatisfy { $0 != nil }
      let columns = isWhole ? selection.columns.map { table.columns[$0] } : table.columns
      var sql = "SELECT \(columns.map(\.sql).joined(separator: ", ")) FROM \(table.sql)"
      let known = conditions.compactMap { $0 }
      if !known.isEmpty { sql += " WHERE \(known.joined(separator: " AND "))" }
      if isWhole {
        sql += " ORDER BY \(order.compactMap { $0 }.joined(separator: ", "))"
        if let limit = selection.limit { sql += " LIMIT \(limit)" }
        if selection.offset > 0 { sql += " OFFSET \(selection.offset)" }
      }
      return Statement(sql: sql, isWhole: isWhole, parameters: writer.parameters, columns: columns)
    }

    package func rows(_ statement: Statement, _ body: ([StoredValue]) throws -> Void) throws {
      let columns = statement.columns
      try rows(
        statement.sql, statement.parameters, columns.map(\.form), isStamp: columns.map { $0.name == "_stamp" }, body)
    }

    /// Returns the server's plan of a statement.
    package func plan(_ statement: Statement) throws -> [String] {
      try InspectionError.translating {
        let result = try connection.run([.once("EXPLAIN \(statement.sql)", statement.parameters)])[0]
        return (0..<result.count).map { result.text($0, 0) }
      }
    }

    /// Returns how the server finds the rows of a statement.
    package func queryPlan(_ statement: Statement) throws -> QueryPlan {
      try InspectionError.translating {
        let result = try connection.run([.once("EXPLAIN (FORMAT JSON) \(statement.sql)", statement.parameters)])[0]
        return QueryPlan(postgreSQL: result.count > 0 ? result.text(0, 0) : "")
      }
    }

    /// The conditions that are all to be met.
    private static func parts(_ condition: RowCondition?) -> [RowCondition] {
      guard let condition else { return [] }
      guard case .all(let parts) = condition else { return [condition] }
      return parts.flatMap { Self.parts($0) }
    }
  }

  /// Writes conditions and orders, where the server's comparison is that of SQLite.
  private struct SelectionWriter {
    let table: InspectedTable
    private(set) var parameters = PostgreSQLParameters()

    init(table: InspectedTable) { self.table = table }

    /// A part of a condition that stands alone; `nil` if it cannot be translated.
    mutating func translate(_ condition: RowCondition) -> String? {
      let before = parameters
      if let sql = sql(condition, isNegated: false) { return sql }
      parameters = before
      return nil
    }

    /// - Parameter isNegated: whether `NULL` would not be as good as false.
    private mutating func sql(_ condition: RowCondition, isNegated: Bool) -> String? {
      switch condition {
      case .isNull(let column): return "\(table.columns[column].sql) IS NULL"
      case .compare(let column, let comparison, let value):
        return compare(table.columns[column], comparison, value).map { isNegated ? "(\($0)) IS TRUE" : $0 }
      case .match(let column, let match, let value):
        return self.match(table.columns[column], match, value).map { isNegated ? "(\($0)) IS TRUE" : $0 }
      case .not(let inner): return sql(inner, isNegated: true).map { "NOT (\($0))" }
      case .all(let parts): return joined(parts, " AND ", isNegated)
      case .any(let parts): return joined(parts, " OR ", isNegated)
      }
    }

    private mutating func joined(_ parts: [RowCondition], _ operation: String, _ isNegated: Bool) -> String? {
      var found: [String] = []
      for part in parts {
        guard let sql = sql(part, isNegated: isNegated) else { return nil }
        found.append("(\(sql))")
      }
      return "(\(found.joined(separator: operation)))"
    }

    private mutating func compare(
      _ column: InspectedTable.Column, _ comparison: RowCondition.Comparison, _ value: StoredValue
    ) -> String? {
      if value.isNull {
        switch comparison {
        case .equal: return "\(column.sql) IS NULL"
        case .notEqual: return "\(column.sql) IS NOT NULL"
        default: return "false"
        }
      }
      let sign = comparison == .notEqual ? "IS DISTINCT FROM" : comparison.rawValue
      switch (column.form, value) {
      case (.integer, .integer(let number)), (.unsigned, .integer(let number)):
        return "\(column.sql) \(sign) \(bind { $0.append(number) })"
      case (.boolean, .integer(let number)):
        return "\(column.sql)::integer::bigint \(sign) \(bind { $0.append(number) })"
      case (.real, .real(let number)), (.float, .real(let number)):
        // It stands in indexes, and puts NaN and -0.0 behind all numbers.
        return "(\(PostgreSQLOrder.real(column.sql))) \(sign) \(bind { $0.append(number + 0) })"
      case (.real, .integer(let whole)), (.float, .integer(let whole)):
        guard let number = Double(exactly: whole) else { return nil }
        return "(\(PostgreSQLOrder.real(column.sql))) \(sign) \(bind { $0.append(number) })"
      case (.text, .text(let text)):
        return "\(column.sql) \(sign) \(bind { $0.append(PostgreSQLText.encode(text)) })"
      case (.uuid, .text(let text)):
        return "upper(\(column.sql)::text) COLLATE \"C\" \(sign) \(bind { $0.append(PostgreSQLText.encode(text)) })"
      case (.bytes, .blob(let bytes)): return "\(column.sql) \(sign) \(bind { $0.append(bytes) })"
      default: return nil
      }
    }

    private mutating func match(
      _ column: InspectedTable.Column, _ match: RowCondition.Match, _ value: StoredValue
    ) -> String? {
      guard column.form == .text, case .text(let text) = value else { return nil }
      let encoded = PostgreSQLText.encode(text)
      if match == .startsWith { return "starts_with(\(column.sql), \(bind { $0.append(encoded) }))" }
      // Within a text, these may be a part of what stands for another character.
      guard !text.unicodeScalars.contains(where: { $0.value <= 2 }) else { return nil }
      if match == .contains { return "strpos(\(column.sql), \(bind { $0.append(encoded) })) > 0" }
      let parameter = bind { $0.append(encoded) }
      return "right(\(column.sql), char_length(\(parameter))) = \(parameter)"
    }

    private mutating func bind(_ append: (inout PostgreSQLParameters) -> Void) -> String {
      append(&parameters)
      return "$\(parameters.count)"
    }

    /// The order by a column, `NULL` before all values; `nil` if it cannot be translated.
    func order(_ position: Int, _ isDescending: Bool) -> String? {
      let column = table.columns[position]
      let direction = isDescending ? " DESC" : ""
      let nulls = column.isRequired ? "" : isDescending ? " NULLS LAST" : " NULLS FIRST"
      switch column.form {
      case .any: return nil
      case .real, .float:
        return """
          (\(PostgreSQLOrder.real(column.sql)))\(direction)\(nulls), (\(PostgreSQLOrder.bits(column.sql)))\(direction)
          """
      default: return "\(column.sql)\(direction)\(nulls)"
      }
    }
  }
#endif
