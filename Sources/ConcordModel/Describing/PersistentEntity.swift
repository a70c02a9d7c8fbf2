public import Concord

/// An entity that has a row of its own in a store.
///
/// ```swift
/// struct Book: PersistentEntity, Aggregate {
///   let id: String
///   var title: String
///   var author: Author
///   var reviews: [Review]
///
///   static let persistentProperties: [PersistentProperty<Book>] = [
///     .init("id", \.id), .init("title", \.title, originalName: "name"),
///     .init("author", \.author), .init("reviews", \.reviews),
///   ]
///   init(from row: inout RowReader) throws {
///     self.init(id: try row.read(), title: try row.read(), author: try row.read(), reviews: try row.read())
///   }
///   func write(to row: inout RowWriter) throws {
///     try row.write(id)
///     try row.write(title)
///     try row.write(author)
///     try row.write(reviews)
///   }
/// }
/// ```
///
/// The list, the initializer and `write(to:)` name the same properties in the same order. An entity that contains entities is
/// an ``/Concord/Aggregate`` too, and its relations are taken from the properties. Entities that refer to each other in a
/// cycle read as they do from an ``/Concord/EntityStore``.
public protocol PersistentEntity: Identifiable, Sendable where ID: Codable & Hashable & Sendable {
  /// The stored properties, by position. The one named `id` is the identity.
  static var persistentProperties: [PersistentProperty<Self>] { get }

  /// Creates an entity from its row: reads the properties, in order.
  ///
  /// It runs within a transaction of the store, and must not use a context.
  ///
  /// - Throws: an error of the reader, such as ``StoreError/unreadable(_:as:)``; any error for a row that is no valid
  ///   value. The fetch throws it then, and names the column where that is known.
  init(from row: inout RowReader) throws

  /// Writes the properties to a row, in order. It must not use a context.
  ///
  /// - Throws: an error of the writer; any error for a value that cannot be stored. The save throws it then, and writes
  ///   nothing.
  func write(to row: inout RowWriter) throws

  /// The name of the entity's table. The default is the name of the type.
  static var entityName: String { get }

  /// The storage class of the ids. There is a default for any `Codable` id.
  static var idStorageClass: StorageClass { get }
  /// Returns the stored form of an id, which is the same for all ids that are equal.
  ///
  /// Implement it for an id of several parts whose equal values may be encoded differently, such as one with a `Double`,
  /// which may be -0.0.
  ///
  /// - Throws: an error if the id has no stored form, as one whose encoding fails.
  static func storedKey(of id: ID) throws -> StoredValue
  /// Returns the id that has a stored form, as ``storedKey(of:)`` returns it.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if it is not the stored form of an id.
  static func id(storedKey: StoredValue) throws -> ID

  /// Reads an entity and appends it to an array. There is a default, which the compiler specialises for the type.
  ///
  /// - Throws: what ``init(from:)`` throws.
  static func _append(from row: inout RowReader, to found: inout [Self]) throws
}

extension PersistentEntity {
  @inlinable public static func _append(from row: inout RowReader, to found: inout [Self]) throws {
    found.append(try Self(from: &row))
  }

  public static var entityName: String { String(describing: Self.self) }

  public static var idStorageClass: StorageClass { .text }
  public static func storedKey(of id: ID) throws -> StoredValue {
    let stored = try JSONCoding<ID>.encode(id)
    if case .text(let text) = stored { return text.storedKey }
    return stored
  }
  public static func id(storedKey: StoredValue) throws -> ID { try JSONCoding<ID>.decode(storedKey) }
}

extension PersistentEntity where ID: PersistentValue {
  public static var idStorageClass: StorageClass { ID.storageClass }
  public static func storedKey(of id: ID) throws -> StoredValue { try id.storedKey }
  public static func id(storedKey: StoredValue) throws -> ID { try ID(storedValue: storedKey) }
}

extension PersistentEntity where ID: RawRepresentable, ID.RawValue: PersistentValue {
  public static var idStorageClass: StorageClass { ID.RawValue.storageClass }
  public static func storedKey(of id: ID) throws -> StoredValue { try id.rawValue.storedKey }
  public static func id(storedKey: StoredValue) throws -> ID { try RawCoding<ID>.decode(storedKey) }
}

extension Aggregate where Self: PersistentEntity {
  /// The relations among ``PersistentEntity/persistentProperties``.
  public var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.persistentRelations }
  /// The relations among ``PersistentEntity/persistentProperties``, which all values of the type have.
  public static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { persistentRelations }

  static var persistentRelations: [PartialIdentifiableKeyPath<Self>] {
    persistentProperties.compactMap { $0.relation?() }
  }
}
