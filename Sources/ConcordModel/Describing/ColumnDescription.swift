/// A column of an entity's table.
public struct ColumnDescription: Sendable, Hashable {
  /// The part of a property that a column holds.
  public enum Role: Sendable, Hashable {
    /// The property's value.
    case value
    /// The key of the entity that the property refers to.
    case reference
    /// The number of elements of the property's collection; `null` if the collection is `nil`.
    case count
    /// The name of the wrapper's case; `null` if the property is `nil`.
    case wrapperCase
  }

  /// The name of the column.
  public var name: String
  /// The name of the column in an earlier version of the model.
  public var originalName: String?
  /// The part of the property that the column holds.
  public var role: Role
  /// The storage class that the column is declared with.
  public var storageClass: StorageClass
  /// Whether the column may hold `null`.
  public var isOptional: Bool
  /// Whether no two rows have the same value in the column.
  public var isUnique = false
  /// Whether the column has an index.
  public var isIndexed = false
  /// The weight of a word of the column in the order of a search's hits; `nil` if the column is not searchable.
  public var searchWeight: Double?
  /// The value that rows get which were written before the column existed.
  public var defaultValue: StoredValue?
  /// The name of the entity that a reference leads to.
  public var target: String?
  /// The comparisons of the column's values that a store may do itself.
  public var comparison: StoredComparison = .none
  /// The coding of the column's values.
  public var coding: ColumnCoding

  /// Whether all equal values of the column are stored the same, and each is equal to itself.
  package var isExact: Bool { role != .value || comparison == .order || comparison == .equality }

  /// Returns the column as that of a property inside a wrapper.
  func inside(_ name: String, originalName: String?) -> ColumnDescription {
    var column = self
    column.name = "\(name)_\(self.name)"
    if originalName != nil || self.originalName != nil {
      column.originalName = "\(originalName ?? name)_\(self.originalName ?? self.name)"
    }
    // A wrapper of another case has no value for the property.
    column.isOptional = true
    return column
  }
}

/// The table of a property that is a collection of entities or wrappers, such as `Book_reviews`.
public struct CollectionDescription: Sendable, Hashable {
  /// The name of the collection's table.
  public var name: String
  /// The name of the property in an earlier version of the model.
  public var originalName: String?
  /// Whether the collection has an order, which the rows keep.
  public var isOrdered: Bool
  /// The column of a dictionary's keys; `nil` for other collections.
  public var key: ColumnDescription?
  /// The columns of an element: one for an entity, several for a wrapper.
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
