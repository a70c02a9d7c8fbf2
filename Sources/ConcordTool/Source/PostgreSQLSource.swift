#if Tool && PostgreSQL
  import ConcordPersistence
  import ConcordPostgreSQL
  import GRDB

  /// A PostgreSQL database, as a command sees it within a transaction.
  final class PostgreSQLSource: ToolSource {
    let schema: SourceSchema
    private let inspection: PostgreSQLInspection
    private let tables: [String: InspectedTable]

    /// Connects, passes the database to `body`, and closes the connection.
    static func with<R>(_ options: SourceOptions, writes: Bool, _ body: (PostgreSQLSource) throws -> R) throws -> R {
      try ToolError.translatingServer(writes: writes) {
        try Interruption.check()
        let link = try PostgreSQLInspection.connect(
          options.file, schema: options.server.schema, wait: options.wait, timeout: options.server.timeout)
        let cancellation = link.cancellation
        return try Interruption.interrupting({ cancellation?.cancel() }) {
          try body(PostgreSQLSource(PostgreSQLInspection(link, writes: writes)))
        }
      }
    }

    private init(_ inspection: PostgreSQLInspection) {
      self.inspection = inspection
      tables = Dictionary(inspection.tables.map { ($0.name, $0) }) { first, _ in first }
      schema = SourceSchema(
        tables: inspection.tables.map { table in
          SourceTable(
            name: table.name, entity: table.entity, sql: table.sql,
            columns: table.columns.map { column in
              SourceColumn(
                name: column.name, sql: column.sql, type: column.type, storageClass: column.storageClass,
                isRequired: column.isRequired, isKey: column.isKey, target: column.target,
                index: column.isUnique ? .unique : column.isIndexed ? .indexed : nil)
            })
        }, otherTables: inspection.otherTables, triggers: inspection.otherTriggers, knowsRelations: true)
    }

    var name: String { "postgresql://\(inspection.place)" }

    /// The SQL that makes the tables elsewhere.
    func script(for role: String?) throws -> String { try inspection.script(for: role) }

    private func inspected(_ table: SourceTable) throws -> InspectedTable {
      guard let table = tables[table.name] else { throw ToolError(.failed, "there is no table \(table.name)") }
      return table
    }

    // MARK: Sizes

    func sizes() throws -> String {
      size(Int64(try inspection.tables.reduce(0) { try $0 + inspection.size(of: $1) }))
    }

    func room(of table: SourceTable) throws -> Int64? { Int64(try inspection.size(of: inspected(table))) }

    func count(_ table: SourceTable) throws -> Int { try inspection.count(inspected(table)) }

    // MARK: Rows

    func rows(_ selection: RowSelection, of table: SourceTable, _ body: ([Cell]) throws -> Void) throws {
      let statement = try inspection.statement(selection, of: inspected(table))
      if statement.isWhole {
        return try inspection.rows(statement) { values in
          try Interruption.check()
          try body(values.map { .value($0) })
        }
      }
      // What the server compares otherwise than SQLite is compared by SQLite, in a file that goes when it is closed.
      let queue = try DatabaseQueue(path: "")
      try queue.inDatabase { db in
        let columns = table.columns.map { "\(quoted($0.name)) \($0.storageClass)" }
        try db.execute(sql: "CREATE TABLE \(quoted(table.name)) (\(columns.joined(separator: ", ")))")
        try db.inTransaction {
          let places = columns.map { _ in "?" }.joined(separator: ", ")
          let insert = RowStatement(try db.makeStatement(sql: "INSERT INTO \(quoted(table.name)) VALUES (\(places))"))
          try inspection.rows(statement) { values in
            try Interruption.check()
            for (index, value) in values.enumerated() { try insert.bind(value, at: Int32(index + 1)) }
            _ = try insert.step()
            insert.reset()
          }
          return .commit
        }
        try SQLiteSelection(selection, of: table).rows(db, body)
      }
    }

    func explain(_ selection: RowSelection, of table: SourceTable) throws -> [String] {
      let statement = try inspection.statement(selection, of: inspected(table))
      let lines = try [statement.sql] + inspection.plan(statement) + inspection.queryPlan(statement).lines
      return statement.isWhole
        ? lines : lines + ["of these rows, here: \(SQLiteSelection(selection, of: table).sql)"]
    }

    func importRows(replaces: Bool, commits: Bool, _ body: (any RowTarget) throws -> Void) throws {
      let target = Target(self, InspectionImport(inspection, replaces: replaces))
      try body(target)
      try Interruption.check()
      try ToolError.translatingServer(writes: true) { try target.rows.finish(commits: commits) }
    }

    private final class Target: RowTarget {
      let source: PostgreSQLSource
      let rows: InspectionImport

      init(_ source: PostgreSQLSource, _ rows: InspectionImport) { (self.source, self.rows) = (source, rows) }

      func write(_ row: [Cell], into table: SourceTable, line: Int) throws {
        let values = try zip(row, table.columns).map { cell, column in
          guard case .value(let value) = cell else {
            throw ToolError(
              .wrongInput, "\(table.name).\(column.name): the server keeps no text that is not valid UTF-8")
          }
          return value
        }
        try ToolError.translatingServer(writes: true) {
          try rows.add(values, to: source.inspected(table), line: line)
        }
      }
    }

    // MARK: Checks

    /// The server checks its pages itself.
    func damage() throws -> [String] { [] }

    func differences(of table: SourceTable) throws -> [String] { try inspected(table).differences }

    func findings(_ sql: String, _ columns: [SourceColumn], examples: Int) throws -> Findings {
      var found = Findings(count: try inspection.number("SELECT count(*) FROM (\(sql)) AS found"))
      if found.count == 0 || examples == 0 { return found }
      let read = columns.compactMap { column in
        tables.values.lazy.flatMap(\.columns).first {
          $0.sql == column.sql && $0.type == column.type && $0.storageClass == column.storageClass
        }
      }
      try inspection.rows("\(sql) ORDER BY 1 LIMIT \(examples)", read) { found.examples.append($0.map { .value($0) }) }
      return found
    }

    func words(of table: SourceTable, examples: Int) throws -> WordInspection? {
      try inspection.words(of: inspected(table), examples: examples)
    }

    func outbox() throws -> SourceOutbox? {
      let (pending, refused) = try inspection.outbox()
      return SourceOutbox(pending: pending, refused: refused)
    }

    func strangeActions(examples: Int) throws -> (unreadable: Findings, unknown: Findings) {
      let (unreadable, unknown) = try inspection.strangeActions()
      func findings(_ actions: [(String, String)]) -> Findings {
        Findings(
          count: actions.count,
          examples: actions.prefix(examples).map { [.value(.text($0.0)), .value(.text($0.1))] })
      }
      return (findings(unreadable), findings(unknown))
    }
  }

  extension ToolError {
    /// Runs a closure, and translates what the server says.
    static func translatingServer<R>(writes: Bool, _ body: () throws -> R) throws -> R {
      do { return try ToolError.translating("the database", body) } catch let error as InspectionError {
        // libpq tells of each host in lines of its own.
        let lines = error.message.split(whereSeparator: \.isNewline)
        let message = lines.map { $0.drop(while: \.isWhitespace) }.joined(separator: " ")
        let status: ExitStatus =
          switch error.kind {
          case .unreachable: .missing
          case .notConcord: .notConcord
          case .forbidden: writes ? .readOnly : .missing
          case .wrongRow: .wrongInput
          case .locked: .locked
          case .ended: Interruption.code == nil ? .locked : .interrupted
          case .diskFull: .notWritten
          case .failed: .failed
          }
        var translated = ToolError(status, message)
        translated.line = error.line
        throw translated
      }
    }
  }
#endif
