#if PostgreSQL
  import ConcordModel
  import Foundation

  extension PostgreSQLSchema {
    /// The tables that are in the database.
    struct Present {
      var tables: [String: [Column]] = [:]
      /// By name, whether an index is unique, and its table.
      var indexes: [String: (isUnique: Bool, table: String)] = [:]
      /// By name, the table of a reference that the server checks.
      var foreignKeys: [String: String] = [:]
      /// By table.
      var triggers: [String: Set<String>] = [:]
      var disabledTriggers: [String: Set<String>] = [:]
      var hasSchema = false
      /// Whether the function is there that whoever has loaded rows without triggers calls.
      var hasLoadedFunction = false
      /// By table, the shapes that it has had.
      var history: [String: [TableShape]] = [:]
      /// By table, what is noted of it, and in which order the tables were made.
      var notes: [String: TableNote] = [:]
      var noted: [String] = []
      /// The tables whose entries of unique values were not kept.
      var unfilled: Set<String> = []
      var version = 0

      /// Whether a table has a trigger that runs in ordinary sessions.
      func isEnabled(_ trigger: String, _ table: String) -> Bool {
        triggers[table]?.contains(trigger) ?? false && !(disabledTriggers[table]?.contains(trigger) ?? false)
      }
    }

    /// Makes what is missing, and migrates what differs, as a whole. Of several that do so at once, one does.
    ///
    /// - Throws: ``/ConcordModel/StoreError/incompatibleStore(store:differences:)`` with all that cannot be migrated,
    ///   ``/ConcordModel/StoreError/newerStore(store:differences:)``, ``PostgreSQLRightsError`` if the role may not do that.
    func prepare(_ connection: PostgreSQLConnection) throws {
      do {
        if try isCurrent(try present(connection)) { return }
        try connection.changingSchema(name) { try change(connection) }
      } catch let failure as PostgreSQLFailure where failure.code == "23505" {
        throw StoreError.incompatibleStore(
          store: store, differences: ["\(failure.constraint ?? "a column") is to be unique, and is not"])
      } catch let failure as PostgreSQLFailure where failure.code == "23503" {
        throw StoreError.incompatibleStore(
          store: store, differences: ["\(failure.constraint ?? "a reference") leads nowhere in some rows"])
      } catch let failure as PostgreSQLFailure where failure.code == "42501" {
        _ = connection.rollBack()
        try refuse(failure, connection)
      }
    }

    private func change(_ connection: PostgreSQLConnection) throws {
      let present = try present(connection)
      let migrations = try migrations(present)
      var problems: [String] = []
      for migration in migrations where migration.isChanged {
        problems += try migration.differences(connection)
      }
      if !problems.isEmpty {
        throw StoreError.incompatibleStore(store: store, differences: problems)
      }
      let isFollowed = present.tables["concord_feed"] != nil && migrations.contains(where: \.isChanged)
      if isFollowed { try unfollow(migrations, connection) }
      try moveCollections(present, migrations, connection)
      try connection.run(try missing(self.present(connection), before: true).map { .once($0) })
      for migration in migrations where migration.isChanged {
        problems += try migration.run(connection)
      }
      if !problems.isEmpty {
        throw StoreError.incompatibleStore(store: store, differences: problems)
      }
      try noteMigrated(migrations, present, connection)
      // A column that was dropped has taken its index with it.
      try connection.run(try missing(self.present(connection), before: false).map { .once($0) })
      try fillUnique(before: present, migrations, connection)
      try connection.run(
        entities.map { storedName($0.name) }.filter(present.unfilled.contains).map {
          .once("UPDATE concord_tables SET is_filled = true WHERE \"table\" = \(literal($0))")
        })
      if version > present.version { try connection.run([.once("UPDATE concord_state SET version = \(version)")]) }
      if isFollowed { try HistorySchema(self).start(connection) }
      try connection.run((interrupted(present) + ["COMMIT"]).map { .once($0) })
    }

    /// The statements by which all that follow read everything anew, devices too, if changes of a table or of the outbox may have been noted by no
    /// trigger.
    ///
    /// Those who have disabled them usually have disabled the triggers of the feed of positions, too, and enable these by themselves.
    func interrupted(_ present: Present) -> [String] {
      guard present.tables["concord_state"] != nil else { return [] }
      func isInterrupted(_ table: String, _ triggers: [String]) -> Bool {
        present.tables[table] != nil && !triggers.allSatisfy { present.isEnabled($0, table) }
      }
      guard
        isInterrupted("concord_outbox_state", [OutboxTables.trigger])
          || tables.contains(where: { isInterrupted(storedName($0.name), FeedTables.triggers($0).map(\.name)) })
      else { return [] }
      return [FeedTables.newEpoch] + (present.tables["concord_feed"] == nil ? [] : [HistoryTables.newEpochOfFeed])
    }

    /// Removes the triggers that keep changed rows as they were from the tables that a migration changes: they name its columns.
    private func unfollow(_ migrations: [PostgreSQLMigration], _ connection: PostgreSQLConnection) throws {
      let tables = migrations.filter { $0.isChanged || $0.presentName != storedName($0.table.name) }
      try connection.run(tables.flatMap { HistoryTables.stop($0.presentName) }.map { .once($0) })
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
            && !present.unfilled.contains(storedName(entity.name))
            && present.indexes[storedName(index)]?.isUnique == true
          if try !isFilled && !column.fill(connection) {
            throw StoreError.incompatibleStore(
              store: store, differences: ["\(index) is to be unique, and is not"])
          }
        }
      }
    }

    /// Gives the tables of collections their new names, which may be exchanged, and drops those of collections that are gone.
    private func moveCollections(
      _ present: Present, _ migrations: [PostgreSQLMigration], _ connection: PostgreSQLConnection
    ) throws {
      // Indexes and references are named after their columns, and are made again.
      for migration in migrations
      where migration.presentName != storedName(migration.table.name) || !migration.renamed.isEmpty {
        let table = migration.presentName
        for (name, index) in present.indexes
        where index.table == table && name.hasPrefix("\(table).") {
          try connection.run([.once("DROP INDEX \(identifier(name))")])
        }
        for (name, owner) in present.foreignKeys where owner == table && name.hasPrefix("\(table).") {
          try connection.run([
            .once("ALTER TABLE \(identifier(table)) DROP CONSTRAINT \(identifier(name))")
          ])
        }
      }
      let moved = migrations.filter { $0.presentName != storedName($0.table.name) }
      for (index, migration) in moved.enumerated() {
        try connection.run([
          .once(
            "ALTER TABLE \(identifier(migration.presentName)) RENAME TO \(identifier("concord.\(index)"))"
          )
        ])
      }
      let changed = Set(
        migrations.filter { $0.isChanged && $0.table.collection == nil }.map(\.table.name))
      let taken = Set(migrations.map(\.presentName))
      for (table, note) in present.notes
      where changed.contains(note.entity) && note.table != note.entity && !taken.contains(table)
        && present.tables[table] != nil
      {
        try connection.run([
          .once("DROP TABLE \(identifier(table))"),
          .once("DELETE FROM concord_tables WHERE \"table\" = \(literal(table))"),
        ])
      }
      for (index, migration) in moved.enumerated() {
        try connection.run([
          .once("DELETE FROM concord_tables WHERE \"table\" = \(literal(migration.presentName))"),
          .once(
            "ALTER TABLE \(identifier("concord.\(index)")) RENAME TO \(identifier(migration.table.name))"
          ),
        ])
      }
    }

    private func isCurrent(_ present: Present) throws -> Bool {
      let migrations = try migrations(present)
      return try missing(present, before: true).isEmpty && missing(present, before: false).isEmpty
        && migrations.allSatisfy { !$0.isChanged } && version <= present.version && !isUnfilled(present)
    }

    private func isUnfilled(_ present: Present) -> Bool {
      entities.contains { present.unfilled.contains(storedName($0.name)) }
    }

    /// The tables beside those that are wanted.
    func migrations(_ present: Present) throws -> [PostgreSQLMigration] {
      var migrations: [PostgreSQLMigration] = []
      var owner: PostgreSQLMigration?
      var takers: [String: [String]] = [:]
      for table in tables {
        if table.collection == nil { owner = nil }
        let name = presentName(of: table, owner, present)
        guard let columns = present.tables[name] else { continue }
        takers[name, default: []].append(table.name)
        let migration = PostgreSQLMigration(
          table, from: name, columns, history: present.history[name] ?? [],
          conversions: self.migrations.filter {
            $0.entity == table.entity.name && table.collection == nil
          },
          version: version)
        migrations.append(migration)
        if table.collection == nil { owner = migration }
      }
      let isOlder = version <= present.version && migrations.contains(where: \.isOlder)
      if isOlder || version < present.version && migrations.contains(where: \.isChanged) {
        throw StoreError.newerStore(
          store: store,
          differences: StoreError.versions(stored: present.version, model: version)
            + migrations.filter(\.isChanged).flatMap(\.allDifferences)
            + migrations.filter { $0.isOlder && !$0.isChanged }.map { StoreError.exchanged($0.table.name) })
      }
      let doubles = takers.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }.map {
        name, tables in
        "\(tables.sorted().joined(separator: " and ")) would both be made of \(name)"
      }
      let problems = doubles + migrations.flatMap { migrates ? $0.problems : $0.allDifferences }
      if !problems.isEmpty {
        throw StoreError.incompatibleStore(store: store, differences: problems)
      }
      return migrations
    }

    /// The table that becomes one. That of a collection comes with the column of its count.
    private func presentName(of table: Table, _ owner: PostgreSQLMigration?, _ present: Present)
      -> String
    {
      let name = storedName(table.name)
      guard let collection = table.collection, let owner else { return name }
      let count = columnName(collection.name)
      guard let origin = owner.origins[count] else { return name }
      if origin.name == storedName(count) { return name }
      let original = collection.originalName.map { storedName(columnName($0)) }
      let isByCase = origin.name.lowercased() == storedName(count).lowercased()
      let spelled = origin.name == original ? collection.originalName ?? origin.name : origin.name
      let wanted = storedName("\(table.entity.name)_\(spelled)")
      if isByCase, present.tables[wanted] == nil { return name }
      return wanted
    }

    /// The statements that make what is missing.
    ///
    /// - Parameter before: whether they are those that come before a migration: all but indexes and references.
    func missing(_ present: Present, before: Bool) throws -> [String] {
      before
        ? try missingTables(present)
        : try missingIndexes(present) + missingWords(present) + unwantedWords(present) + missingNotes(present)
          + missingFunction(present)
    }

    func missingFunction(_ present: Present) -> [String] {
      present.hasLoadedFunction ? [] : [LoadedFunction.sql(name)]
    }

    private func missingNotes(_ present: Present) throws -> [String] {
      try tables.map { TableNote($0, self) }.filter { present.notes[storedName($0.table)] != $0 }.map { try $0.sql() }
    }

    func missingTables(_ present: Present) throws -> [String] {
      var statements: [String] = []
      if !present.hasSchema { statements.append("CREATE SCHEMA IF NOT EXISTS \(identifier(name))") }
      if present.tables["concord_state"] == nil || present.tables["concord_changes"] == nil {
        statements += FeedTables.sql(name)
      }
      if present.tables["concord_outbox_state"] == nil {
        statements += OutboxTables.sql + OutboxTables.trigger(name)
      } else if !present.isEnabled(OutboxTables.trigger, "concord_outbox_state") {
        // One that is made anew is enabled.
        statements += OutboxTables.trigger(name)
      }
      if present.tables["concord_unique"] == nil { statements += PostgreSQLUniqueColumn.tableSQL }
      if present.tables["concord_deletions"] == nil { statements += DeletionTable.sql }
      if present.tables["concord_schema"] == nil { statements.append(TableShape.tableSQL) }
      if present.tables["concord_tables"] == nil { statements.append(TableNote.tableSQL) }
      for table in tables where present.tables[storedName(table.name)] == nil {
        statements += [table.createSQL, try TableShape.note(table, version: version)]
      }
      return statements
    }

    func missingIndexes(_ present: Present) -> [String] {
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
        // Without them nobody is told of changes.
        for trigger in FeedTables.triggers(table)
        where present.disabledTriggers[stored]?.contains(trigger.name) ?? false {
          statements.append("ALTER TABLE \(identifier(table.name)) ENABLE TRIGGER \(identifier(trigger.name))")
        }
      }
      return statements
    }

    func present(_ connection: PostgreSQLConnection) throws -> Present {
      var present = try presentTables(connection)
      try presentNotes(connection, &present)
      return present
    }

    /// The tables that are in the database, as far as each role may know of them.
    func presentTables(_ connection: PostgreSQLConnection) throws -> Present {
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
          SELECT c.relname::text, t.tgname::text, \(FeedTables.isEnabled) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
          JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND NOT t.tgisinternal
          """),
        command(
          """
          SELECT 1 FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
          WHERE n.nspname = $1 AND p.proname = \(literal(LoadedFunction.name)) AND p.prosrc = \(literal(LoadedFunction.body))
          """),
      ])
      var present = Present()
      present.hasSchema = results[0].count > 0
      present.hasLoadedFunction = results[5].count > 0
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
        let (table, trigger) = (results[4].text(row, 0), results[4].text(row, 1))
        present.triggers[table, default: []].insert(trigger)
        if !results[4].bool(row, 2) { present.disabledTriggers[table, default: []].insert(trigger) }
      }
      return present
    }

    func presentNotes(_ connection: PostgreSQLConnection, _ present: inout Present) throws {
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
      if present.tables["concord_tables"] != nil {
        let rows = try connection.run([
          .once("SELECT \"table\", note, is_filled FROM \(identifier(name)).concord_tables ORDER BY number")
        ])[0]
        for row in 0..<rows.count {
          let table = rows.text(row, 0)
          present.noted.append(table)
          present.notes[table] = try? JSONDecoder().decode(TableNote.self, from: Data(rows.bytes(row, 1)))
          if !rows.bool(row, 2) { present.unfilled.insert(table) }
        }
      }
    }
  }
#endif
