/// How the values of a column are made from the rows of an earlier model, where that cannot be inferred.
///
/// ```swift
/// // `year` was text.
/// let year = ColumnMigration("year", of: Book.self) { old in
///   guard case .text(let text) = old["year"], let year = Int64(text) else { return .integer(0) }
///   return .integer(year)
/// }
/// let model = try Model("Library", entities: [Book.self], migrations: [year])
/// ```
///
/// It may stay in the model: a column that is there already, as the model wants it, is not converted.
public struct ColumnMigration: Sendable {
  /// The name of the table.
  public let entity: String
  public let column: String
  /// Makes the value; what it throws ends the migration, which then has changed nothing.
  public let convert: @Sendable (OldRow) throws -> StoredValue

  public init(
    _ column: String, of type: any PersistentEntity.Type,
    _ convert: @escaping @Sendable (OldRow) throws -> StoredValue
  ) {
    entity = type.entityName
    self.column = column
    self.convert = convert
  }
}

/// A row as an earlier model wrote it.
public struct OldRow: Sendable {
  private let values: [String: StoredValue]

  package init(_ values: [String: StoredValue]) { self.values = values }

  /// The names of its columns, without the store's own.
  public var columns: [String] { values.keys.filter { !$0.hasPrefix("_") }.sorted() }
  /// The value of a column; `null` if there is none.
  public subscript(column: String) -> StoredValue { values[column] ?? .null }
}
