#if PostgreSQL
  import ConcordModel

  extension PostgreSQLSchema {
    /// What is in the database.
    struct Present {
      var tables: [String: [Column]] = [:]
      var indexes: Set<String> = []
      var constraints: Set<String> = []
      /// By table.
      var triggers: [String: Set<String>] = [:]
      var hasSchema = false
    }

    /// Makes what is missing, as a whole. Of several that do so at once, one does.
    func prepare(_ connection: PostgreSQLConnection) throws {
      if try missing(connection).isEmpty { return }
      do {
        try connection.run([.once("BEGIN")])
        // Until the end of the transaction.
        var lock = PostgreSQLParameters()
        lock.append("concord.\(name)")
        try connection.run([
          .once("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock), .once("SET LOCAL statement_timeout TO 0"),
        ])
        let statements = try missing(connection)
        try connection.run(statements.map { .once($0) })
        try connection.run([.once("COMMIT")])
      } catch let failure as PostgreSQLFailure where failure.code == "42501" {
        _ = connection.rollBack()
        throw StoreError.incompatibleStore(
          store: store, differences: ["the role may not make what is missing: \(failure.message)"])
      }
    }

    /// The statements that make all that is missing.
    func missing(_ connection: PostgreSQLConnection) throws -> [String] {
      let present = try present(connection)
      var statements: [String] = []
      if !present.hasSchema { statements.append("CREATE SCHEMA \(identifier(name))") }
      if present.tables["concord_state"] == nil || present.tables["concord_changes"] == nil {
        statements += FeedTables.sql(name)
      }
      if present.tables["concord_outbox_state"] == nil {
        statements += PostgreSQLSession.outboxTables + FeedTables.outboxTrigger(name)
      }
      let tables = tables
      for table in tables where present.tables[storedName(table.name)] == nil { statements.append(table.createSQL) }
      for table in tables {
        let stored = storedName(table.name)
        for index in indexes(table) where !present.indexes.contains(storedName(index.name)) { statements.append(index.sql) }
        for key in foreignKeys(table) where !present.constraints.contains(storedName(key.name)) {
          statements.append(key.sql)
        }
        for trigger in FeedTables.triggers(table) where !(present.triggers[stored]?.contains(trigger.name) ?? false) {
          statements.append(trigger.sql)
        }
      }
      return statements
    }

    func present(_ connection: PostgreSQLConnection) throws -> Present {
      var parameters = PostgreSQLParameters()
      parameters.append(storedName(name))
      func command(_ sql: String) -> PostgreSQLConnection.Command { .once(sql, parameters) }
      let results = try connection.run([
        command("SELECT 1 FROM pg_namespace WHERE nspname = $1"),
        command(
          """
          SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod), a.attnotnull,
            COALESCE(a.attnum = ANY (i.indkey), false)
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
          WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') ORDER BY c.relname, a.attnum
          """),
        command(
          """
          SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE n.nspname = $1 AND c.relkind IN ('i', 'I')
          """),
        command(
          """
          SELECT k.conname::text FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
          WHERE n.nspname = $1
          """),
        command(
          """
          SELECT c.relname::text, t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
          JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT t.tgisinternal
          """),
      ])
      var present = Present()
      present.hasSchema = results[0].count > 0
      for row in 0..<results[1].count {
        let result = results[1]
        present.tables[result.text(row, 0), default: []].append(
          Column(
            name: result.text(row, 1), type: result.text(row, 2), isRequired: result.bool(row, 3),
            isKey: result.bool(row, 4)))
      }
      present.indexes = Set((0..<results[2].count).map { results[2].text($0, 0) })
      present.constraints = Set((0..<results[3].count).map { results[3].text($0, 0) })
      for row in 0..<results[4].count {
        present.triggers[results[4].text(row, 0), default: []].insert(results[4].text(row, 1))
      }
      return present
    }
  }
#endif
