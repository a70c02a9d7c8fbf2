#if PostgreSQL
  package import ConcordModel
  import ConcordPersistence
  import Foundation

  /// A database as a program without the model sees it: one committed state, or one transaction that writes.
  package final class PostgreSQLInspection {
    /// The place of the database, for people: host, port and name.
    package let place: String
    package let tables: [InspectedTable]
    /// Tables of the schema that are not Concord's.
    package let otherTables: [String]
    /// Triggers of the schema that are not Concord's.
    package let otherTriggers: [String]
    let schema: String
    let present: PostgreSQLSchema.Present
    let session: PostgreSQLSession
    let options: PostgreSQLOptions
    var connection: PostgreSQLConnection { session.connection }

    /// A connection whose statements can be cancelled.
    package struct Link {
      package let cancellation: PostgreSQLCancellation?
      let connection: PostgreSQLConnection
      let options: PostgreSQLOptions
      let wait: Double
    }

    /// Connects.
    ///
    /// - Parameters:
    ///   - wait: The time to wait for the server, and for locks, in seconds.
    ///   - timeout: The time that one statement may take, in seconds.
    /// - Throws: ``InspectionError``.
    package static func connect(_ url: String, schema: String, wait: Double, timeout: Double) throws -> Link {
      var options = PostgreSQLOptions(connection: url, schema: schema)
      options.timeout = max(1, wait)
      options.statementTimeout = timeout
      let connection = try InspectionError.translating { try PostgreSQLConnection(options) }
      return Link(cancellation: connection.cancellation, connection: connection, options: options, wait: wait)
    }

    /// Begins a transaction, and reads what is noted of the tables.
    ///
    /// - Throws: ``InspectionError``.
    package init(_ link: Link, writes: Bool) throws {
      let (connection, schema) = (link.connection, link.options.schema)
      (self.schema, options) = (schema, link.options)
      place = "\(connection.place)/\(connection.database)"
      session = PostgreSQLSession(connection, tables: [:], store: schema)
      (present, tables, otherTables, otherTriggers) = try InspectionError.translating {
        try connection.run([
          .once("SET lock_timeout TO \(max(1, Int(link.wait * 1000)))"),
          .once("BEGIN ISOLATION LEVEL \(writes ? "SERIALIZABLE" : "REPEATABLE READ, READ ONLY")"),
        ])
        let wanted = PostgreSQLSchema(
          entities: [], migrations: [], store: schema, name: schema, migrates: false, version: 0,
          areTogether: { _, _ in true })
        let present = try wanted.present(connection)
        guard present.tables["concord_tables"] != nil else {
          throw InspectionError(.notConcord, "the schema \(schema) has no tables of Concord's")
        }
        let notes = present.noted.compactMap { present.notes[$0] }.filter {
          present.tables[storedName($0.table)] != nil
        }
        let entities = notes.filter { $0.table == $0.entity }
        let tables = entities.flatMap { entity in
          ([entity] + notes.filter { $0.entity == entity.table && $0.table != entity.table }).map { note in
            InspectedTable(note, present, present.disabledTriggers[storedName(note.table)] ?? [])
          }
        }
        let known = Set(tables.map { storedName($0.name) })
        let others = present.tables.keys.filter { !known.contains($0) && !$0.hasPrefix("concord_") }
        let own = Set(
          HistoryTables.operations.flatMap { [FeedTables.trigger($0), HistoryTables.trigger($0)] } + ["concord_outbox"])
        let triggers = present.triggers.values.reduce(into: Set()) { $0.formUnion($1) }.subtracting(own).filter {
          !$0.hasPrefix("\(PostgreSQLSearchIndex.mark)_")
        }
        return (present, tables, others.sorted(), triggers.sorted())
      }
    }

    // MARK: Reading

    /// The number of bytes that a table takes on the disk, with its indexes.
    package func size(of table: InspectedTable) throws -> Int {
      try number("SELECT pg_total_relation_size(\(literal(table.sql))::regclass)")
    }

    package func count(_ table: InspectedTable) throws -> Int {
      try number("SELECT count(*) FROM \(table.sql)")
    }

    /// The number that a statement gives.
    package func number(_ sql: String) throws -> Int {
      try InspectionError.translating { Int(try connection.run([.once(sql)])[0].integer(0, 0)) }
    }

    /// Runs a statement, and reads columns of tables from its rows, as they are needed.
    package func rows(
      _ sql: String, _ columns: [InspectedTable.Column], _ body: ([StoredValue]) throws -> Void
    ) throws {
      try rows(sql, .none, columns.map(\.form), isStamp: columns.map { $0.name == "_stamp" }, body)
    }

    func rows(
      _ sql: String, _ parameters: PostgreSQLParameters, _ forms: [ColumnForm], isStamp: [Bool],
      _ body: ([StoredValue]) throws -> Void
    ) throws {
      try reading {
        let cursor = try PostgreSQLCursor(sql, parameters, session)
        defer { cursor.close() }
        while let (result, row) = try cursor.next() {
          try body(
            forms.indices.map { index in
              if result.isNull(row, index) { return .null }
              // A stamp is a number whatever it is.
              if isStamp[index] { return .real(Double(bitPattern: result.bits(row, index)) + 0) }
              return forms[index].read(result, row, index)
            })
        }
      }
    }

    /// The session translates what the server says for stores; here it is told as it is.
    private func reading(_ body: () throws -> Void) throws {
      do { try body() } catch {
        if let failure = session.failure { throw InspectionError(failure) }
        throw error
      }
    }

    // MARK: The outbox

    /// Counts the forwarded actions that are to be sent, and those that were refused.
    package func outbox() throws -> (pending: Int, refused: Int) {
      (
        try number("SELECT count(*) FROM concord_outbox WHERE state = 'pending'"),
        try number("SELECT count(*) FROM concord_outbox WHERE state = 'refused'")
      )
    }

    /// Forwarded actions that cannot be read, by key and action, and those in a state that is not known, by key and state.
    package func strangeActions() throws -> (unreadable: [(String, String)], unknown: [(String, String)]) {
      var (unreadable, unknown): ([(String, String)], [(String, String)]) = ([], [])
      let sql = "SELECT \"key\", action, body, state FROM concord_outbox ORDER BY number"
      try rows(sql, .none, [.text, .text, .text, .text], isStamp: [false, false, false, false]) { values in
        let texts = values.map { if case .text(let text) = $0 { text } else { "" } }
        switch texts[3] {
        case "pending", "refused":
          let isReadable =
            (try? JSONSerialization.jsonObject(with: Data(texts[2].utf8), options: .fragmentsAllowed)) != nil
          if !isReadable { unreadable.append((texts[0], texts[1])) }
        case "sent", "dropped": break
        default: unknown.append((texts[0], texts[3]))
        }
      }
      return (unreadable, unknown)
    }

    // MARK: The schema

    /// The script that makes the tables elsewhere, as they are here.
    ///
    /// - Parameter role: the role that gets the rights which a program needs.
    package func script(for role: String?) throws -> String {
      var statements = ["CREATE SCHEMA IF NOT EXISTS \(identifier(schema))"]
      statements += FeedTables.sql(schema) + OutboxTables.sql + OutboxTables.trigger(schema)
      statements += PostgreSQLUniqueColumn.tableSQL + DeletionTable.sql + [TableShape.tableSQL, TableNote.tableSQL]
      let notes = tables.map(\.note)
      for note in notes {
        statements.append(note.create)
        if let shape = present.history[storedName(note.table)]?.last {
          statements.append(try shape.note(storedName(note.table)))
        }
      }
      for note in notes {
        statements += (note.indexes + note.foreignKeys + note.triggers).map(\.sql) + (note.words?.create ?? [])
        statements.append(try note.sql())
      }
      statements.append(LoadedFunction.sql(schema))
      if present.version > 0 { statements.append("UPDATE concord_state SET version = \(present.version)") }
      return PostgreSQLScript(
        schema: schema, statements: statements, tables: notes.map(\.table),
        wordTables: notes.filter { $0.words != nil }.map { PostgreSQLSearchIndex.table($0.table) }, role: role
      ).text
    }
  }
#endif
