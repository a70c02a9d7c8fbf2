/// The stored form of one entity: the values of its columns, by position, and the rows of its collections.
public struct StoredRow: Sendable, Hashable {
  /// The values of the columns, in the order of ``EntityDescription/columns``. That of a collection is its count, `null` if
  /// it is `nil`.
  public var values: [StoredValue]
  /// The elements of the collections, in the order of ``EntityDescription/collections``. That of a dictionary begins with the
  /// key.
  public var collections: [StoredElements]
  /// The stamp of the entity.
  public var stamp: Stamp

  /// Creates a row.
  public init(values: [StoredValue], collections: [StoredElements], stamp: Stamp) {
    self.values = values
    self.collections = collections
    self.stamp = stamp
  }

  /// Whether two rows have the same values and collections, whatever their stamps.
  package func holdsSame(as other: StoredRow) -> Bool { values == other.values && collections == other.collections }
}

/// The identity of a stored entity: its type, and its id as it is stored.
public struct EntityKey: Hashable, Sendable {
  /// The description of the entity's type.
  public let entity: EntityDescription
  /// The stored form of the id, which is the same for all ids that are equal.
  public let id: StoredValue

  /// Creates a key from a type's description and the stored form of an id.
  public init(_ entity: EntityDescription, _ id: StoredValue) {
    self.entity = entity
    self.id = id
  }
}
