import Concord

/// What a store needs to know of a type of entities: its table, its columns, the tables of its collections.
public final class EntityDescription: Sendable {
  /// The name of the table.
  public let name: String
  public let type: any PersistentEntity.Type
  /// The properties' columns, by position. The key has a column of its own (see ``idPosition``).
  public let columns: [ColumnDescription]
  /// The tables of collections, in order.
  public let collections: [CollectionDescription]
  /// Which of the columns is the identity as it was given; `nil` if that is computed.
  public let idPosition: Int?
  /// What the column of the key is declared as.
  public let keyStorageClass: StorageClass
  /// Of which property each column is, by position; each collection after them.
  package let propertyNames: [String]
  package let collectionPropertyNames: [String]
  /// The types inside.
  package let targets: [any PersistentEntity.Type]
  package let isAggregate: Bool
  /// Where each property is, and the position of its first column. So few that they are searched one by one.
  private let keyPaths: [(path: any AnyKeyPath & Sendable, position: Int)]
  private let encoders: [(@Sendable (Any) throws -> StoredValue?)?]

  package convenience init(_ type: any PersistentEntity.Type) { self.init(opening: type) }

  private init<T: PersistentEntity>(opening type: T.Type) {
    let properties = T.persistentProperties
    name = T.entityName
    self.type = type
    columns = properties.flatMap(\.columns)
    collections = properties.flatMap(\.collections)
    keyStorageClass = T.idStorageClass
    targets = properties.flatMap(\.targets)
    isAggregate = type is any Aggregate.Type
    propertyNames = properties.flatMap { property in property.columns.map { _ in property.name } }
    collectionPropertyNames = properties.flatMap { property in property.collections.map { _ in property.name } }
    idPosition = columns.firstIndex { $0.name == "id" && $0.role == .value }
    var keyPaths: [(path: any AnyKeyPath & Sendable, position: Int)] = []
    var encoders: [(@Sendable (Any) throws -> StoredValue?)?] = []
    for property in properties {
      keyPaths.append((property.keyPath, encoders.count))
      encoders += property.columns.map { _ in property.encode }
    }
    self.keyPaths = keyPaths
    self.encoders = encoders
  }

  /// The position of a property's first column.
  package func position(of keyPath: AnyKeyPath) -> Int? { keyPaths.first { $0.path == keyPath }?.position }

  /// How a value is stored that is compared with those of a column.
  package func encode(_ value: Any, forColumnAt position: Int) throws -> StoredValue? {
    try encoders.indices.contains(position) ? encoders[position]?(value) : nil
  }
}

extension EntityDescription: Hashable {
  public static func == (a: EntityDescription, b: EntityDescription) -> Bool { a.type == b.type }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(type)) }
}

extension EntityDescription {
  /// The row of an entity. The entities inside are told to the sink.
  package func row<T: PersistentEntity>(of entity: T, stamp: Stamp, sink: (any EntitySink)? = nil) throws -> StoredRow {
    var writer = RowWriter(sink: sink, columns: columns.count)
    try entity.write(to: &writer)
    guard writer.values.count == columns.count, writer.collections.count == collections.count else {
      throw PersistenceError.misdescribed(
        entity: name,
        reason: "\(columns.count) columns and \(collections.count) collections are described, "
          + "\(writer.values.count) and \(writer.collections.count) were written")
    }
    return StoredRow(values: writer.values, collections: writer.collections, stamp: stamp)
  }

  /// Reads an entity.
  package func read<T: PersistentEntity>(
    _ type: T.Type, from source: RowSource, key: @autoclosure () -> StoredValue, resolver: (any EntityResolver)?
  ) throws -> T {
    var reader = RowReader(source, resolver: resolver)
    do {
      let entity = try T(from: &reader)
      guard reader.readColumns == columns.count else {
        throw PersistenceError.misdescribed(
          entity: name, reason: "\(columns.count) columns are described, \(reader.readColumns) were read")
      }
      return entity
    } catch PersistenceError.unreadable(let stored, let wanted) {
      let position = min(reader.readColumns, columns.count - 1)
      throw PersistenceError.unreadableColumn(
        entity: name, id: "\(key())", column: position < 0 ? "" : columns[position].name,
        reason: "\(PersistenceError.unreadable(stored, as: wanted))")
    }
  }
}
