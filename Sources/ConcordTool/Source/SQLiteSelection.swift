#if Tool
  import ConcordModel
  import ConcordPersistence
  import GRDB

  /// A selection as a statement of SQLite. Values are bound, never part of the text.
  struct SQLiteSelection {
    let sql: String
    private let values: [StoredValue]
    private let columns: Int

    init(_ selection: RowSelection, of table: SourceTable) {
      var writer = ConditionWriter(table: table)
      let condition = selection.condition.map { writer.sql($0) }
      let order = selection.order.map { "\(quoted(table.columns[$0.column].name))\($0.isDescending ? " DESC" : "")" }
      sql = """
        SELECT \(selection.columns.map { quoted(table.columns[$0].name) }.joined(separator: ", ")) \
        FROM \(quoted(table.name)) \(condition.map { "WHERE \($0) " } ?? "")ORDER BY \(order.joined(separator: ", ")) \
        LIMIT ? OFFSET ?
        """
      values = writer.values + [.integer(selection.limit ?? -1), .integer(selection.offset)]
      columns = selection.columns.count
    }

    func rows(_ db: Database, _ body: ([Cell]) throws -> Void) throws {
      let columns = columns
      try run(sql, db) { statement in try body((0..<columns).map { Cell(statement, at: Int32($0)) }) }
    }

    func plan(_ db: Database) throws -> [String] {
      var lines: [String] = []
      try run("EXPLAIN QUERY PLAN \(sql)", db) { lines.append(Cell($0, at: 3).description) }
      return lines
    }

    private func run(_ sql: String, _ db: Database, _ body: (RowStatement) throws -> Void) throws {
      let statement = RowStatement(try db.makeStatement(sql: sql))
      defer { statement.reset() }
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
      while try statement.step() { try body(statement) }
    }
  }

  private struct ConditionWriter {
    let table: SourceTable
    private(set) var values: [StoredValue] = []

    init(table: SourceTable) { self.table = table }

    private func name(_ column: Int) -> String { quoted(table.columns[column].name) }

    private mutating func bound(_ value: StoredValue) -> String {
      values.append(value)
      return "?"
    }

    /// Writes a condition. It is true or false, never `NULL`, so that it can be negated.
    mutating func sql(_ condition: RowCondition) -> String {
      switch condition {
      case .isNull(let column): return "(\(name(column)) IS NULL)"
      case .compare(let column, .equal, let value): return "(\(name(column)) IS \(bound(value)))"
      case .compare(let column, .notEqual, let value): return "(\(name(column)) IS NOT \(bound(value)))"
      case .compare(let column, let comparison, let value):
        return "(COALESCE(\(name(column)) \(comparison.rawValue) \(bound(value)), 0))"
      case .match(let column, .contains, let value): return "(COALESCE(instr(\(name(column)), \(bound(value))), 0) > 0)"
      case .match(let column, .startsWith, let value):
        return "(COALESCE(instr(\(name(column)), \(bound(value))), 0) = 1)"
      case .match(let column, .endsWith, let value): return ending(name(column), value)
      case .not(let inner): return "NOT \(sql(inner))"
      case .all(let parts): return "(\(parts.map { sql($0) }.joined(separator: " AND ")))"
      case .any(let parts): return "(\(parts.map { sql($0) }.joined(separator: " OR ")))"
      }
    }

    /// Writes a comparison of a text's end, by bytes, because SQLite's text functions stop at a NUL.
    private mutating func ending(_ column: String, _ value: StoredValue) -> String {
      if value == .text("") { return "(\(column) IS NOT NULL)" }
      let (length, end) = (bound(value), bound(value))
      return """
        (COALESCE(substr(CAST(\(column) AS BLOB), -max(1, length(CAST(\(length) AS BLOB)))) = CAST(\(end) AS BLOB), 0))
        """
    }
  }
#endif
