#if PostgreSQL
  import ConcordModel

  /// The tables that a model wants in a schema of the database.
  struct PostgreSQLSchema {
    let entities: [EntityDescription]
    let migrations: [ColumnMigration]
    let store: String
    let name: String
    /// Whether tables that differ are migrated.
    let migrates: Bool
    /// The version of the model.
    let version: Int
    /// Whether an entity and one that it refers to are always kept together.
    let areTogether: @Sendable (EntityDescription, EntityDescription) -> Bool

    struct Column: Hashable {
      var name: String
      /// The type, as the server spells it.
      var type: String
      var isRequired: Bool
      var isKey = false

      func sql(_ form: ColumnForm) -> String {
        "\(identifier(name)) \(form.declaration)\(isRequired ? " NOT NULL" : "")"
      }
    }

    /// A table as the model wants it.
    struct Table {
      let name: String
      let entity: EntityDescription
      /// `nil` for the table of the entity itself.
      let collection: CollectionDescription?
      let columns: [(column: Column, form: ColumnForm, description: ColumnDescription?)]

      var createSQL: String {
        let keys = columns.filter(\.column.isKey).map { identifier($0.column.name) }.joined(separator: ", ")
        let lines = columns.map { "  \($0.column.sql($0.form))" } + ["  PRIMARY KEY (\(keys))"]
        return "CREATE TABLE \(identifier(name)) (\n\(lines.joined(separator: ",\n"))\n)"
      }
    }

    var tables: [Table] {
      entities.flatMap { entity in
        [Table(name: entity.name, entity: entity, collection: nil, columns: Self.columns(of: entity))]
          + entity.collections.map {
            Table(
              name: PostgreSQLTable.tableName($0, of: entity), entity: entity, collection: $0,
              columns: Self.columns(of: $0, in: entity))
          }
      }
    }

    private static func columns(
      of entity: EntityDescription
    ) -> [(column: Column, form: ColumnForm, description: ColumnDescription?)] {
      let table = PostgreSQLTable(entity)
      func column(_ name: String, _ form: ColumnForm, isRequired: Bool, isKey: Bool = false) -> Column {
        Column(name: name, type: form.type.rawValue, isRequired: isRequired, isKey: isKey)
      }
      var found: [(column: Column, form: ColumnForm, description: ColumnDescription?)] = [
        (column("id", table.keyForm, isRequired: true, isKey: true), table.keyForm, nil)
      ]
      for position in table.storedPositions {
        let description = entity.columns[position]
        let form = table.forms[position]
        found.append(
          (column(columnName(description.name), form, isRequired: !description.isOptional), form, description))
      }
      if table.keepsExactID, let position = entity.idPosition {
        found.append((column("_id", table.forms[position], isRequired: false), table.forms[position], nil))
      }
      found.append((column("_stamp", .real, isRequired: true), .real, nil))
      return found
    }

    private static func columns(
      of collection: CollectionDescription, in entity: EntityDescription
    ) -> [(column: Column, form: ColumnForm, description: ColumnDescription?)] {
      let key = ColumnForm(keyOf: entity)
      return [
        (Column(name: "_owner", type: key.type.rawValue, isRequired: true, isKey: true), key, nil),
        (
          Column(name: "_position", type: PostgreSQLType.bigint.rawValue, isRequired: true, isKey: true),
          ColumnForm.integer,
          nil
        ),
      ]
        + zip(collection.columns, PostgreSQLTable.columnNames(collection)).map { description, name in
          let form = ColumnForm(description, targets: entity.targets)
          return (
            Column(name: name, type: form.type.rawValue, isRequired: !description.isOptional), form, description
          )
        }
    }

    // MARK: Indexes and references

    /// An index, with what makes it.
    struct Index: Hashable {
      let name: String
      var isUnique = false
      let sql: String
    }

    func indexes(_ table: Table) -> [Index] {
      var found: [Index] = []
      for (column, form, description) in table.columns {
        guard let description else { continue }
        let isText = form == .text && description.comparison == .text && description.role == .value
        if description.isUnique || description.isIndexed || description.target != nil {
          let name = "\(table.name).\(column.name)"
          found.append(
            Index(
              name: name, isUnique: description.isUnique,
              sql: """
                CREATE \(description.isUnique ? "UNIQUE " : "")INDEX \(identifier(name)) \
                ON \(identifier(table.name)) \(Self.indexed(column, form, description, table))
                """))
        }
        if isText, description.isIndexed || description.isUnique {
          let name = "\(table.name).\(column.name).nonplain"
          let quoted = identifier(column.name)
          found.append(
            Index(
              name: name,
              sql: """
                CREATE INDEX \(identifier(name)) ON \(identifier(table.name)) (\(quoted)) \
                WHERE \(PostgreSQLOrder.isNotPlain(quoted))
                """))
        }
      }
      return found
    }

    /// The values that an index has.
    private static func indexed(
      _ column: Column, _ form: ColumnForm, _ description: ColumnDescription, _ table: Table
    ) -> String {
      if description.isUnique, table.collection == nil,
        let position = table.entity.columns.firstIndex(where: { columnName($0.name) == column.name })
      {
        return PostgreSQLUniqueColumn(table.entity, at: position, form).indexed
      }
      let quoted = identifier(column.name)
      let expression = form.type == .double ? "(\(PostgreSQLOrder.real(quoted)))" : quoted
      return "(\(expression)\(column.isRequired ? "" : " NULLS FIRST"))"
    }

    /// A reference that the server keeps from leading nowhere.
    struct ForeignKey: Hashable {
      let name: String
      let sql: String
    }

    /// The required references of a table, and the owners of a collection's rows.
    func foreignKeys(_ table: Table) -> [ForeignKey] {
      var found: [ForeignKey] = []
      func add(_ column: String, _ target: String, _ ending: String) {
        let name = "\(table.name).\(column)->\(target)"
        found.append(
          ForeignKey(
            name: name,
            sql: """
              ALTER TABLE \(identifier(table.name)) ADD CONSTRAINT \(identifier(name)) \
              FOREIGN KEY (\(identifier(column))) REFERENCES \(identifier(target)) ("id")\(ending) \
              DEFERRABLE INITIALLY DEFERRED
              """))
      }
      if table.collection != nil { add("_owner", table.entity.name, " ON DELETE CASCADE") }
      guard table.collection == nil else { return found }
      for (column, _, description) in table.columns {
        guard let description, description.role == .reference, !description.isOptional, let name = description.target,
          let target = entities.first(where: { $0.name == name }), areTogether(table.entity, target)
        else { continue }
        add(column.name, name, "")
      }
      return found
    }
  }
#endif
