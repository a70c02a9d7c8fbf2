import Concord

/// A reader of one row, which returns its properties in the order in which they were written.
///
/// ```swift
/// init(from row: inout RowReader) throws {
///   self.init(
///     id: try row.read(), title: try row.read(), author: try row.read(), reviews: try row.read())
/// }
/// ```
public struct RowReader {
  @usableFromInline private(set) var source: RowSource
  @usableFromInline var position = 0
  private var collectionIndex = 0
  /// The number of wrappers that are being read. Inside of one an entity may be required although its column is optional.
  private var wrapperDepth = 0
  private let resolver: (any EntityResolver)?
  /// The positions of the collections whose entities are not read, and which are omitted.
  package var omittedPositions: Set<Int> = []

  package init(_ source: RowSource, resolver: (any EntityResolver)?) {
    self.source = source
    self.resolver = resolver
  }

  package var readColumns: Int { position }

  /// Begins another row: the current one of the source.
  package mutating func begin(_ source: RowSource) {
    // A statement that gives many rows is the same source for each.
    if self.source !== source { self.source = source }
    (position, collectionIndex, wrapperDepth) = (0, 0, 0)
  }

  @usableFromInline mutating func next<C: ValueCoding>(_ coding: C.Type) throws -> C.Value {
    defer { position += 1 }
    return try C.read(source, at: position)
  }

  private mutating func nextKey() -> StoredValue {
    defer { position += 1 }
    return source.value(at: position)
  }

  /// Reads the elements of the next collection; `nil` if the collection is `nil`.
  private mutating func nextCollection() throws -> StoredElements? {
    defer {
      position += 1
      collectionIndex += 1
    }
    return source.isNull(at: position) ? nil : try source.collection(collectionIndex)
  }

  /// Skips the next collection if it is to be omitted. A collection that is `nil` is read as `nil`.
  private mutating func omitsNextCollection() -> Bool {
    guard !omittedPositions.isEmpty, omittedPositions.contains(position), !source.isNull(at: position) else {
      return false
    }
    position += 1
    collectionIndex += 1
    return true
  }

  private func entity<T: PersistentEntity>(_ key: StoredValue) throws -> T {
    guard let resolver else { throw StoreError.noStore(entity: T.entityName) }
    return try resolver.entity(T.self, key: key)
  }

  /// Whether a relation leads back into the cycle whose brief form is being read.
  private func isLeftOut<T: PersistentEntity>(_ type: T.Type, _ keys: some Collection<StoredValue>) -> Bool {
    resolver?.leavesOut(type, keys: keys) ?? false
  }
}

/// A source of the entities that rows refer to.
package protocol EntityResolver: AnyObject {
  func entity<T: PersistentEntity>(_ type: T.Type, key: StoredValue) throws -> T
  /// Whether the row being read omits a relation to these entities, because they are in a cycle with it.
  func leavesOut<T: PersistentEntity>(_ type: T.Type, keys: some Collection<StoredValue>) -> Bool
  /// Whether the row being read omits a relation to an entity of the named type, because it is in a cycle with it.
  func leavesOut(_ name: String, key: StoredValue) -> Bool
}

// MARK: Values

// The type is a parameter for overload resolution, which ranks functions by their parameters only. Callers need not pass it.
extension RowReader {
  /// Reads a plain value.
  ///
  /// - Parameter type: the type of the value, which need not be passed where the compiler can infer it.
  /// - Throws: ``StoreError/unreadable(_:as:)`` if the column holds something else.
  @inlinable public mutating func read<V: PersistentValue>(_ type: V.Type = V.self) throws -> V {
    defer { position += 1 }
    return try V(from: source, at: position)
  }

  /// Reads an optional plain value.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if the column holds something else.
  @inlinable public mutating func read<V: PersistentValue>(_ type: V?.Type = V?.self) throws -> V? {
    defer { position += 1 }
    return source.isNull(at: position) ? nil : try V(from: source, at: position)
  }

  /// Reads an optional of an optional plain value.
  @inlinable public mutating func read<V: PersistentValue>(_ type: V??.Type = V??.self) throws -> V?? {
    try next(OptionalCoding<OptionalCoding<PlainCoding<V>>>.self)
  }

  /// Reads a value, as its raw value.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if the column holds something else, or a raw value that the type does
  ///   not have.
  @_disfavoredOverload
  @inlinable public mutating func read<V: RawRepresentable & Codable>(_ type: V.Type = V.self) throws -> V
  where V.RawValue: PersistentValue {
    try next(RawCoding<V>.self)
  }

  /// Reads an optional value, as its raw value.
  @_disfavoredOverload
  @inlinable public mutating func read<V: RawRepresentable & Codable>(_ type: V?.Type = V?.self) throws -> V?
  where V.RawValue: PersistentValue {
    try next(OptionalCoding<RawCoding<V>>.self)
  }

  /// Reads a value, as JSON.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if the column holds no JSON of such a value.
  @_disfavoredOverload
  @inlinable public mutating func read<V: Codable>(_ type: V.Type = V.self) throws -> V { try next(JSONCoding<V>.self) }

  /// Reads an optional value, as JSON.
  @_disfavoredOverload
  @inlinable public mutating func read<V: Codable>(_ type: V?.Type = V?.self) throws -> V? {
    try next(OptionalCoding<JSONCoding<V>>.self)
  }
}

// MARK: Entities

extension RowReader {
  /// Reads the entity that the row refers to.
  ///
  /// - Throws: ``StoreError/danglingReference(entity:id:)`` if the entity is not stored; an error of reading it.
  public mutating func read<T: PersistentEntity>(_ type: T.Type = T.self) throws -> T { try entity(nextKey()) }

  /// Reads the entity that the row refers to; `nil` if the reference is.
  ///
  /// - Throws: ``StoreError/danglingReference(entity:id:)`` if there is a reference, and the entity is not stored; an
  ///   error of reading it.
  public mutating func read<T: PersistentEntity>(_ type: T?.Type = T?.self) throws -> T? {
    let key = nextKey()
    return key.isNull || wrapperDepth == 0 && isLeftOut(T.self, CollectionOfOne(key)) ? nil : try entity(key)
  }

  /// Reads an array of entities.
  ///
  /// - Throws: ``StoreError/danglingReference(entity:id:)`` if one of them is not stored; an error of reading one of
  ///   them.
  public mutating func read<T: PersistentEntity>(_ type: [T].Type = [T].self) throws -> [T] {
    try read(all: [T].self) ?? []
  }

  /// Reads an optional array of entities.
  public mutating func read<T: PersistentEntity>(_ type: [T]?.Type = [T]?.self) throws -> [T]? {
    try read(all: [T].self)
  }

  /// Reads a set of entities.
  public mutating func read<T: PersistentEntity & Hashable>(_ type: Set<T>.Type = Set<T>.self) throws -> Set<T> {
    try readSet() ?? []
  }

  /// Reads an optional set of entities.
  public mutating func read<T: PersistentEntity & Hashable>(_ type: Set<T>?.Type = Set<T>?.self) throws -> Set<T>? {
    try readSet()
  }

  /// Reads a collection of entities.
  public mutating func read<C: RangeReplaceableCollection>(_ type: C.Type = C.self) throws -> C
  where C.Element: PersistentEntity {
    try read(all: C.self) ?? C()
  }

  /// Reads an optional collection of entities.
  public mutating func read<C: RangeReplaceableCollection>(_ type: C?.Type = C?.self) throws -> C?
  where C.Element: PersistentEntity {
    try read(all: C.self)
  }

  /// Reads a dictionary of entities by plain keys.
  ///
  /// - Throws: ``StoreError/danglingReference(entity:id:)`` if one of the entities is not stored;
  ///   ``StoreError/unreadable(_:as:)`` for a key that is no value of its type; an error of reading one of the
  ///   entities.
  public mutating func read<K: PersistentValue & Hashable, T: PersistentEntity>(_ type: [K: T].Type = [K: T].self)
    throws -> [K: T]
  {
    try read(PlainCoding<K>.self) ?? [:]
  }

  /// Reads an optional dictionary of entities by plain keys.
  public mutating func read<K: PersistentValue & Hashable, T: PersistentEntity>(_ type: [K: T]?.Type = [K: T]?.self)
    throws -> [K: T]?
  {
    try read(PlainCoding<K>.self)
  }

  /// Reads a dictionary of entities by plain keys.
  // For a key that is both, which is stored plain. Without this overload the call would be ambiguous.
  public mutating func read<K: PersistentValue & Codable & Hashable, T: PersistentEntity>(
    _ type: [K: T].Type = [K: T].self
  ) throws -> [K: T] { try read(PlainCoding<K>.self) ?? [:] }

  /// Reads an optional dictionary of entities by plain keys.
  public mutating func read<K: PersistentValue & Codable & Hashable, T: PersistentEntity>(
    _ type: [K: T]?.Type = [K: T]?.self
  ) throws -> [K: T]? { try read(PlainCoding<K>.self) }

  /// Reads a dictionary of entities by keys in JSON.
  public mutating func read<K: Codable & Hashable, T: PersistentEntity>(
    _ type: [K: T].Type = [K: T].self
  ) throws -> [K: T] { try read(JSONCoding<K>.self) ?? [:] }

  /// Reads an optional dictionary of entities by keys in JSON.
  public mutating func read<K: Codable & Hashable, T: PersistentEntity>(
    _ type: [K: T]?.Type = [K: T]?.self
  ) throws -> [K: T]? { try read(JSONCoding<K>.self) }

  private mutating func read<C: RangeReplaceableCollection>(all type: C.Type) throws -> C?
  where C.Element: PersistentEntity {
    if omitsNextCollection() { return OmittedCollection<C>.value ?? C() }
    guard let keys = try nextCollection()?.column(0) else { return nil }
    // An entity store recognises this storage as an omitted collection, and keeps the one that it has.
    if isLeftOut(C.Element.self, keys) { return OmittedCollection<C>.value ?? C() }
    var result = C()
    result.reserveCapacity(keys.count)
    for key in keys { result.append(try entity(key)) }
    return result
  }

  private mutating func readSet<T: PersistentEntity & Hashable>() throws -> Set<T>? {
    if omitsNextCollection() { return OmittedCollection<Set<T>>.value ?? [] }
    guard let keys = try nextCollection()?.column(0) else { return nil }
    if isLeftOut(T.self, keys) { return OmittedCollection<Set<T>>.value ?? [] }
    return try Set(keys.map { try entity($0) as T })
  }

  private mutating func read<K: ValueCoding, T: PersistentEntity>(_ coding: K.Type) throws -> [K.Value: T]?
  where K.Value: Hashable {
    if omitsNextCollection() { return OmittedCollection<[K.Value: T]>.value ?? [:] }
    guard let elements = try nextCollection() else { return nil }
    if isLeftOut(T.self, elements.column(elements.width - 1)) { return OmittedCollection<[K.Value: T]>.value ?? [:] }
    var result: [K.Value: T] = [:]
    guard elements.width == 2 else { return result }
    result.reserveCapacity(elements.count)
    for index in elements.indices { result[try K.decode(elements[index, 0])] = try entity(elements[index, 1]) }
    return result
  }
}

// MARK: Wrappers

extension RowReader {
  /// Reads a wrapper.
  ///
  /// - Throws: ``StoreError/unreadable(_:as:)`` if there is no name of a case; what the initializer of the wrapper
  ///   throws.
  public mutating func read<W: PersistentWrapper>(_ type: W.Type = W.self) throws -> W {
    let name = nextKey()
    guard case .text(let name) = name else { throw StoreError.unreadable(name, as: W.self) }
    wrapperDepth += 1
    defer { wrapperDepth -= 1 }
    return try W(case: name, from: &self)
  }

  /// Reads an optional wrapper.
  public mutating func read<W: PersistentWrapper>(_ type: W?.Type = W?.self) throws -> W? {
    if !source.isNull(at: position), !leadsBack(W.self, source, position) { return .some(try read()) }
    position += 1
    for property in W.persistentProperties {
      position += property.columns.count
      collectionIndex += property.collections.count
    }
    return nil
  }

  /// Reads an array of wrappers.
  public mutating func read<W: PersistentWrapper>(_ type: [W].Type = [W].self) throws -> [W] {
    try readElements() ?? []
  }

  /// Reads an optional array of wrappers.
  public mutating func read<W: PersistentWrapper>(_ type: [W]?.Type = [W]?.self) throws -> [W]? { try readElements() }

  private mutating func readElements<W: PersistentWrapper>() throws -> [W]? {
    guard let sources = try nextCollection()?.map(ElementSource.init) else { return nil }
    if sources.contains(where: { leadsBack(W.self, $0, 0) }) { return OmittedCollection<[W]>.value ?? [] }
    return try sources.map { source in
      var reader = RowReader(source, resolver: resolver)
      return try reader.read()
    }
  }

  /// Whether the wrapper that begins at a position holds an entity that is omitted.
  private func leadsBack<W: PersistentWrapper>(_ type: W.Type, _ source: RowSource, _ start: Int) -> Bool {
    guard let resolver else { return false }
    var position = start
    for column in W.persistentProperties.flatMap(\.columns) {
      position += 1
      guard let target = column.target else { continue }
      let key = source.value(at: position)
      if !key.isNull, resolver.leavesOut(target, key: key) { return true }
    }
    return false
  }
}
