/// A conversion that makes the values of a column from the rows of an earlier model, where that cannot be inferred.
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
/// A migration may stay in the model: a column that the file already has as the model describes it is not converted.
public struct ColumnMigration: Sendable {
  /// The name of the entity's table.
  public let entity: String
  /// The name of the column.
  public let column: String
  /// The closure that makes a value from an old row. If it throws, the migration ends, and has changed nothing.
  public let convert: @Sendable (OldRow) throws -> StoredValue

  /// Creates a migration of one column.
  ///
  /// - Parameters:
  ///   - column: the name of the column.
  ///   - type: the entity whose table has the column.
  ///   - convert: a closure that makes a value from an old row. If it throws, the migration ends, and has changed nothing.
  public init(
    _ column: String, of type: any PersistentEntity.Type,
    _ convert: @escaping @Sendable (OldRow) throws -> StoredValue
  ) {
    entity = type.entityName
    self.column = column
    self.convert = convert
  }
}

/// A row that an earlier model wrote.
public struct OldRow: Sendable {
  private let values: [String: StoredValue]

  package init(_ values: [String: StoredValue]) { self.values = values }

  /// The names of the row's columns, without those that the store adds.
  public var columns: [String] { values.keys.filter { !$0.hasPrefix("_") }.sorted() }
  /// Returns the value of a column; `null` if the row has no such column.
  public subscript(column: String) -> StoredValue { values[column] ?? .null }
}
