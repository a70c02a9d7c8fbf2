#if Persistence
  import ConcordModel
  import GRDB

  /// The tables of a model in a file: made where there are none, compared where there are, and migrated where they differ.
  struct SQLiteSchema {
    let entities: [EntityDescription]
    let migrations: [ColumnMigration]
    let store: String
    /// Whether tables that differ are migrated.
    let migrates: Bool
    /// The version of the model.
    var version = 0

    struct Column: Hashable {
      var name: String
      var type: String
      var isRequired: Bool
      var isKey = false

      var sql: String {
        let parts = [quoted(name), type] + (isRequired ? ["NOT NULL"] : [])
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
      }
    }

    /// A table as the model wants it.
    struct Table {
      let name: String
      let entity: EntityDescription
      /// `nil` for the table of the entity itself.
      let collection: CollectionDescription?
      let columns: [Column]

      /// The name of the table in an earlier model.
      var originalName: String? { collection?.originalName.map { "\(entity.name)_\($0)" } }
      /// By name, what the model says of a column.
      func description(of column: String) -> ColumnDescription? {
        guard let collection else { return entity.columns.first { $0.name == column } }
        return zip(collection.columnNames, collection.columns).first { $0.0 == column }?.1
      }
      /// By name, the coding of a column; `nil` for one that is the store's own.
      func coding(of column: String) -> ColumnCoding? {
        switch column {
        // The key, in any coding of the id.
        case "id" where collection == nil: entity.keyCoding
        case "_owner": entity.keyCoding
        case "_id": entity.columns.first { $0.name == "id" }?.coding
        case "_stamp", "_position": nil
        default: description(of: column)?.coding
        }
      }
      /// By name, what a column was called in an earlier model.
      func originalName(of column: String) -> String? {
        guard collection == nil, let original = description(of: column)?.originalName, original != column else {
          return nil
        }
        return original
      }
      /// A text that is equal for tables with the same columns in any order.
      var fingerprint: String {
        columns.map { $0.isKey ? "\($0.sql) KEY" : $0.sql }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
          .joined(separator: ", ")
      }

      func createSQL(named name: String) -> String {
        let keys = columns.filter(\.isKey).map { quoted($0.name) }.joined(separator: ", ")
        let lines =
          collection == nil
          ? columns.map { $0.isKey ? "\($0.sql) PRIMARY KEY" : $0.sql }
          : columns.map(\.sql) + ["PRIMARY KEY (\(keys))"]
        let body = lines.map { "  \($0)" }.joined(separator: ",\n")
        return "CREATE TABLE \(quoted(name)) (\n\(body)\n)\(collection == nil ? "" : " WITHOUT ROWID")"
      }
    }

    /// The tables that are wanted beside those of a file.
    private struct Comparison {
      var missing: [Table] = []
      var migrations: [SQLiteMigration] = []
      /// The problems of whole tables that cannot be migrated.
      var problems: [String] = []

      var changed: [SQLiteMigration] { migrations.filter(\.isChanged) }
    }

    /// Checks whether a file can be made to fit, as far as that is known without writing to it.
    ///
    /// - Throws: as ``prepare(_:)``.
    func check(_ db: Database) throws {
      let comparison = try compare(db)
      try checkVersion(comparison, db)
      let differences = try differences(comparison, db)
      guard differences.isEmpty else { throw StoreError.incompatibleStore(store: store, differences: differences) }
    }

    /// Makes missing tables, and migrates those that differ, in one transaction.
    ///
    /// - Throws: ``/ConcordModel/StoreError/incompatibleStore(store:differences:)`` with each difference that cannot be
    ///   migrated, ``/ConcordModel/StoreError/newerStore(store:differences:)``.
    func prepare(_ db: Database) throws {
      let comparison = try compare(db)
      try checkVersion(comparison, db)
      var differences = try differences(comparison, db)
      if differences.isEmpty {
        for table in comparison.missing {
          try db.execute(sql: table.createSQL(named: table.name))
          try SQLiteHistory.add(table, version: version, db)
        }
        differences += try migrate(comparison, db)
        if differences.isEmpty, migrates || isNew(comparison) {
          let carried = Set(comparison.migrations.filter(\.isCarried).map(\.table.name))
          differences += try SQLiteIndexes.prepare(
            tables, carried: carried, keepsUnique: version < Self.version(db), db)
          try SQLiteRelations.prepare(tables, db)
          if differences.isEmpty { try SQLiteSearchIndex.prepare(entities, db) }
        }
      }
      guard differences.isEmpty else { throw StoreError.incompatibleStore(store: store, differences: differences) }
      let present = try Self.version(db)
      if version > present { try db.execute(sql: "PRAGMA user_version = \(version)") }
    }

    /// Makes the new tables before the old ones are dropped, since they may exchange names.
    ///
    /// - Returns: what keeps that from being done.
    private func migrate(_ comparison: Comparison, _ db: Database) throws -> [String] {
      let changed = comparison.changed
      // Triggers name tables that are about to be dropped and renamed.
      let entities = Set(changed.map(\.table.entity))
      let followed = try entities.filter { try SQLiteFeed.stop($0, db) }
      let problems = try changed.flatMap { try $0.copy(db) }
      if !problems.isEmpty { return problems }
      for name in Set(changed.flatMap { [$0.presentName.lowercased(), $0.table.name.lowercased()] }) {
        try db.execute(sql: "DROP TABLE IF EXISTS \(quoted(name))")
      }
      for migration in changed {
        try db.execute(
          sql: "ALTER TABLE \(quoted(migration.newName)) RENAME TO \(quoted(migration.table.name))")
        try SQLiteHistory.add(
          migration.table, version: version, keeping: migration.carriedNames, db)
      }
      for migration in comparison.migrations where migration.isCarried {
        try SQLiteHistory.add(
          migration.table, version: version, isCarried: true, keeping: migration.carriedNames, db)
      }
      for entity in entities {
        try SQLiteHistory.dropCollections(of: entity, except: tables.map(\.name), db)
      }
      if !followed.isEmpty { try SQLiteFeed(db: db, entities: Array(followed)).start() }
      return []
    }

    /// Whether the tables of the file are still those of the model; another program may have changed them.
    func isCurrent(_ db: Database) throws -> Bool {
      let comparison = try compare(db, readsValues: false)
      return try comparison.missing.isEmpty && comparison.problems.isEmpty
        && comparison.migrations.allSatisfy { !$0.isChanged && !$0.isOlder(version: version) }
        && SQLiteIndexes.missingUnique(tables, db).isEmpty
    }

    private func compare(_ db: Database, readsValues: Bool = true) throws -> Comparison {
      let names = Dictionary(
        try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'").map {
          ($0.lowercased(), $0)
        }
      ) { first, _ in first }
      let facts = try facts(db)
      var comparison = Comparison()
      var takers: [String: [Table]] = [:]
      var owner: SQLiteMigration?
      for table in tables {
        if table.collection == nil { owner = nil }
        guard let name = presentName(of: table, names, owner),
          let present = try Self.presentColumns(name, db)
        else {
          comparison.missing.append(table)
          continue
        }
        takers[name, default: []].append(table)
        let migration = try SQLiteMigration(
          table, from: name, present,
          migrations.filter { $0.entity == table.entity.name && table.collection == nil }, facts,
          readsValues: readsValues, db)
        comparison.migrations.append(migration)
        if table.collection == nil { owner = migration }
      }
      for (name, tables) in takers.sorted(by: { $0.key < $1.key }) where tables.count > 1 {
        comparison.problems.append(
          "\(tables.map(\.name).sorted().joined(separator: " and ")) would both be made of \(name)")
      }
      return comparison
    }

    /// The table that becomes one. That of a collection comes with the column of its count. SQLite does not tell upper case from lower
    /// case in names.
    private func presentName(of table: Table, _ names: [String: String], _ owner: SQLiteMigration?)
      -> String?
    {
      if let collection = table.collection, let owner,
        let count = owner.table.columns.first(where: { $0.name == collection.name }),
        let origin = owner.origin(of: count)
      {
        return names["\(owner.presentName)_\(origin.name)".lowercased()]
      }
      return names[table.name.lowercased()]
    }

    private func facts(_ db: Database) throws -> SQLiteMigration.FileFacts {
      var facts = SQLiteMigration.FileFacts()
      facts.kept = Set(entities.map(\.name))
      facts.targets = try SQLiteRelations.targets(db)
      for entity in entities {
        facts.collections[entity.name] = Set(try SQLiteHistory.collections(of: entity, db).map { $0.lowercased() })
      }
      facts.referredTo = Set(
        tables.flatMap { table in table.columns.compactMap { table.description(of: $0.name)?.target } })
      return facts
    }

    /// Whether the file has none of the tables, and so is made, not migrated.
    private func isNew(_ comparison: Comparison) -> Bool { comparison.missing.count == tables.count }

    private static func version(_ db: Database) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }

    private func checkVersion(_ comparison: Comparison, _ db: Database) throws {
      let present = try Self.version(db)
      guard version <= present else { return }
      let isOlder =
        version < present && !comparison.changed.isEmpty
        || comparison.migrations.contains { $0.isOlder(version: version) }
      if isOlder {
        throw StoreError.newerStore(
          store: store,
          differences: StoreError.versions(stored: present, model: version)
            + comparison.changed.flatMap(\.allDifferences)
            + comparison.migrations.filter { !$0.isChanged && $0.isOlder(version: version) }
            .map { StoreError.exchanged($0.table.name) })
      }
    }

    /// Returns the differences that cannot be migrated, or all differences if migration is off.
    private func differences(_ comparison: Comparison, _ db: Database) throws -> [String] {
      if migrates { return try comparison.problems + comparison.changed.flatMap { try $0.problems(db) } }
      if isNew(comparison) { return [] }
      var differences = comparison.missing.map { "\($0.name) is missing" } + comparison.problems
      differences += comparison.changed.flatMap(\.allDifferences)
      // The columns of tables that are missing are told already.
      let present = tables.filter { table in !comparison.missing.contains { $0.name == table.name } }
      return try differences
        + SQLiteIndexes.missingUnique(present, db).map { "\($0) is to be unique, and has no index for that" }
    }

    private var tables: [Table] {
      entities.flatMap { entity in
        [Table(name: entity.name, entity: entity, collection: nil, columns: Self.columns(of: entity))]
          + entity.collections.map {
            Table(
              name: SQLiteTable.tableName($0, of: entity), entity: entity, collection: $0,
              columns: Self.columns(of: $0, in: entity))
          }
      }
    }

    private static func columns(of entity: EntityDescription) -> [Column] {
      // An id of another class than the key's would be converted by the column's affinity.
      var columns = [Column(name: "id", type: entity.keyStorageClass.rawValue, isRequired: true, isKey: true)]
      for column in entity.columns where column.name != "id" {
        columns.append(Column(name: column.name, type: column.storageClass.rawValue, isRequired: !column.isOptional))
      }
      if SQLiteTable.keepsExactID(entity) {
        let exact = entity.columns.first { $0.name == "id" }?.storageClass ?? entity.keyStorageClass
        columns.append(Column(name: "_id", type: exact.rawValue, isRequired: false))
      }
      return columns + [Column(name: "_stamp", type: "REAL", isRequired: true)]
    }

    private static func columns(of collection: CollectionDescription, in entity: EntityDescription) -> [Column] {
      [
        Column(name: "_owner", type: entity.keyStorageClass.rawValue, isRequired: true, isKey: true),
        Column(name: "_position", type: "INTEGER", isRequired: true, isKey: true),
      ]
        + zip(collection.columns, collection.columnNames).map {
          Column(name: $1, type: $0.storageClass.rawValue, isRequired: !$0.isOptional)
        }
    }

    static func presentColumns(_ table: String, _ db: Database) throws -> [Column]? {
      let rows = try Row.fetchAll(db, sql: "PRAGMA table_info(\(quoted(table)))")
      if rows.isEmpty { return nil }
      return rows.map { row in
        Column(name: row["name"], type: row["type"], isRequired: row["notnull"], isKey: (row["pk"] as Int) > 0)
      }
    }
  }
#endif
