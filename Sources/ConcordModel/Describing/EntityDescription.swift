import Concord

/// The stored form of a type of entities: its table, its columns, and the tables of its collections.
public final class EntityDescription: Sendable {
  /// The name of the entity's table.
  public let name: String
  /// The type of the entities.
  public let type: any PersistentEntity.Type
  /// The columns of the properties, by position. The key has a column of its own (see ``idPosition``).
  public let columns: [ColumnDescription]
  /// The tables of the collections, in the order of the properties.
  public let collections: [CollectionDescription]
  /// The position of the column that holds the id as it was given; `nil` if the id is computed.
  public let idPosition: Int?
  /// The storage class that the column of the key is declared with.
  public let keyStorageClass: StorageClass
  /// The coding of the ids, as they are stored where they are referred to.
  package let keyCoding: ColumnCoding
  /// The columns and collections of each property.
  package let properties: [PropertyRange]
  /// For each collection, the position of the column that holds its count.
  package let countPositions: [Int]
  /// The types of the entities that a value may contain directly.
  package let targets: [any PersistentEntity.Type]
  package let isAggregate: Bool
  package let hasUniqueColumns: Bool
  /// The positions of the columns whose words are found by a search.
  package let searchablePositions: [Int]
  /// The reason why the type cannot be stored; `nil` if it can.
  package let problem: String?
  /// The key path of each property, with the position of its first column. A linear search, since there are few.
  private let keyPaths: [(path: any AnyKeyPath & Sendable, position: Int)]
  private let encoders: [(@Sendable (Any) throws -> StoredValue?)?]
  private let rowCheck: RowCheck

  package convenience init(_ type: any PersistentEntity.Type) { self.init(opening: type) }

  private init<T: PersistentEntity>(opening type: T.Type) {
    let properties = T.persistentProperties
    name = T.entityName
    self.type = type
    columns = properties.flatMap(\.columns)
    hasUniqueColumns = columns.contains { $0.isUnique }
    searchablePositions = columns.indices.filter { [columns] in columns[$0].searchWeight != nil }
    collections = properties.flatMap(\.collections)
    keyStorageClass = T.idStorageClass
    keyCoding = .key(of: T.self)
    targets = properties.flatMap(\.targets)
    isAggregate = type is any Aggregate.Type
    problem = properties.lazy.compactMap(\.problem).first
    countPositions = properties.flatMap(\.columns).enumerated().filter { $1.role == .count }.map(\.offset)
    var ranges: [PropertyRange] = []
    var (column, collection) = (0, 0)
    for property in properties {
      ranges.append(
        PropertyRange(
          name: property.name, columns: column..<column + property.columns.count,
          collections: collection..<collection + property.collections.count, targets: property.targets))
      column += property.columns.count
      collection += property.collections.count
    }
    self.properties = ranges
    idPosition = columns.firstIndex { $0.name == "id" && $0.role == .value }
    var keyPaths: [(path: any AnyKeyPath & Sendable, position: Int)] = []
    var encoders: [(@Sendable (Any) throws -> StoredValue?)?] = []
    for property in properties {
      keyPaths.append((property.keyPath, encoders.count))
      encoders += property.columns.map { _ in property.encode }
    }
    self.keyPaths = keyPaths
    self.encoders = encoders
    rowCheck = RowCheck(
      entity: name, keyStorageClass: keyStorageClass, keyCoding: keyCoding, columns: columns, collections: collections)
  }

  /// Returns the position of a property's first column.
  package func position(of keyPath: AnyKeyPath) -> Int? { keyPaths.first { $0.path == keyPath }?.position }

  /// Returns the stored form of a value that is to be compared with those of a column.
  package func encode(_ value: Any, forColumnAt position: Int) throws -> StoredValue? {
    try encoders.indices.contains(position) ? encoders[position]?(value) : nil
  }
}

/// The positions of a property's columns and collections in a row.
package struct PropertyRange: Sendable {
  package let name: String
  package let columns: Range<Int>
  package let collections: Range<Int>
  /// The types of the entities that the property may contain.
  package let targets: [any PersistentEntity.Type]

  /// Whether two rows hold the same property.
  package func isSame(_ a: StoredRow, _ b: StoredRow) -> Bool {
    a.values[columns] == b.values[columns] && a.collections[collections] == b.collections[collections]
  }

  /// Copies the property from one row to another.
  package func copy(from source: StoredRow, to row: inout StoredRow) {
    row.values.replaceSubrange(columns, with: source.values[columns])
    row.collections.replaceSubrange(collections, with: source.collections[collections])
  }
}

extension EntityDescription {
  /// Whether an entity is made of its row alone.
  package var isOneRow: Bool { targets.isEmpty && collections.isEmpty }

  /// Whether the column of the id holds the same as the key, except that equal ids may be written differently. False
  /// for an optional id, whose key is JSON, since no key is `NULL`.
  package var isIDItsKey: Bool {
    guard let idPosition else { return false }
    return !columns[idPosition].isOptional && columns[idPosition].storageClass == keyStorageClass
  }
}

extension EntityDescription: Hashable {
  public static func == (a: EntityDescription, b: EntityDescription) -> Bool { a === b || a.type == b.type }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(type)) }
}

extension EntityDescription {
  /// Returns the row of an entity, and passes the entities inside to the sink.
  package func row<T: PersistentEntity>(of entity: T, stamp: Stamp, sink: (any EntitySink)? = nil) throws -> StoredRow {
    var writer = RowWriter(sink: sink, columns: columns.count)
    try entity.write(to: &writer)
    guard writer.values.count == columns.count, writer.collections.count == collections.count else {
      throw StoreError.misdescribed(
        entity: name,
        reason: "\(columns.count.of("column")) and \(collections.count.of("collection")) are described, "
          + "\(writer.values.count) and \(writer.collections.count) were written")
    }
    return StoredRow(values: writer.values, collections: writer.collections, stamp: stamp)
  }

  /// Checks that a writer to which `objects` entities were written has all columns of each, and no collection.
  package func check(written writer: borrowing RowWriter, objects: Int) throws {
    guard writer.values.count == columns.count * objects, writer.collections.isEmpty else {
      throw StoreError.misdescribed(
        entity: name,
        reason: "\(columns.count.of("column")) and \(collections.count.of("collection")) are described, "
          + "\(writer.values.count - columns.count * (objects - 1)) and \(writer.collections.count) were written")
    }
  }

  /// Checks that the values of a row have the types of their columns.
  ///
  /// - Throws: ``StoreError/unreadableColumn(entity:id:column:reason:)``.
  package func check(_ row: StoredRow, key: StoredValue) throws { try rowCheck.check(row, key: key) }

  /// Reads an entity from a row, with collections omitted whose positions are given.
  package func read<T: PersistentEntity>(
    _ type: T.Type, from source: RowSource, key: @autoclosure () -> StoredValue, resolver: (any EntityResolver)?,
    omitting positions: Set<Int> = []
  ) throws -> T {
    var reader = RowReader(source, resolver: resolver)
    reader.omittedPositions = positions
    return try read(from: &reader, key()) { try T(from: &$0) }
  }

  /// Reads the entity of a row that a reader has begun, and appends it.
  package func append<T: PersistentEntity>(
    to found: inout [T], from reader: inout RowReader, key: @autoclosure () -> StoredValue
  ) throws {
    try read(from: &reader, key()) { try T._append(from: &$0, to: &found) }
  }

  /// Checks that all columns were read, and says which one was not readable.
  private func read<R>(
    from reader: inout RowReader, _ key: @autoclosure () -> StoredValue, _ body: (inout RowReader) throws -> R
  ) throws -> R {
    do {
      let result = try body(&reader)
      guard reader.readColumns == columns.count else {
        throw StoreError.misdescribed(
          entity: name, reason: "\(columns.count.of("column is", "columns are")) described, \(reader.readColumns) read")
      }
      return result
    } catch StoreError.unreadable(let stored, let wanted) {
      let position = min(reader.readColumns, columns.count) - 1
      throw StoreError.unreadableColumn(
        entity: name, id: "\(key())", column: position < 0 ? "" : columns[position].name,
        reason: "\(StoreError.unreadable(stored, as: wanted))")
    }
  }
}
