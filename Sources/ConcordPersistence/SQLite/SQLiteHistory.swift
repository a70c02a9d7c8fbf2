#if Persistence
  import ConcordModel
  import Foundation
  import GRDB

  /// The shapes that a table of a file has had, as `concord_schema` has them, oldest first.
  ///
  /// An older program recognises by them a file that a newer one has migrated, instead of migrating it back; and a newer one knows which
  /// Swift types the values were stored from, which the columns do not say.
  struct SQLiteHistory {
    /// The properties of a table beyond its columns.
    struct Shape: Codable {
      /// By column, the name of its coding.
      var codings: [String: String]
      /// By column, its name in an earlier model, which is carried over already.
      var originalNames: [String: String]
      /// The name of a collection's table in an earlier model.
      var originalName: String?
      /// By column, such names that the model no longer names.
      var carriedNames: [String: String]?
      /// The version of the model.
      var version: Int?

      /// The original names that other columns have now.
      var takenNames: [String: String] {
        originalNames.filter { _, original in codings.keys.contains { $0.lowercased() == original.lowercased() } }
      }

      init(_ table: SQLiteSchema.Table) {
        codings = Dictionary(
          uniqueKeysWithValues: table.columns.compactMap { column in
            table.coding(of: column.name).map { (column.name, $0.name) }
          })
        originalNames = Dictionary(
          uniqueKeysWithValues: table.columns.compactMap { column in
            table.originalName(of: column.name).map { (column.name, $0) }
          })
        originalName = table.originalName
      }
    }

    struct Entry {
      let columns: String
      /// `nil` in files that were made before shapes were noted.
      let shape: Shape?
      /// Whether the table stayed as it was, since all values could be read as those of another type.
      let isCarried: Bool

      /// Whether a table fits with all that it means: a model that does not name what was exchanged is an earlier one.
      func describes(_ table: SQLiteSchema.Table) -> Bool {
        guard hasColumns(of: table), let shape else { return shape == nil && hasColumns(of: table) }
        let names = Shape(table).originalNames
        return shape.takenNames.allSatisfy { names[$0.key]?.lowercased() == $0.value.lowercased() }
      }

      /// Whether columns and codings are those of a table, regardless of original names.
      func hasColumns(of table: SQLiteSchema.Table) -> Bool {
        columns == table.fingerprint && (shape == nil || shape?.codings == Shape(table).codings)
      }
    }

    private let entries: [Entry]

    init(of table: String, _ db: Database) throws {
      guard try db.tableExists("concord_schema") else {
        entries = []
        return
      }
      let noted = try Self.notesShapes(db) ? "shape, CAST(carried AS TEXT)" : "NULL, NULL"
      entries = try Row.fetchAll(
        db, sql: "SELECT columns, \(noted) FROM concord_schema WHERE \"table\" = ? COLLATE NOCASE ORDER BY number",
        arguments: [table]
      ).map { row in
        Entry(
          columns: row.text(0), shape: try? JSONDecoder().decode(Shape.self, from: Data(row.text(1).utf8)),
          isCarried: row.text(2) == "1")
      }
    }

    /// The position of the entry since which the table is as it is.
    private var start: Int { entries.lastIndex { !$0.isCarried } ?? 0 }
    private var current: ArraySlice<Entry> { entries[start...] }
    private var earlier: ArraySlice<Entry> { entries[..<start] }

    /// The last shape; `nil` if none was noted.
    var shape: Shape? { current.last { $0.shape != nil }?.shape }

    /// The codings that the values of a column can be read with; the newest is the last.
    func codings(of column: String) -> [String] { current.compactMap { $0.shape?.codings[column] } }

    /// Whether a table with these codings needs not be looked at again.
    func knows(_ table: SQLiteSchema.Table) -> Bool {
      let wanted = Shape(table).codings
      return current.contains { $0.shape?.codings == wanted }
    }

    /// Whether the table was as it is wanted, before it was migrated.
    func isOlder(_ table: SQLiteSchema.Table) -> Bool { earlier.contains { $0.hasColumns(of: table) } }

    /// Whether the table was described like this before it was migrated, and has not been since. Its columns may fit all the same: with
    /// names that were exchanged, or with values that were converted to a related type.
    ///
    /// - Parameter version: that of the model. One that is higher than all of the table's is not an earlier model.
    func isOlderByDescription(_ table: SQLiteSchema.Table, version: Int) -> Bool {
      shape != nil && !current.contains { $0.describes(table) }
        && earlier.contains { $0.hasColumns(of: table) }
        && version <= entries.compactMap(\.shape?.version).max() ?? .max
    }

    /// The name of a column, in lower case, that was carried over to this one.
    func carriedName(of column: String) -> String? {
      func name(_ names: [String: String]?) -> String? {
        names?.first { $0.key.lowercased() == column.lowercased() }?.value.lowercased()
      }
      return name(shape?.originalNames) ?? name(shape?.carriedNames)
    }

    // MARK: Writing

    private static func notesShapes(_ db: Database) throws -> Bool {
      try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('concord_schema')").contains("shape")
    }

    private static func prepare(_ db: Database) throws {
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS concord_schema (
            number INTEGER PRIMARY KEY,
            entity TEXT NOT NULL,
            "table" TEXT NOT NULL,
            columns TEXT NOT NULL,
            shape TEXT,
            carried INTEGER
          )
          """)
      if try notesShapes(db) { return }
      try db.execute(
        sql: "ALTER TABLE concord_schema ADD COLUMN shape TEXT; ALTER TABLE concord_schema ADD COLUMN carried INTEGER")
    }

    /// Notes how a table looks from now on.
    ///
    /// - Parameters:
    ///   - version: the version of the model.
    ///   - names: by column, names that were carried over already. Names that were exchanged stay exchanged, also when a later model no
    ///     longer names the originals.
    static func add(
      _ table: SQLiteSchema.Table, version: Int, isCarried: Bool = false,
      keeping names: [String: String] = [:],
      _ db: Database
    ) throws {
      try prepare(db)
      var shape = Shape(table)
      shape.version = version
      shape.carriedNames = names
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      try db.execute(
        sql: "INSERT INTO concord_schema (entity, \"table\", columns, shape, carried) VALUES (?, ?, ?, ?, ?)",
        arguments: [
          table.entity.name, table.name, table.fingerprint, String(decoding: try encoder.encode(shape), as: UTF8.self),
          isCarried,
        ])
    }

    /// The tables of collections that an entity has or had.
    static func collections(of entity: EntityDescription, _ db: Database) throws -> [String] {
      guard try db.tableExists("concord_schema") else { return [] }
      return try String.fetchAll(
        db, sql: "SELECT DISTINCT \"table\" FROM concord_schema WHERE entity = ? COLLATE NOCASE",
        arguments: [entity.name]
      ).filter { $0.lowercased() != entity.name.lowercased() }
    }

    /// Drops the tables of collections that an entity no longer has.
    static func dropCollections(of entity: EntityDescription, except wanted: [String], _ db: Database) throws {
      let wanted = Set(wanted.map { $0.lowercased() })
      for table in try collections(of: entity, db) where !wanted.contains(table.lowercased()) {
        try db.execute(sql: "DROP TABLE IF EXISTS \(quoted(table))")
      }
    }
  }
#endif
