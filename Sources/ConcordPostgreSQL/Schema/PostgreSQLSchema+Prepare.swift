#if PostgreSQL
  import ConcordModel
  import Foundation

  extension PostgreSQLSchema {
    /// What is in the database.
    struct Present {
      var tables: [String: [Column]] = [:]
      /// By name, whether an index is unique, and its table.
      var indexes: [String: (isUnique: Bool, table: String)] = [:]
      /// By name, the table of a reference that the server checks.
      var foreignKeys: [String: String] = [:]
      /// By table.
      var triggers: [String: Set<String>] = [:]
      var hasSchema = false
      /// By table, the shapes that it has had.
      var history: [String: [TableShape]] = [:]
      var version = 0
    }

    /// Makes what is missing, and migrates what differs, as a whole. Of several that do so at once, one does.
    ///
    /// - Throws: ``/ConcordModel/StoreError/incompatibleStore(store:differences:)`` with all that cannot be migrated,
    ///   ``/ConcordModel/StoreError/newerStore(store:)``.
    func prepare(_ connection: PostgreSQLConnection) throws {
      if try isCurrent(try present(connection)) { return }
      do {
        // Until the end of the transaction.
        var lock = PostgreSQLParameters()
        lock.append("concord.\(name)")
        try connection.run([
          .once("BEGIN"), .once("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", lock),
          .once("SET LOCAL statement_timeout TO 0"),
        ])
        let present = try present(connection)
        let migrations = try migrations(present)
        try connection.run(try missing(present, before: true).map { .once($0) })
        var problems: [String] = []
        for migration in migrations where migration.isChanged { problems += try migration.run(connection) }
        if !problems.isEmpty { throw StoreError.incompatibleStore(store: store, differences: problems) }
        // A column that was dropped has taken its index with it.
        try connection.run(try missing(self.present(connection), before: false).map { .once($0) })
        try fillUnique(before: present, migrations, connection)
        if version > present.version { try connection.run([.once("UPDATE concord_state SET version = \(version)")]) }
        try connection.run([.once("COMMIT")])
      } catch let failure as PostgreSQLFailure where failure.code == "23505" {
        throw StoreError.incompatibleStore(
          store: store, differences: ["\(failure.constraint ?? "a column") is to be unique, and is not"])
      } catch let failure as PostgreSQLFailure where failure.code == "23503" {
        throw StoreError.incompatibleStore(
          store: store, differences: ["\(failure.constraint ?? "a reference") leads nowhere in some rows"])
      } catch let failure as PostgreSQLFailure where failure.code == "42501" {
        throw StoreError.incompatibleStore(
          store: store,
          differences: [
            "the role may not make what is missing (\(failure.message)); the owner of the schema is to run:\n\(try sql())"
          ])
      }
    }

    /// Makes the entries of unique values that were written without them.
    private func fillUnique(
      before present: Present, _ migrations: [PostgreSQLMigration], _ connection: PostgreSQLConnection
    ) throws {
      for entity in entities where present.tables[storedName(entity.name)] != nil {
        let isMigrated = migrations.contains { $0.isChanged && $0.table.name == entity.name }
        for column in PostgreSQLTable(entity).uniqueColumns where !column.isExact {
          let index = "\(entity.name).\(column.name)"
          let isFilled =
            present.tables["concord_unique"] != nil && !isMigrated
            && present.indexes[storedName(index)]?.isUnique == true
          if try !isFilled && !column.fill(connection) {
            throw StoreError.incompatibleStore(
              store: store, differences: ["\(index) is to be unique, and is not"])
          }
        }
      }
    }

    private func isCurrent(_ present: Present) throws -> Bool {
      let migrations = try migrations(present)
      return try missing(present, before: true).isEmpty && missing(present, before: false).isEmpty
        && migrations.allSatisfy { !$0.isChanged } && version <= present.version
    }

    /// The statements that make all tables in a database that has none of them.
    ///
    /// - Parameter role: a role that gets the rights that a store needs, and no others.
    func sql(role: String? = nil) throws -> String {
      let statements =
        ["CREATE SCHEMA IF NOT EXISTS \(identifier(name))", "SET search_path TO \(identifier(name)), pg_temp"]
        + (try missingTables(Present(hasSchema: true))) + missingIndexes(Present()) + (role.map(grants) ?? [])
      return "BEGIN;\n\(statements.joined(separator: ";\n"));\nCOMMIT;\n"
    }

    private func grants(_ role: String) -> [String] {
      let role = identifier(role)
      let rights =
        tables.map { (identifier($0.name), "SELECT, INSERT, UPDATE, DELETE") } + [
          ("concord_unique", "SELECT, INSERT, UPDATE, DELETE"), ("concord_outbox", "SELECT, INSERT, UPDATE, DELETE"),
          ("concord_deletions", "SELECT, INSERT, UPDATE, DELETE"), ("concord_outbox_state", "SELECT, UPDATE"),
          ("concord_state", "SELECT, UPDATE"),
          ("concord_changes", "SELECT, UPDATE, DELETE"), ("concord_schema", "SELECT"),
        ]
      return ["GRANT USAGE ON SCHEMA \(identifier(name)) TO \(role)"]
        + rights.map { table, rights in "GRANT \(rights) ON \(table) TO \(role)" }
    }

    /// The tables beside those that are wanted.
    private func migrations(_ present: Present) throws -> [PostgreSQLMigration] {
      let migrations = tables.compactMap { table in
        present.tables[storedName(table.name)].map { columns in
          PostgreSQLMigration(
            table, present: columns, history: present.history[storedName(table.name)] ?? [],
            conversions: self.migrations.filter { $0.entity == table.entity.name && table.collection == nil })
        }
      }
      if migrations.contains(where: \.isOlder) || version < present.version && migrations.contains(where: \.isChanged) {
        throw StoreError.newerStore(store: store)
      }
      let problems = migrates ? migrations.flatMap(\.problems) : migrations.flatMap(\.allDifferences)
      if !problems.isEmpty { throw StoreError.incompatibleStore(store: store, differences: problems) }
      return migrations
    }

    /// The statements that make what is missing.
    ///
    /// - Parameter before: whether they are those that come before a migration: all but indexes and references.
    private func missing(_ present: Present, before: Bool) throws -> [String] {
      before ? try missingTables(present) : missingIndexes(present)
    }

    private func missingTables(_ present: Present) throws -> [String] {
      var statements: [String] = []
      if !present.hasSchema { statements.append("CREATE SCHEMA \(identifier(name))") }
      if present.tables["concord_state"] == nil || present.tables["concord_changes"] == nil {
        statements += FeedTables.sql(name)
      }
      if present.tables["concord_outbox_state"] == nil {
        statements += OutboxTables.sql + OutboxTables.trigger(name)
      }
      if present.tables["concord_unique"] == nil { statements += PostgreSQLUniqueColumn.tableSQL }
      if present.tables["concord_deletions"] == nil { statements += DeletionTable.sql }
      if present.tables["concord_schema"] == nil { statements.append(TableShape.tableSQL) }
      for table in tables where present.tables[storedName(table.name)] == nil {
        statements += [table.createSQL, try TableShape.note(table)]
      }
      return statements
    }

    private func missingIndexes(_ present: Present) -> [String] {
      var statements: [String] = []
      for table in tables {
        let stored = storedName(table.name)
        let indexes = indexes(table)
        // Those of other programs have other names.
        for (name, index) in present.indexes.sorted(by: { $0.key < $1.key })
        where index.table == stored && name.hasPrefix("\(stored).")
          && !indexes.contains(where: { storedName($0.name) == name && $0.isUnique == index.isUnique })
        {
          statements.append("DROP INDEX \(identifier(name))")
        }
        for index in indexes where present.indexes[storedName(index.name)]?.isUnique != index.isUnique {
          statements.append(index.sql)
        }
        let keys = foreignKeys(table)
        for (name, owner) in present.foreignKeys.sorted(by: { $0.key < $1.key })
        where owner == stored && name.hasPrefix("\(stored).") && !keys.contains(where: { storedName($0.name) == name })
        {
          statements.append("ALTER TABLE \(identifier(table.name)) DROP CONSTRAINT \(identifier(name))")
        }
        for key in keys where present.foreignKeys[storedName(key.name)] == nil { statements.append(key.sql) }
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
          SELECT c.relname::text, i.indisunique, t.relname::text FROM pg_class c
          JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_index i ON i.indexrelid = c.oid
          JOIN pg_class t ON t.oid = i.indrelid WHERE n.nspname = $1
          """),
        command(
          """
          SELECT k.conname::text, t.relname::text FROM pg_constraint k
          JOIN pg_namespace n ON n.oid = k.connamespace JOIN pg_class t ON t.oid = k.conrelid
          WHERE n.nspname = $1 AND k.contype = 'f'
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
      for row in 0..<results[2].count {
        present.indexes[results[2].text(row, 0)] = (results[2].bool(row, 1), results[2].text(row, 2))
      }
      for row in 0..<results[3].count { present.foreignKeys[results[3].text(row, 0)] = results[3].text(row, 1) }
      for row in 0..<results[4].count {
        present.triggers[results[4].text(row, 0), default: []].insert(results[4].text(row, 1))
      }
      if present.tables["concord_schema"] != nil, present.tables["concord_state"] != nil {
        let rows = try connection.run([
          .once("SELECT \"table\", shape FROM \(identifier(name)).concord_schema ORDER BY number"),
          .once("SELECT version FROM \(identifier(name)).concord_state"),
        ])
        for row in 0..<rows[0].count {
          if let shape = try? JSONDecoder().decode(TableShape.self, from: Data(rows[0].bytes(row, 1))) {
            present.history[rows[0].text(row, 0), default: []].append(shape)
          }
        }
        if rows[1].count > 0 { present.version = Int(rows[1].integer(0, 0)) }
      }
      return present
    }
  }
#endif
