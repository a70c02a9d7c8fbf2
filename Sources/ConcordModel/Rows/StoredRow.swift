/// What is stored of one entity: the values of its columns, by position, and the rows of its collections.
public struct StoredRow: Sendable, Hashable {
  /// By position, as ``EntityDescription/columns`` says. A collection has its count there, `null` if it is `nil`.
  public var values: [StoredValue]
  /// In the order of ``EntityDescription/collections``. A row of one holds the key, if it is a dictionary, then the element.
  public var collections: [[[StoredValue]]]
  /// How fresh it is.
  public var stamp: Stamp

  public init(values: [StoredValue], collections: [[[StoredValue]]], stamp: Stamp) {
    self.values = values
    self.collections = collections
    self.stamp = stamp
  }

  /// Whether the two hold the same, whatever their stamps.
  package func holdsSame(as other: StoredRow) -> Bool { values == other.values && collections == other.collections }
}

/// Which entity a row is of: its type and its id, as it is stored.
public struct EntityKey: Hashable, Sendable {
  public let entity: EntityDescription
  /// The same for all ids that are equal.
  public let id: StoredValue

  public init(_ entity: EntityDescription, _ id: StoredValue) {
    self.entity = entity
    self.id = id
  }
}
