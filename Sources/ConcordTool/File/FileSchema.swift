#if Tool
  import ConcordPersistence
  import GRDB

  /// The tables of a file, as the file itself describes them.
  struct FileSchema {
    /// The tables of entities, each followed by those of its collections.
    let tables: [FileTable]
    /// The tables that contain no entities.
    let otherTables: [String]
    /// The names of the file's triggers.
    let triggers: [String]
    /// Whether the file records the targets of references.
    let knowsRelations: Bool

    init(_ db: Database, file: String) throws {
      let present = try Row.fetchAll(
        db,
        sql: """
          SELECT name, CAST(sql LIKE 'CREATE VIRTUAL%' AS TEXT) FROM sqlite_master
          WHERE type = 'table' AND name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY rowid
          """)
      let names = present.filter { $0.text(1) != "1" }.map { $0.text(0) }
      guard names.contains("concord_schema") else {
        throw ToolError(.notConcord, "\(file) holds no entities of Concord's")
      }
      var owners: [String: (entity: String, columns: String)] = [:]
      for row in try Row.fetchAll(db, sql: "SELECT entity, \"table\", columns FROM concord_schema ORDER BY number") {
        owners[row.text(1)] = (row.text(0), row.text(2))
      }
      triggers = try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
      knowsRelations = names.contains("concord_relations")
      var targets: [String: [String: String]] = [:]
      if knowsRelations {
        for row in try Row.fetchAll(db, sql: "SELECT \"table\", \"column\", target FROM concord_relations") {
          targets[row.text(0), default: [:]][row.text(1)] = row.text(2)
        }
      }
      var tables: [FileTable] = []
      let entities = names.filter { owners[$0]?.entity == $0 }
      for entity in entities {
        let collections = names.filter { $0 != entity && owners[$0]?.entity == entity }
        for name in [entity] + collections {
          tables.append(
            try FileTable(
              name, of: entity, declared: owners[name]?.columns ?? "", targets: targets[name] ?? [:], db))
        }
      }
      self.tables = tables
      otherTables = names.filter { name in
        !name.hasPrefix("concord_") && !tables.contains { $0.name == name }
      }
    }

    var entities: [FileTable] { tables.filter(\.isEntity) }

    func collections(of entity: String) -> [FileTable] { tables.filter { $0.entity == entity && !$0.isEntity } }

    func table(_ name: String) -> FileTable? { tables.first { $0.name == name } }

    /// Returns a table by its name.
    ///
    /// - Throws: an error that lists the existing tables.
    func requiredTable(_ name: String, _ status: ExitStatus = .usage) throws -> FileTable {
      if let table = table(name) { return table }
      throw ToolError(status, "there is no table '\(name)'; there are \(list(tables.map(\.name)))")
    }
  }

  /// A table of entities, or of the elements of their collections.
  struct FileTable {
    let name: String
    let entity: String
    let columns: [FileColumn]
    /// The columns as recorded when the table was made or last changed.
    let declared: String
    let indexes: [FileIndex]

    init(_ name: String, of entity: String, declared: String, targets: [String: String], _ db: Database) throws {
      self.name = name
      self.entity = entity
      self.declared = declared
      columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(quoted(name)))").map { row in
        FileColumn(
          name: row["name"], type: row["type"], isRequired: row["notnull"], isKey: (row["pk"] as Int) > 0,
          target: targets[row["name"]])
      }
      indexes = try Row.fetchAll(db, sql: "PRAGMA index_list(\(quoted(name)))").filter { $0["origin"] == "c" }.map {
        row in
        let name: String = row["name"]
        let columns = try Row.fetchAll(db, sql: "PRAGMA index_info(\(quoted(name)))").compactMap {
          $0["name"] as String?
        }
        return FileIndex(columns: columns, isUnique: row["unique"])
      }
    }

    var isEntity: Bool { name == entity }
    /// The name of the collection in the entity: `reviews` of `Book_reviews`.
    var collection: String { String(name.dropFirst(entity.count + 1)) }
    /// The columns that identify a row.
    var keys: [FileColumn] { columns.filter(\.isKey) }
    var order: String { keys.map { quoted($0.name) }.joined(separator: ", ") }

    func column(_ name: String) -> FileColumn? { columns.first { $0.name == name } }

    /// Returns a column by its name.
    ///
    /// - Throws: an error that lists the existing columns.
    func requiredColumn(_ name: String, _ status: ExitStatus = .usage) throws -> FileColumn {
      if let column = column(name) { return column }
      throw ToolError(status, "\(self.name) has no column '\(name)'; it has \(list(columns.map(\.name)))")
    }

    func count(_ db: Database) throws -> Int {
      try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM \(quoted(name))") ?? 0
    }
  }

  struct FileColumn {
    let name: String
    /// The declared type; empty for a column with values of several kinds.
    let type: String
    let isRequired: Bool
    let isKey: Bool
    /// The entity that a reference leads to.
    let target: String?

    /// The declaration in the form of `concord_schema`.
    var declaration: String {
      [quoted(name), type, isRequired ? "NOT NULL" : "", isKey ? "KEY" : ""].filter { !$0.isEmpty }
        .joined(separator: " ")
    }
  }

  struct FileIndex {
    let columns: [String]
    let isUnique: Bool
  }

  /// Returns names as a list: `a, b and c`.
  func list(_ names: [String]) -> String {
    guard let last = names.last else { return "none" }
    return names.count == 1 ? last : "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }
#endif
