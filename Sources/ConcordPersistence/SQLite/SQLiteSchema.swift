#if Persistence
  import ConcordModel
  import GRDB

  /// The tables of a model in a file: made where there are none, compared where there are.
  struct SQLiteSchema {
    let entities: [EntityDescription]
    let store: String

    /// Makes what is missing as a whole.
    ///
    /// - Throws: ``StoreError/incompatibleStore(store:differences:)`` if a table is there with other columns.
    func prepare(_ db: Database) throws {
      var differences: [String] = []
      for entity in entities {
        let tables =
          [(entity.name, Self.columns(of: entity))]
          + entity.collections.map {
            (SQLiteTable.tableName($0, of: entity), Self.columns(of: $0, in: entity))
          }
        for (table, columns) in tables {
          if let present = try presentColumns(table, db) {
            differences += Self.differences(table, present, columns)
          } else {
            try create(table, columns, isCollection: table != entity.name, db)
          }
        }
      }
      guard differences.isEmpty else {
        throw StoreError.incompatibleStore(store: store, differences: differences)
      }
      for entity in entities { try createIndexes(entity, db) }
    }

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

    static func columns(of entity: EntityDescription) -> [Column] {
      // An id of another class than the key's would be converted by the column's affinity.
      var columns = [Column(name: "id", type: entity.keyStorageClass.rawValue, isRequired: true, isKey: true)]
      for column in entity.columns where column.name != "id" {
        columns.append(Column(name: column.name, type: column.storageClass.rawValue, isRequired: !column.isOptional))
      }
      if SQLiteTable.keepsExactID(entity) {
        columns.append(Column(name: "_id", type: entity.keyStorageClass.rawValue, isRequired: false))
      }
      return columns + [Column(name: "_stamp", type: "REAL", isRequired: true)]
    }

    static func columns(of collection: CollectionDescription, in entity: EntityDescription) -> [Column] {
      [
        Column(name: "_owner", type: entity.keyStorageClass.rawValue, isRequired: true, isKey: true),
        Column(name: "_position", type: "INTEGER", isRequired: true, isKey: true),
      ]
        + zip(collection.columns, collection.columnNames).map {
          Column(name: $1, type: $0.storageClass.rawValue, isRequired: !$0.isOptional)
        }
    }

    private func create(_ table: String, _ columns: [Column], isCollection: Bool, _ db: Database) throws {
      let keys = columns.filter(\.isKey).map { quoted($0.name) }.joined(separator: ", ")
      var lines: [String]
      if isCollection {
        lines = columns.map(\.sql) + ["PRIMARY KEY (\(keys))"]
      } else {
        lines = columns.map { $0.isKey ? "\($0.sql) PRIMARY KEY" : $0.sql }
      }
      lines = lines.map { "  \($0)" }
      try db.execute(
        sql:
          "CREATE TABLE \(quoted(table)) (\n\(lines.joined(separator: ",\n"))\n)\(isCollection ? " WITHOUT ROWID" : "")"
      )
    }

    private func createIndexes(_ entity: EntityDescription, _ db: Database) throws {
      for column in entity.columns where column.isUnique || column.isIndexed || column.target != nil {
        try createIndex(column.name, of: entity.name, isUnique: column.isUnique, db)
      }
      for collection in entity.collections {
        for (column, name) in zip(collection.columns, collection.columnNames) where column.target != nil {
          try createIndex(name, of: SQLiteTable.tableName(collection, of: entity), isUnique: false, db)
        }
      }
    }

    private func createIndex(_ column: String, of table: String, isUnique: Bool, _ db: Database) throws {
      let name = quoted("\(table).\(column)")
      try db.execute(
        sql: "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(name) ON \(quoted(table)) (\(quoted(column)))")
    }

    private func presentColumns(_ table: String, _ db: Database) throws -> [Column]? {
      let rows = try Row.fetchAll(db, sql: "PRAGMA table_info(\(quoted(table)))")
      if rows.isEmpty { return nil }
      return rows.map { row in
        Column(name: row["name"], type: row["type"], isRequired: row["notnull"], isKey: (row["pk"] as Int) > 0)
      }
    }

    private static func differences(_ table: String, _ present: [Column], _ wanted: [Column]) -> [String] {
      let present = Dictionary(present.map { ($0.name, $0) }) { first, _ in first }
      let names = Set(wanted.map(\.name))
      var differences = present.keys.filter { !names.contains($0) }.sorted().map {
        "\(table).\($0) is not in the model"
      }
      for column in wanted {
        guard let there = present[column.name] else {
          differences.append("\(table).\(column.name) is missing")
          continue
        }
        if there.type != column.type {
          differences.append(
            "\(table).\(column.name) is \(there.type.isEmpty ? "any" : there.type), not \(column.type)")
        } else if there.isRequired != column.isRequired {
          differences.append("\(table).\(column.name) is \(there.isRequired ? "required" : "optional") in the file")
        }
      }
      return differences
    }
  }
#endif
