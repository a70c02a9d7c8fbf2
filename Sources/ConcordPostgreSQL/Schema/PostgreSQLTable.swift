#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence

  /// An entity's table, and the statements for it. All names are quoted, all values bound.
  ///
  /// The table has a column for each property, `id` for the key, `_id` where the id may look otherwise than the key, and `_stamp`. That of a
  /// collection has `_owner`, `_position`, `_key` for a dictionary, and the element.
  final class PostgreSQLTable: Sendable {
    let entity: EntityDescription
    let keyForm: ColumnForm
    /// The forms of the properties' columns, by position.
    let forms: [ColumnForm]
    /// Whether equal ids may be stored differently, or otherwise than their key, so that the id as given needs a column of its own.
    let keepsExactID: Bool
    /// The positions of the columns that are written as they are: all but the id.
    let storedPositions: [Int]
    let collections: [Collection]
    /// The result columns of a row: the properties by position, then the key unless it is among these, then the stamp.
    let resultColumns: String
    /// The columns without the stamp, for rows of which entities are made.
    let entityColumns: String
    let keyPosition: Int
    let stampPosition: Int
    /// The columns of which no two rows have equal values.
    let uniqueColumns: [PostgreSQLUniqueColumn]

    let selectRow: String
    /// The statement that reads the rows of an array of keys.
    let selectRows: String
    /// The statement that reads the rows that have changed since a position of the feed, and are few.
    let selectChanged: ChangesStatement
    /// The types of the columns that are written: the key, the id as given, all others, the stamp.
    let writtenTypes: [PostgreSQLType]
    let insert: String
    /// Inserts a row, or replaces an older one, unless its deletion is as new. After the parameters of the row stand its key, as the table of
    /// deletions has it, and the name of the entity. Gives the key and the id of the transaction if it is written.
    let insertNewest: String
    /// The statement that inserts or updates many rows, whose parameters are arrays. It returns the keys of those that are written.
    let insertNewestRows: String
    /// Inserts a row if there is none, unless its deletion is as new, with the same parameters.
    let insertMissing: String
    /// The statement that inserts many missing rows. It gives the keys of those that are written.
    let insertMissingRows: String
    let insertOrReplaceOlder: String
    let update: String
    let delete: String
    /// Deletes the rows of an array of keys.
    let deleteRows: String
    /// The statements that find who refers to an entity, by its name.
    let referrers: [String: (sql: String, form: ColumnForm)]

    /// The table of a collection.
    struct Collection: Sendable {
      let name: String
      let forms: [ColumnForm]
      let select: String
      let selectMany: String
      /// Inserts rows: arrays of the owners, the positions and the elements.
      let insert: String
      /// Deletes all rows from a position on.
      let deleteRest: String
      /// Deletes all rows of an array of owners.
      let deleteAll: String
    }

    init(_ entity: EntityDescription) {
      self.entity = entity
      let name = identifier(entity.name)
      keyForm = ColumnForm(keyOf: entity)
      forms = entity.columns.enumerated().map { position, column in
        position == entity.idPosition && entity.isIDItsKey
          ? ColumnForm(keyOf: entity) : ColumnForm(column, targets: entity.targets)
      }
      let keepsExactID = Self.keepsExactID(entity)
      self.keepsExactID = keepsExactID
      storedPositions = entity.columns.indices.filter { $0 != entity.idPosition }
      let isIDTheKey = entity.isIDItsKey && !keepsExactID
      let columnsOfKey = isIDTheKey && entity.idPosition != nil ? [] : ["\"id\""]
      keyPosition = (isIDTheKey ? entity.idPosition : nil) ?? entity.columns.count
      stampPosition = entity.columns.count + columnsOfKey.count
      let columns = entity.columns.indices.map { Self.resultColumn(entity, at: $0, keepsExactID) }
      entityColumns = (columns + columnsOfKey).joined(separator: ", ")
      resultColumns = (columns + columnsOfKey + ["\"_stamp\""]).joined(separator: ", ")
      selectRow = "SELECT \(resultColumns) FROM \(name) WHERE \"id\" = $1"
      let selectAny = "SELECT \(resultColumns) FROM \(name) WHERE \"id\" = ANY"
      selectRows = "\(selectAny)($1)"
      let selectKeys = "SELECT unnest(keys)::\(keyForm.type.rawValue) FROM"
      selectChanged = ChangesStatement { select in
        "\(selectAny)(ARRAY(\(selectKeys) (\(select("keys", " AND entity = $3"))) AS c LIMIT \(ToldRows.most)))"
      }
      let written =
        ["\"id\""] + (keepsExactID ? ["\"_id\""] : [])
        + storedPositions.map { identifier(columnName(entity.columns[$0].name)) } + ["\"_stamp\""]
      let values = """
        INSERT INTO \(name) (\(written.joined(separator: ", "))) \
        VALUES (\(written.indices.map { "$\($0 + 1)" }.joined(separator: ", "))) ON CONFLICT
        """
      let uniqueColumns = storedPositions.filter { entity.columns[$0].isUnique }.map { [forms] in
        PostgreSQLUniqueColumn(entity, at: $0, forms[$0])
      }
      self.uniqueColumns = uniqueColumns
      // Where no values but the keys are unique, a constraint that an administrator has added is not to hide a row that is missing.
      let doNothing = "\(uniqueColumns.isEmpty ? "(\"id\") " : "")DO NOTHING"
      insert = "\(values) \(doNothing)"
      let replaced = written.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
      insertOrReplaceOlder =
        "\(values) (\"id\") DO UPDATE SET \(replaced) WHERE excluded.\"_stamp\" > \(name).\"_stamp\""
      let forms = forms
      let types =
        [keyForm.type] + (keepsExactID ? entity.idPosition.map { [forms[$0].type] } ?? [] : [])
        + storedPositions.map { forms[$0].type } + [.double]
      writtenTypes = types
      func insertion(_ values: String, from source: String, _ stamp: String, _ key: String) -> String {
        """
        INSERT INTO \(name) (\(written.joined(separator: ", "))) SELECT \(values)\(source) \
        WHERE NOT EXISTS (SELECT FROM concord_deletions AS d \
        WHERE d."table" = $\(written.count + 2) AND d."key" = \(key) AND d.stamp >= \(stamp)) ON CONFLICT
        """
      }
      let insertOne = insertion(
        written.indices.map { "$\($0 + 1)" }.joined(separator: ", "), from: "", "$\(written.count)",
        "$\(written.count + 1)")
      let names = (written.indices.map { "c\($0)" } + ["k"]).joined(separator: ", ")
      let insertMany = insertion(
        written.indices.map { "u.c\($0)" }.joined(separator: ", "),
        from: " FROM unnest(\((0...written.count).map { "$\($0 + 1)" }.joined(separator: ", "))) AS u(\(names))",
        "u.c\(written.count - 1)", "u.k")
      let replaceOlder = """
         ("id") DO UPDATE SET \(replaced) WHERE excluded."_stamp" > \(name)."_stamp" RETURNING "id"
        """
      insertNewest = insertOne + replaceOlder + ", pg_current_xact_id()"
      insertNewestRows = insertMany + replaceOlder
      let keep = " \(doNothing) RETURNING \"id\""
      (insertMissing, insertMissingRows) = (insertOne + keep, insertMany + keep)
      let assigned = written.enumerated().dropFirst().map { "\($1) = $\($0 + 1)" }.joined(separator: ", ")
      update = "UPDATE \(name) SET \(assigned) WHERE \"id\" = $1"
      delete = "DELETE FROM \(name) WHERE \"id\" = $1"
      deleteRows = "DELETE FROM \(name) WHERE \"id\" = ANY($1)"
      collections = entity.collections.map { Self.collection($0, of: entity) }
      referrers = Self.referrers(of: entity)
    }

    static func keepsExactID(_ entity: EntityDescription) -> Bool {
      guard let position = entity.idPosition else { return false }
      // Where a store may compare ids itself, equal ones are stored the same.
      let comparison = entity.columns[position].comparison
      return comparison == .none || comparison == .text || !entity.isIDItsKey
    }

    /// Returns the value of the column of the id as given: nothing, where the key determines it.
    func exactID(_ id: StoredValue, key: StoredValue) -> StoredValue { entity.isIDItsKey && id == key ? .null : id }

    /// - Parameter table: what the column is written with, as `"Book".`.
    static func resultColumn(
      _ entity: EntityDescription, at position: Int, _ keepsExactID: Bool, of table: String = ""
    ) -> String {
      guard position == entity.idPosition else {
        return "\(table)\(identifier(columnName(entity.columns[position].name)))"
      }
      if !entity.isIDItsKey { return "\(table)\"_id\"" }
      return keepsExactID ? "COALESCE(\(table)\"_id\", \(table)\"id\")" : "\(table)\"id\""
    }

    /// Updates some columns of the row with a key, which is the last parameter but one, and the stamp, which is the last.
    func update(of positions: [Int]) -> String {
      let names = positions.enumerated().map {
        "\(identifier(columnName(entity.columns[$1].name))) = $\($0 + 1)"
      }
      let (key, stamp) = (positions.count + 1, positions.count + 2)
      return """
        UPDATE \(identifier(entity.name)) SET \((names + ["\"_stamp\" = $\(stamp)"]).joined(separator: ", ")) \
        WHERE "id" = $\(key)
        """
    }

    /// Updates some columns of many rows: arrays of their values, of the keys and of the stamps.
    func updateRows(of positions: [Int]) -> String {
      let names = positions.enumerated().map { "\(identifier(columnName(entity.columns[$1].name))) = u.c\($0)" }
      let columns = positions.indices.map { "c\($0)" } + ["k", "s"]
      return """
        UPDATE \(identifier(entity.name)) AS t SET \((names + ["\"_stamp\" = u.s"]).joined(separator: ", ")) \
        FROM unnest(\(columns.indices.map { "$\($0 + 1)" }.joined(separator: ", "))) AS u(\(columns.joined(separator: ", "))) \
        WHERE t."id" = u.k
        """
    }

    static func tableName(_ collection: CollectionDescription, of entity: EntityDescription) -> String {
      "\(entity.name)_\(collection.name)"
    }

    private static func collection(_ collection: CollectionDescription, of entity: EntityDescription) -> Collection {
      let name = tableName(collection, of: entity)
      let table = identifier(name)
      let columns = columnNames(collection).map { identifier($0) }
      let list = columns.joined(separator: ", ")
      return Collection(
        name: name, forms: collection.columns.map { ColumnForm($0, targets: entity.targets) },
        select: "SELECT \(list) FROM \(table) WHERE \"_owner\" = $1 ORDER BY \"_position\"",
        selectMany:
          "SELECT \(list), \"_owner\" FROM \(table) WHERE \"_owner\" = ANY($1) ORDER BY \"_owner\", \"_position\"",
        insert: """
          INSERT INTO \(table) ("_owner", "_position", \(list)) \
          SELECT * FROM unnest(\((1...columns.count + 2).map { "$\($0)" }.joined(separator: ", ")))
          """,
        deleteRest: "DELETE FROM \(table) WHERE \"_owner\" = $1 AND \"_position\" >= $2",
        deleteAll: "DELETE FROM \(table) WHERE \"_owner\" = ANY($1)")
    }

    /// The names of the columns of a collection's row, by position.
    static func columnNames(_ collection: CollectionDescription) -> [String] {
      (collection.key == nil ? [] : ["_key"]) + collection.elements.map { columnName($0.name) }
    }

    private static func referrers(of entity: EntityDescription) -> [String: (sql: String, form: ColumnForm)] {
      var parts: [String: (selects: [String], form: ColumnForm)] = [:]
      func add(_ column: ColumnDescription, _ select: String) {
        guard let target = column.target else { return }
        parts[target, default: ([], ColumnForm(column, targets: entity.targets))].selects.append(select)
      }
      for column in entity.columns {
        add(column, "SELECT \"id\" FROM \(identifier(entity.name)) WHERE \(identifier(columnName(column.name))) = $1")
      }
      for collection in entity.collections {
        for (column, name) in zip(collection.columns, columnNames(collection)) {
          add(
            column,
            "SELECT \"_owner\" FROM \(identifier(tableName(collection, of: entity))) WHERE \(identifier(name)) = $1")
        }
      }
      return parts.mapValues { ($0.selects.joined(separator: " UNION "), $0.form) }
    }
  }
#endif
