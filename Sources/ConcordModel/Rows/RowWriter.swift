import Concord

/// A writer of one row, which takes an entity's properties in the order of its description.
///
/// ```swift
/// func write(to row: inout RowWriter) throws {
///   try row.write(id)
///   try row.write(title)
///   try row.write(author)   // a reference: the author's id
///   try row.write(reviews)  // ordered references
/// }
/// ```
public struct RowWriter {
  package private(set) var values: [StoredValue] = []
  package private(set) var collections: [[[StoredValue]]] = []
  /// The receiver of the entities inside.
  private let sink: (any EntitySink)?
  /// Whether the element of a collection is being written, whose values belong to a row of their own.
  private var isInCollection = false

  package init(sink: (any EntitySink)? = nil, columns: Int = 0) {
    self.sink = sink
    values.reserveCapacity(columns)
  }

  /// Writes a value by its coding.
  @usableFromInline mutating func put<C: ValueCoding>(_ coding: C.Type, _ value: C.Value) throws {
    append(try C.encode(value))
  }

  @usableFromInline mutating func append(_ value: StoredValue) { values.append(value) }

  /// Writes a collection. One that a brief form leaves out is reported to the sink, since its row holds no elements.
  mutating func append(count: Int?, of rows: [[StoredValue]], isOmitted: Bool) throws {
    guard !isInCollection else {
      throw StoreError.misdescribed(
        entity: "a wrapper", reason: "a wrapper inside a collection cannot hold a collection of entities")
    }
    if isOmitted { sink?.didOmit(column: values.count) }
    values.append(count.map { .integer(Int64($0)) } ?? .null)
    collections.append(rows)
  }

  /// Returns the key of an entity, and passes the entity to the sink.
  mutating func key<T: PersistentEntity>(of entity: T) throws -> StoredValue {
    try sink?.visit(entity)
    return try T.storedKey(of: entity.id)
  }

  /// Returns the values that `body` writes, as those of a collection's element.
  mutating func element(_ body: (inout RowWriter) throws -> Void) throws -> [StoredValue] {
    var writer = RowWriter(sink: sink)
    writer.isInCollection = true
    try body(&writer)
    return writer.values
  }
}

/// A receiver of the entities inside an aggregate that is being written.
package protocol EntitySink: AnyObject {
  func visit<T: PersistentEntity>(_ entity: T) throws
  /// Notes that a brief form leaves out the collection whose count stands in a column.
  func didOmit(column: Int)
}

private func isOmitted<C: Collection>(_ collection: C?) -> Bool {
  collection.map { $0.isEmpty && OmittedCollection<C>.isOmitted($0) } ?? false
}

// MARK: Values

extension RowWriter {
  /// Writes a plain value.
  ///
  /// - Throws: what the value's ``PersistentValue/storedValue`` throws.
  @inlinable public mutating func write<V: PersistentValue>(_ value: V) throws { append(try value.storedValue) }

  /// Writes an optional plain value.
  @inlinable public mutating func write<V: PersistentValue>(_ value: V?) throws {
    append(try value?.storedValue ?? .null)
  }

  /// Writes an optional of an optional plain value.
  @inlinable public mutating func write<V: PersistentValue>(_ value: V??) throws {
    try put(OptionalCoding<OptionalCoding<PlainCoding<V>>>.self, value)
  }

  /// Writes a value as its raw value.
  @_disfavoredOverload
  @inlinable public mutating func write<V: RawRepresentable & Codable>(_ value: V) throws
  where V.RawValue: PersistentValue {
    try put(RawCoding<V>.self, value)
  }

  /// Writes an optional value, as its raw value.
  @_disfavoredOverload
  @inlinable public mutating func write<V: RawRepresentable & Codable>(_ value: V?) throws
  where V.RawValue: PersistentValue {
    try put(OptionalCoding<RawCoding<V>>.self, value)
  }

  /// Writes a value as JSON.
  ///
  /// - Throws: what the encoding of the value throws.
  @_disfavoredOverload
  @inlinable public mutating func write<V: Codable>(_ value: V) throws { try put(JSONCoding<V>.self, value) }

  /// Writes an optional value, as JSON.
  @_disfavoredOverload
  @inlinable public mutating func write<V: Codable>(_ value: V?) throws {
    try put(OptionalCoding<JSONCoding<V>>.self, value)
  }
}

// MARK: Entities

extension RowWriter {
  /// Writes a reference to an entity: its id.
  ///
  /// - Throws: what the entity's ``PersistentEntity/storedKey(of:)`` and ``PersistentEntity/write(to:)`` throw.
  public mutating func write<T: PersistentEntity>(_ entity: T) throws { append(try key(of: entity)) }

  /// Writes an optional reference to an entity.
  public mutating func write<T: PersistentEntity>(_ entity: T?) throws {
    append(try entity.map { try key(of: $0) } ?? .null)
  }

  /// Writes an array of entities.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)`` inside of a wrapper that is an element of a collection; what
  ///   the writing of an entity throws.
  public mutating func write<T: PersistentEntity>(_ entities: [T]) throws { try write(all: entities) }

  /// Writes an optional array of entities.
  public mutating func write<T: PersistentEntity>(_ entities: [T]?) throws { try write(all: entities) }

  /// Writes a set of entities.
  public mutating func write<T: PersistentEntity & Hashable>(_ entities: Set<T>) throws {
    try write(unordered: entities)
  }

  /// Writes an optional set of entities.
  public mutating func write<T: PersistentEntity & Hashable>(_ entities: Set<T>?) throws {
    try write(unordered: entities)
  }

  /// Writes a collection of entities.
  public mutating func write<C: RangeReplaceableCollection>(_ entities: C) throws where C.Element: PersistentEntity {
    try write(all: entities)
  }

  /// Writes an optional collection of entities.
  public mutating func write<C: RangeReplaceableCollection>(_ entities: C?) throws where C.Element: PersistentEntity {
    try write(all: entities)
  }

  /// Writes a dictionary of entities by plain keys.
  public mutating func write<K: PersistentValue & Hashable, T: PersistentEntity>(_ entities: [K: T]) throws {
    try write(PlainCoding<K>.self, entities)
  }

  /// Writes an optional dictionary of entities by plain keys.
  public mutating func write<K: PersistentValue & Hashable, T: PersistentEntity>(_ entities: [K: T]?) throws {
    try write(PlainCoding<K>.self, entities)
  }

  /// Writes a dictionary of entities by plain keys.
  // For a key that is both, which is stored plain. Without this overload the call would be ambiguous.
  public mutating func write<K: PersistentValue & Codable & Hashable, T: PersistentEntity>(
    _ entities: [K: T]
  ) throws { try write(PlainCoding<K>.self, entities) }

  /// Writes an optional dictionary of entities by plain keys.
  public mutating func write<K: PersistentValue & Codable & Hashable, T: PersistentEntity>(
    _ entities: [K: T]?
  ) throws { try write(PlainCoding<K>.self, entities) }

  /// Writes a dictionary of entities by keys in JSON.
  public mutating func write<K: Codable & Hashable, T: PersistentEntity>(_ entities: [K: T]) throws {
    try write(JSONCoding<K>.self, entities)
  }

  /// Writes an optional dictionary of entities by keys in JSON.
  public mutating func write<K: Codable & Hashable, T: PersistentEntity>(_ entities: [K: T]?) throws {
    try write(JSONCoding<K>.self, entities)
  }

  private mutating func write<C: Collection>(all entities: C?) throws where C.Element: PersistentEntity {
    try append(
      count: entities?.count, of: entities?.map { [try key(of: $0)] } ?? [], isOmitted: isOmitted(entities))
  }

  // Collections without an order are stored sorted, so that equal values are stored the same.
  private mutating func write<T: PersistentEntity & Hashable>(unordered entities: Set<T>?) throws {
    let rows = try entities?.map { [try key(of: $0)] }
    try append(count: rows?.count, of: rows?.sorted { $0.precedes($1) } ?? [], isOmitted: isOmitted(entities))
  }

  private mutating func write<K: ValueCoding, T: PersistentEntity>(_ coding: K.Type, _ entities: [K.Value: T]?) throws {
    let rows = try entities?.map { [try K.encode($0.key), try key(of: $0.value)] }
    try append(count: rows?.count, of: rows?.sorted { $0.precedes($1) } ?? [], isOmitted: isOmitted(entities))
  }
}

// MARK: Wrappers

extension RowWriter {
  /// Writes a wrapper: the name of its case, and then its properties.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)`` if the wrapper writes another number of columns than it
  ///   describes; what its ``PersistentWrapper/write(to:)`` throws.
  public mutating func write<W: PersistentWrapper>(_ wrapper: W) throws {
    append(.text(wrapper.persistentCase))
    let before = values.count
    try wrapper.write(to: &self)
    try W.check(written: values.count - before)
  }

  /// Writes an optional wrapper.
  public mutating func write<W: PersistentWrapper>(_ wrapper: W?) throws {
    if let wrapper { return try write(wrapper) }
    append(.null)
    for property in W.persistentProperties {
      for _ in property.columns { append(.null) }
      for _ in property.collections { collections.append([]) }
    }
  }

  /// Writes an array of wrappers.
  ///
  /// - Throws: ``StoreError/misdescribed(entity:reason:)`` inside of a wrapper that is an element of a collection, or
  ///   if one of them holds a collection of entities; what the writing of one of them throws.
  public mutating func write<W: PersistentWrapper>(_ wrappers: [W]) throws { try write(elements: wrappers) }

  /// Writes an optional array of wrappers.
  public mutating func write<W: PersistentWrapper>(_ wrappers: [W]?) throws { try write(elements: wrappers) }

  private mutating func write<W: PersistentWrapper>(elements: [W]?) throws {
    try append(
      count: elements?.count, of: elements?.map { wrapper in try element { try $0.write(wrapper) } } ?? [],
      isOmitted: isOmitted(elements))
  }
}
