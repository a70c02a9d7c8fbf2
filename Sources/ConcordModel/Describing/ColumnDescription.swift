/// A column of a table.
public struct ColumnDescription: Sendable, Hashable {
  /// What the column says of the property.
  public enum Role: Sendable, Hashable {
    /// Its value.
    case value
    /// The key of the entity there.
    case reference
    /// How many entities are in the collection; `null` if that is `nil`.
    case count
    /// The name of the wrapper's case; `null` if there is no wrapper.
    case wrapperCase
  }

  public var name: String
  /// What it was called in an earlier version of the model.
  public var originalName: String?
  public var role: Role
  public var storageClass: StorageClass
  public var isOptional: Bool
  public var isUnique = false
  public var isIndexed = false
  /// For rows that were written before there was the column.
  public var defaultValue: StoredValue?
  /// The name of the entity that it refers to.
  public var target: String?
  /// What a store may compare itself.
  public var comparison: StoredComparison = .none

  /// The column of a property inside a wrapper.
  func inside(_ name: String, originalName: String?) -> ColumnDescription {
    var column = self
    column.name = "\(name)_\(self.name)"
    if originalName != nil || self.originalName != nil {
      column.originalName = "\(originalName ?? name)_\(self.originalName ?? self.name)"
    }
    // A wrapper of another case has no value there.
    column.isOptional = true
    return column
  }
}

/// A collection of entities or of wrappers, which has a table of its own: `Book_reviews`.
public struct CollectionDescription: Sendable, Hashable {
  public var name: String
  public var originalName: String?
  /// Whether the order of the rows means something.
  public var isOrdered: Bool
  /// The column of a dictionary's keys.
  public var key: ColumnDescription?
  /// The columns of an element: one for an entity, more for a wrapper.
  public var elements: [ColumnDescription]

  /// All columns of a row, by position.
  public var columns: [ColumnDescription] { (key.map { [$0] } ?? []) + elements }

  func inside(_ name: String, originalName: String?) -> CollectionDescription {
    var collection = self
    collection.name = "\(name)_\(self.name)"
    if originalName != nil || self.originalName != nil {
      collection.originalName = "\(originalName ?? name)_\(self.originalName ?? self.name)"
    }
    return collection
  }
}
