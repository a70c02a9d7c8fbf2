#if PostgreSQL
  /// A table as the database describes it to a program without the model.
  package struct InspectedTable: Sendable {
    package struct Column: Sendable {
      /// The name in the model.
      package let name: String
      /// The name, as a statement has it.
      package let sql: String
      /// The type of the server.
      package let type: String
      /// The type that the column of an SQLite file has.
      package let storageClass: String
      package let isRequired: Bool
      package let isKey: Bool
      package let target: String?
      package let isIndexed: Bool
      package let isUnique: Bool
      let form: ColumnForm
    }

    package let name: String
    package let entity: String
    /// The name, as a statement has it.
    package let sql: String
    package let columns: [Column]
    /// The differences from the noted table.
    package let differences: [String]
    let note: TableNote

    init(_ note: TableNote, _ present: PostgreSQLSchema.Present, _ disabled: Set<String>) {
      (name, entity, sql, self.note) = (note.table, note.entity, identifier(note.table), note)
      let stored = storedName(note.table)
      let known = Dictionary(note.columns.map { (storedName(columnName($0.name)), $0) }) { first, _ in first }
      func index(_ column: String) -> (isUnique: Bool, table: String)? {
        present.indexes[storedName("\(note.table).\(column)")]
      }
      var differences: [String] = []
      var columns: [Column] = []
      for column in present.tables[stored] ?? [] {
        let noted = known[column.name]
        guard let form = noted?.type == column.type ? noted?.form : ColumnForm(type: column.type) else {
          differences.append("\(note.table) has \(column.name), whose type \(column.type) is not known")
          continue
        }
        if let noted, noted.type != column.type || noted.isRequired != column.isRequired {
          differences.append(
            "\(note.table).\(noted.name) is \(Self.shape(column.type, column.isRequired)), "
              + "and was noted as \(Self.shape(noted.type, noted.isRequired))")
        } else if noted == nil {
          differences.append("\(note.table) has \(column.name), which was not noted")
        }
        let isIndexed = index(columnName(noted?.name ?? column.name))
        columns.append(
          Column(
            name: noted?.name ?? column.name, sql: identifier(column.name), type: column.type,
            storageClass: noted?.storageClass ?? form.storageClass, isRequired: column.isRequired,
            isKey: column.isKey, target: noted?.target, isIndexed: isIndexed != nil,
            isUnique: isIndexed?.isUnique ?? false, form: form))
      }
      let names = Set((present.tables[stored] ?? []).map(\.name))
      for column in note.columns where !names.contains(storedName(columnName(column.name))) {
        differences.append("\(note.table) lacks its column \(column.name)")
      }
      for part in note.indexes where present.indexes[part.name]?.isUnique != part.isUnique {
        differences.append("\(note.table) lacks the index \(part.name)")
      }
      for part in note.foreignKeys where present.foreignKeys[part.name] != stored {
        differences.append("\(note.table) lacks the foreign key \(part.name)")
      }
      for part in note.triggers where present.triggers[stored]?.contains(part.name) != true {
        differences.append("\(note.table) lacks the trigger \(part.name), so that programs miss what others write")
      }
      for name in disabled.sorted() {
        differences.append("the trigger \(name) of \(note.table) is disabled, so that programs miss what others write")
      }
      (self.columns, self.differences) = (columns, differences)
    }

    private static func shape(_ type: String, _ isRequired: Bool) -> String { isRequired ? "\(type) NOT NULL" : type }
  }

  extension ColumnForm {
    /// The type of an SQLite file's column, for one of which nothing is noted.
    fileprivate var storageClass: String {
      switch self {
      case .integer, .boolean: "INTEGER"
      case .real, .float: "REAL"
      case .text, .uuid: "TEXT"
      case .bytes: "BLOB"
      case .unsigned, .any: ""
      }
    }
  }
#endif
