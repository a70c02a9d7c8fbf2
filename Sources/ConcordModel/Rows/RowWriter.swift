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
  package private(set) var collections: [StoredElements] = []
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
  mutating func append(count: Int?, of elements: StoredElements, isOmitted: Bool) throws {
    guard !isInCollection else {
      throw StoreError.misdescribed(
        entity: "a wrapper", reason: "a wrapper inside a collection cannot hold a collection of entities")
    }
    if isOmitted { sink?.didOmit(column: values.count) }
    values.append(count.map { .integer(Int64($0)) } ?? .null)
    collections.append(elements)
  }

  /// Returns the key of an entity, and passes the entity to the sink.
  mutating func key<T: PersistentEntity>(of entity: T) throws -> StoredValue {
    try sink?.visit(entity)
    return try T.storedKey(of: entity.id)
  }

  /// Returns elements, of each of which `body` writes the values.
  func elements<C: Collection>(
    _ collection: C, _ body: (C.Element, inout RowWriter) throws -> Void
  ) throws -> StoredElements {
    var elements = StoredElements()
    var writer = RowWriter(sink: sink)
    writer.isInCollection = true
    for element in collection {
      writer.values.removeAll(keepingCapacity: true)
      try body(element, &writer)
      elements.append(values: writer.values)
    }
    return elements
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
    var elements = StoredElements(width: 1, capacity: entities?.count ?? 0)
    if let entities {
      for entity in entities {
        let key = try key(of: entity)
        elements.append { _ in key }
      }
    }
    try append(count: entities?.count, of: elements, isOmitted: isOmitted(entities))
  }

  // Collections without an order are stored sorted, so that equal values are stored the same.
  private mutating func write<T: PersistentEntity & Hashable>(unordered entities: Set<T>?) throws {
    let keys = try entities?.map { try key(of: $0) }.sorted(by: StoredValue.precedes) ?? []
    var elements = StoredElements(width: 1, capacity: keys.count)
    for key in keys { elements.append { _ in key } }
    try append(count: entities?.count, of: elements, isOmitted: isOmitted(entities))
  }

  private mutating func write<K: ValueCoding, T: PersistentEntity>(_ coding: K.Type, _ entities: [K.Value: T]?) throws {
    let pairs = try entities?.map { (try K.encode($0.key), try key(of: $0.value)) } ?? []
    var elements = StoredElements(width: 2, capacity: pairs.count)
    for (key, value) in pairs.sorted(by: Self.precedes) { elements.append { $0 == 0 ? key : value } }
    try append(count: entities?.count, of: elements, isOmitted: isOmitted(entities))
  }

  private static func precedes(_ a: (StoredValue, StoredValue), _ b: (StoredValue, StoredValue)) -> Bool {
    if StoredValue.precedes(a.0, b.0) { return true }
    // Two keys may be written alike.
    return !StoredValue.precedes(b.0, a.0) && StoredValue.precedes(a.1, b.1)
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
      count: elements?.count, of: try self.elements(elements ?? []) { try $1.write($0) }, isOmitted: isOmitted(elements)
    )
  }
}
