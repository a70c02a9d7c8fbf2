#if Tool
  import ConcordPersistence
  import GRDB

  /// Writes imported rows to a file.
  final class SQLiteTarget: RowTarget {
    private let db: Database
    private let schema: SourceSchema
    private let replaces: Bool
    private var targets: [String: Target] = [:]

    private struct Target {
      let insert: RowStatement
      /// The statements that remove the elements of the entity's collections.
      let clear: [RowStatement]
      /// The position of the key.
      let key: Int?
    }

    init(_ db: Database, _ schema: SourceSchema, replaces: Bool) {
      (self.db, self.schema, self.replaces) = (db, schema, replaces)
    }

    func write(_ row: [Cell], into table: SourceTable, line: Int) throws {
      let target = try target(table)
      if let key = target.key {
        for statement in target.clear {
          try row[key].bind(to: statement, at: 1)
          try step(statement)
        }
      }
      for (index, cell) in row.enumerated() { try cell.bind(to: target.insert, at: Int32(index + 1)) }
      try step(target.insert)
    }

    private func step(_ statement: RowStatement) throws {
      defer { statement.reset() }
      try ToolError.translating("the file") { _ = try statement.step() }
    }

    private func target(_ table: SourceTable) throws -> Target {
      if let known = targets[table.name] { return known }
      let names = table.columns.map(\.sql)
      var sql = """
        INSERT INTO \(table.sql) (\(names.joined(separator: ", "))) \
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        """
      if replaces {
        let changed = table.columns.filter { !$0.isKey }.map { "\($0.sql) = excluded.\($0.sql)" }
        sql +=
          " ON CONFLICT (\(table.keys.map(\.sql).joined(separator: ", "))) DO UPDATE SET \(changed.joined(separator: ", "))"
      }
      let cleared = replaces && table.isEntity ? schema.collections(of: table.name) : []
      let target = Target(
        insert: RowStatement(try db.makeStatement(sql: sql)),
        clear: try cleared.map {
          RowStatement(try db.makeStatement(sql: "DELETE FROM \($0.sql) WHERE \"_owner\" = ?"))
        }, key: table.columns.firstIndex { $0.name == "id" })
      targets[table.name] = target
      return target
    }
  }
#endif
