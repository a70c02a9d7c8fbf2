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

      /// What it was called in an earlier model.
      var originalName: String? { collection?.originalName.map { "\(entity.name)_\($0)" } }
      /// By name, what the model says of a column.
      func description(of column: String) -> ColumnDescription? {
        guard let collection else { return entity.columns.first { $0.name == column } }
        return zip(collection.columnNames, collection.columns).first { $0.0 == column }?.1
      }
      /// What is the same for tables with the same columns, in whatever order.
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

    /// A table that is there, and differs from the one that is wanted.
    private struct Change {
      let table: Table
      let present: [Column]
      /// What the table is called in the file.
      let name: String
    }

    /// Checks whether a file can be made to fit, as far as that is known without writing to it.
    ///
    /// - Throws: as ``prepare(_:)``.
    func check(_ db: Database) throws {
      let (missing, changed) = try compare(db)
      try checkVersion(changed, db)
      let differences =
        try migrates ? changed.flatMap { try migration($0).problems(db) } : differences(missing, changed, db)
      guard differences.isEmpty else { throw StoreError.incompatibleStore(store: store, differences: differences) }
    }

    /// Makes what is missing, and migrates what differs, as a whole.
    ///
    /// - Throws: ``/ConcordModel/StoreError/incompatibleStore(store:differences:)`` with all that cannot be migrated,
    ///   ``/ConcordModel/StoreError/newerStore(store:)``.
    func prepare(_ db: Database) throws {
      let (missing, changed) = try compare(db)
      try checkVersion(changed, db)
      var differences = migrates ? [] : try differences(missing, changed, db)
      if migrates || isNew(missing) {
        for table in missing {
          try db.execute(sql: table.createSQL(named: table.name))
          try SQLiteHistory.add(table, db)
        }
        for change in changed {
          let migration = migration(change)
          differences += try migration.problems(db)
          if differences.isEmpty { try migration.run(db) }
        }
        if differences.isEmpty {
          for entity in Set(changed.map(\.table.entity)) {
            try SQLiteHistory.dropCollections(of: entity, except: tables.map(\.name), db)
          }
          for table in tables { differences += try prepareIndexes(table, db) }
        }
      }
      guard differences.isEmpty else { throw StoreError.incompatibleStore(store: store, differences: differences) }
      try SQLiteRelations.prepare(tables, db)
      let present = try Self.version(db)
      if version > present { try db.execute(sql: "PRAGMA user_version = \(version)") }
    }

    /// Whether the tables of the file, which others may have changed since it was opened, are still those of the model.
    func isCurrent(_ db: Database) throws -> Bool {
      let (missing, changed) = try compare(db)
      return missing.isEmpty && changed.isEmpty
    }

    private func compare(_ db: Database) throws -> (missing: [Table], changed: [Change]) {
      var missing: [Table] = []
      var changed: [Change] = []
      for table in tables {
        if let present = try Self.presentColumns(table.name, db) {
          if Set(present) != Set(table.columns) {
            changed.append(Change(table: table, present: present, name: table.name))
          }
        } else if let originalName = table.originalName, let present = try Self.presentColumns(originalName, db) {
          changed.append(Change(table: table, present: present, name: originalName))
        } else {
          missing.append(table)
        }
      }
      return (missing, changed)
    }

    /// Whether the file has none of the tables, and so is made, not migrated.
    private func isNew(_ missing: [Table]) -> Bool { missing.count == tables.count }

    private static func version(_ db: Database) throws -> Int { try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }

    private func checkVersion(_ changed: [Change], _ db: Database) throws {
      let present = try Self.version(db)
      guard !changed.isEmpty, version <= present else { return }
      let isOlder = try version < present || changed.contains { try SQLiteHistory.isOlder($0.table, db) }
      if isOlder { throw StoreError.newerStore(store: store) }
    }

    /// All that differs, for those who do not want a migration.
    private func differences(_ missing: [Table], _ changed: [Change], _ db: Database) throws -> [String] {
      if isNew(missing) { return [] }
      return missing.map { "\($0.name) is missing" } + changed.flatMap { migration($0).allDifferences }
    }

    private func migration(_ change: Change) -> SQLiteMigration {
      SQLiteMigration(
        table: change.table, present: change.present, presentName: change.name,
        conversions: migrations.filter { $0.entity == change.table.entity.name && change.table.collection == nil })
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

    // MARK: Indexes

    /// Makes the indexes of a table, and removes those that are not wanted any longer.
    ///
    /// - Returns: which columns are not unique.
    private func prepareIndexes(_ table: Table, _ db: Database) throws -> [String] {
      var wanted: [String: (column: String, isUnique: Bool)] = [:]
      for column in table.columns {
        guard let description = table.description(of: column.name) else { continue }
        if description.isUnique || description.isIndexed || description.target != nil {
          wanted["\(table.name).\(column.name)"] = (column.name, description.isUnique)
        }
      }
      var problems: [String] = []
      for row in try Row.fetchAll(db, sql: "PRAGMA index_list(\(quoted(table.name)))") where row["origin"] == "c" {
        let name: String = row["name"]
        guard name.hasPrefix("\(table.name).") else { continue }
        if wanted[name]?.isUnique == (row["unique"] as Bool) {
          wanted[name] = nil
        } else {
          try db.execute(sql: "DROP INDEX \(quoted(name))")
        }
      }
      for (name, index) in wanted.sorted(by: { $0.key < $1.key }) {
        do {
          try db.execute(
            sql: """
              CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(quoted(name)) \
              ON \(quoted(table.name)) (\(quoted(index.column)))
              """)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
          problems.append("\(name) is to be unique, and is not")
        }
      }
      return problems
    }
  }
#endif
