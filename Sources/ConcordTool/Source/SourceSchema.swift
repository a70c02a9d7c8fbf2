#if Tool
  import ConcordPersistence

  /// The tables of a file or a database, as it describes them itself.
  struct SourceSchema {
    /// The tables of entities, each followed by those of its collections.
    let tables: [SourceTable]
    /// The tables that contain no entities.
    let otherTables: [String]
    /// The names of the triggers that are not Concord's.
    let triggers: [String]
    /// Whether the targets of references are recorded.
    let knowsRelations: Bool

    var entities: [SourceTable] { tables.filter(\.isEntity) }

    func collections(of entity: String) -> [SourceTable] { tables.filter { $0.entity == entity && !$0.isEntity } }

    /// Returns the table with a name.
    func table(_ name: String) -> SourceTable? { tables.first { $0.name == name } }

    /// Returns the table with a name.
    ///
    /// - Throws: an error that lists the existing tables.
    func requiredTable(_ name: String, _ status: ExitStatus = .usage) throws -> SourceTable {
      if let table = table(name) { return table }
      throw ToolError(status, "there is no table '\(name)'; there are \(list(tables.map(\.name)))")
    }
  }

  /// A table of an entity, or of a collection.
  struct SourceTable {
    let name: String
    /// The entity that the rows belong to.
    let entity: String
    /// The name, as a statement has it.
    let sql: String
    let columns: [SourceColumn]

    var isEntity: Bool { name == entity }
    /// The name of the collection in the entity: `reviews` of `Book_reviews`.
    var collection: String { String(name.dropFirst(entity.count + 1)) }
    /// The columns that identify a row.
    var keys: [SourceColumn] { columns.filter(\.isKey) }
    /// The order of the rows by their keys.
    var order: [(column: Int, isDescending: Bool)] {
      columns.indices.filter { columns[$0].isKey }.map { ($0, false) }
    }
    /// All columns of all rows, in order.
    var everything: RowSelection { RowSelection(columns: Array(columns.indices), order: order) }

    func column(_ name: String) -> SourceColumn? { columns.first { $0.name == name } }

    /// Returns the position of a column by its name.
    ///
    /// - Throws: an error that lists the existing columns.
    func requiredColumn(_ name: String, _ status: ExitStatus = .usage) throws -> Int {
      if let column = columns.firstIndex(where: { $0.name == name }) { return column }
      throw ToolError(status, "\(self.name) has no column '\(name)'; it has \(list(columns.map(\.name)))")
    }
  }

  struct SourceColumn {
    let name: String
    /// The name, as a statement has it.
    let sql: String
    /// The declared type, for people; empty for a column with values of several kinds.
    let type: String
    /// The type that the column of an SQLite file has.
    let storageClass: String
    let isRequired: Bool
    let isKey: Bool
    /// The entity that a reference leads to.
    let target: String?
    let index: Index?

    enum Index { case unique, indexed }
  }

  /// Returns names as a list: `a, b and c`.
  func list(_ names: [String]) -> String {
    guard let last = names.last else { return "none" }
    return names.count == 1 ? last : "\(names.dropLast().joined(separator: ", ")) and \(last)"
  }
#endif
