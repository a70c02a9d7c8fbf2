#if PostgreSQL
  import ConcordModel
  import Foundation

  /// The note of a table in `concord_tables`, by which a program without the model reads, checks and copies the table.
  struct TableNote: Codable, Equatable {
    struct Column: Codable, Equatable {
      /// The name in the model, and in the other stores. See ``columnName(_:)``.
      let name: String
      let form: ColumnForm
      /// The type that a column of an SQLite file has.
      let storageClass: String
      /// The type of the server.
      let type: String
      let isRequired: Bool
      let isKey: Bool
      /// The name of the coding; `nil` for a column that is the store's own.
      let coding: String?
      /// The entity that the column refers to.
      let target: String?
      /// Whether no two rows have equal values, some of which may be stored differently. See ``PostgreSQLUniqueColumn``.
      let isComparedApart: Bool
    }

    /// An index, a foreign key or a trigger.
    struct Part: Codable, Equatable {
      let name: String
      let sql: String
      var isUnique = false
    }

    let table: String
    let entity: String
    let columns: [Column]
    let create: String
    let indexes: [Part]
    let foreignKeys: [Part]
    let triggers: [Part]
    /// The index of the words of the table; `nil` if none of its columns is searched.
    let words: Words?

    /// An index of words.
    struct Words: Codable, Equatable {
      /// The names of the searchable columns.
      let columns: [String]
      /// The name of the column of vectors.
      let form: String
      /// The names of the triggers.
      let triggers: [String]
      /// The statements that make it.
      let create: [String]
    }

    init(_ table: PostgreSQLSchema.Table, _ schema: PostgreSQLSchema) {
      (self.table, entity, create) = (table.name, table.entity.name, table.createSQL)
      let ownNames = ["id", "_id", "_owner", "_position", "_stamp"]
      columns = table.columns.map { column, form, description in
        let isOwn = description == nil
        let isID = column.name == "id" || column.name == "_owner"
        let storageClass: StorageClass =
          switch column.name {
          case "id" where table.collection == nil, "_owner": table.entity.keyStorageClass
          case "_id" where isOwn: table.entity.idPosition.map { table.entity.columns[$0].storageClass } ?? .any
          case "_position" where isOwn: .integer
          case "_stamp" where isOwn: .real
          default: description?.storageClass ?? .any
          }
        let coding = description?.coding.name ?? (isID ? table.entity.keyCoding.name : nil)
        return Column(
          name: Self.name(of: column, description, isOwn: ownNames.contains(column.name)), form: form,
          storageClass: storageClass.rawValue, type: column.type, isRequired: column.isRequired, isKey: column.isKey,
          coding: coding, target: description?.target,
          isComparedApart: description.map { $0.isUnique && !$0.isExact && table.collection == nil } ?? false)
      }
      indexes = schema.indexes(table).map { Part(name: storedName($0.name), sql: $0.sql, isUnique: $0.isUnique) }
      foreignKeys = schema.foreignKeys(table).map { Part(name: storedName($0.name), sql: $0.sql) }
      triggers = FeedTables.triggers(table).map { Part(name: $0.name, sql: $0.sql) }
      words = table.collection == nil ? PostgreSQLSearchIndex(table.entity).map { Words($0) } : nil
    }

    /// The name that the other stores give a column.
    private static func name(
      of column: PostgreSQLSchema.Column, _ description: ColumnDescription?, isOwn: Bool
    ) -> String {
      // The key of a dictionary is a value with a description, and its column has a name of its own.
      guard !isOwn, column.name != "_key", let description else { return column.name }
      return description.name
    }

    /// The statement that notes it.
    func sql() throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let text = String(decoding: try encoder.encode(self), as: UTF8.self)
      return """
        INSERT INTO concord_tables ("table", note) VALUES (\(literal(storedName(table))), \(literal(text))) \
        ON CONFLICT ("table") DO UPDATE SET note = excluded.note
        """
    }

    /// `is_filled` is false after rows were written by somebody who cannot tell which of their unique values are equal.
    static let tableSQL = """
      CREATE TABLE IF NOT EXISTS concord_tables (
        number bigint GENERATED ALWAYS AS IDENTITY, "table" text COLLATE "C" PRIMARY KEY, note text NOT NULL,
        is_filled boolean NOT NULL DEFAULT true
      )
      """
  }

  extension TableNote.Words {
    init(_ index: PostgreSQLSearchIndex) {
      columns = index.positions.map { index.entity.columns[$0].name }
      (form, triggers, create) = (
        index.form.name, index.triggers.map(\.name).sorted(), index.missing(nil, [], areEnabled: true)
      )
    }
  }
#endif
