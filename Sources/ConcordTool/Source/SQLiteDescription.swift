#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB

  /// The description of the tables in a file.
  struct SQLiteDescription {
    let schema: SourceSchema
    /// By table, the columns in the form of `concord_schema`, as they were recorded when the table was made or last changed.
    private let declared: [String: String]

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
      let knowsRelations = names.contains("concord_relations")
      var targets: [String: [String: String]] = [:]
      if knowsRelations {
        for row in try Row.fetchAll(db, sql: "SELECT \"table\", \"column\", target FROM concord_relations") {
          targets[row.text(0), default: [:]][row.text(1)] = row.text(2)
        }
      }
      var tables: [SourceTable] = []
      let entities = names.filter { owners[$0]?.entity == $0 }
      for entity in entities {
        let collections = names.filter { $0 != entity && owners[$0]?.entity == entity }
        for name in [entity] + collections {
          tables.append(try Self.table(name, of: entity, targets: targets[name] ?? [:], db))
        }
      }
      declared = owners.mapValues(\.columns)
      schema = SourceSchema(
        tables: tables,
        otherTables: names.filter { name in
          !name.hasPrefix("concord_") && !tables.contains { $0.name == name }
        },
        // Those of the feed are Concord's.
        triggers: try String.fetchAll(
          db,
          sql: """
            SELECT name FROM sqlite_master WHERE type = 'trigger' AND name NOT GLOB 'concord_feed.*' \
            AND name NOT GLOB 'concord_search.*' ORDER BY name
            """),
        knowsRelations: knowsRelations)
    }

    private static func table(
      _ name: String, of entity: String, targets: [String: String], _ db: Database
    ) throws -> SourceTable {
      // An index of some rows only does not make a column unique or indexed.
      var indexes: [String: SourceColumn.Index] = [:]
      for row in try Row.fetchAll(db, sql: "PRAGMA index_list(\(quoted(name)))")
      where row["origin"] == "c" && !(row["partial"] as Bool) {
        let columns = try Row.fetchAll(db, sql: "PRAGMA index_info(\(quoted(row["name"] as String)))").map {
          $0["name"] as String?
        }
        if columns.count == 1, let column = columns[0], indexes[column] == nil {
          indexes[column] = row["unique"] ? .unique : .indexed
        }
      }
      return SourceTable(
        name: name, entity: entity, sql: quoted(name),
        columns: try Row.fetchAll(db, sql: "PRAGMA table_info(\(quoted(name)))").map { row in
          let column: String = row["name"]
          return SourceColumn(
            name: column, sql: quoted(column), type: row["type"], storageClass: row["type"],
            isRequired: row["notnull"], isKey: (row["pk"] as Int) > 0, target: targets[column], index: indexes[column])
        })
    }

    /// Returns the differences between a table and its record.
    func differences(of table: SourceTable) -> [String] {
      let present = table.columns.map { column in
        [quoted(column.name), column.type, column.isRequired ? "NOT NULL" : "", column.isKey ? "KEY" : ""]
          .filter { !$0.isEmpty }.joined(separator: " ")
      }
      // The order may differ.
      var missing = ", " + (declared[table.name] ?? "")
      var added: [String] = []
      for declaration in present.sorted(by: { $0.utf8.count > $1.utf8.count }) {
        if let range = missing.range(of: ", " + declaration) {
          missing.removeSubrange(range)
        } else {
          added.append(declaration)
        }
      }
      var differences: [String] = []
      if !missing.isEmpty { differences.append("\(table.name) should have \(missing.dropFirst(2))") }
      if !added.isEmpty {
        differences.append("\(table.name) has \(added.reversed().joined(separator: ", ")), which was not noted")
      }
      return differences
    }
  }
#endif
