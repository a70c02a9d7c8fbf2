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
/// The three name the same properties in the same order. An entity that contains others is an ``/Concord/Aggregate`` too, whose
/// relations are taken from the properties. Entities that refer to each other in a cycle read as they do from an
/// ``/Concord/EntityStore``.
public protocol PersistentEntity: Identifiable, Sendable where ID: Codable & Hashable & Sendable {
  /// The properties that are stored, by position. One named `id` is the identity.
  static var persistentProperties: [PersistentProperty<Self>] { get }

  /// Reads the properties, in order. It runs within a transaction of the store, and uses no context.
  init(from row: inout RowReader) throws

  /// Writes the properties, in order. It uses no context either.
  func write(to row: inout RowWriter) throws

  /// The name of the table: the type's, unless said otherwise.
  static var entityName: String { get }

  /// How ids are kept. Given for any `Codable` id.
  static var idStorageClass: StorageClass { get }
  /// The same for all ids that are equal. Say it yourself for an id of several parts that may be equal and encoded otherwise, as one
  /// that holds a `Double`, which may be -0.0.
  static func storedKey(of id: ID) throws -> StoredValue
  /// The id with a key, equal to all that are kept so.
  static func id(storedKey: StoredValue) throws -> ID

  /// Reads an entity, and appends it: where the type is known, so that reading many is specialised for it. Given.
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
  /// The same for all values.
  public static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { persistentRelations }

  static var persistentRelations: [PartialIdentifiableKeyPath<Self>] {
    persistentProperties.compactMap { $0.relation?() }
  }
}
