import Concord

/// A stored property of an entity or a wrapper: its name, its key path and its stored form.
///
/// ```swift
/// static let persistentProperties: [PersistentProperty<Book>] = [
///   .init("id", \.id), .init("isbn", \.isbn, .unique), .init("author", \.author), .init("reviews", \.reviews),
/// ]
/// ```
///
/// A plain value, a raw value or a `Codable` value has one column; an entity one with its id; a collection of entities one with
/// their number, and a table of its own; a wrapper one for its case, and those of its properties.
public struct PersistentProperty<Root>: Sendable {
  /// The name of the property, and of its column.
  public let name: String
  /// The name of the property in an earlier version of the model, whose column is carried over.
  public let originalName: String?
  /// The columns of the property.
  public internal(set) var columns: [ColumnDescription]
  /// The tables of the property's collections.
  public let collections: [CollectionDescription]
  /// The key path of the property.
  public let keyPath: any PartialKeyPath<Root> & Sendable
  /// The types of the entities that the property may contain.
  package let targets: [any PersistentEntity.Type]
  /// The relation by which an entity store writes newer entities into the property; `nil` if it contains none.
  package let relation: (@Sendable () -> PartialIdentifiableKeyPath<Root>)?
  /// The stored form of a value that a predicate compares the property with; `nil` where a store cannot compare.
  package let encode: (@Sendable (Any) throws -> StoredValue?)?
  /// The values of the property's columns for a default; `nil` where a property can have none.
  let encodeDefault: (@Sendable (Any) throws -> [StoredValue]?)?
  /// The reason why the property cannot be stored, which a model that lists the type throws; `nil` if it can.
  package let problem: String?

  init(
    _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable, originalName: String?, columns: [ColumnDescription],
    collections: [CollectionDescription] = [], targets: [any PersistentEntity.Type] = [],
    relation: (@Sendable () -> PartialIdentifiableKeyPath<Root>)? = nil,
    encode: (@Sendable (Any) throws -> StoredValue?)? = nil,
    encodeDefault: (@Sendable (Any) throws -> [StoredValue]?)? = nil, problem: String? = nil
  ) {
    self.name = name
    self.keyPath = keyPath
    self.originalName = originalName
    self.columns = columns
    self.collections = collections
    self.targets = targets
    self.relation = relation
    self.encode = encode
    self.encodeDefault = encodeDefault ?? encode.map { encode in { @Sendable value in try encode(value).map { [$0] } } }
    self.problem = problem
  }
}

// MARK: Values

extension PersistentProperty {
  init<C: ValueCoding & SendableMetatype>(
    _ coding: C.Type, _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable, _ options: [AttributeOption],
    _ originalName: String?, _ defaultValue: C.Value?, mayHoldEntities: Bool = false
  ) {
    let weight = options.lazy.compactMap(\.searchWeight).first
    let isText = C.Value.self == String.self || C.Value.self == String?.self
    let isSearchable = isText && C.comparison == .text
    let column = ColumnDescription(
      name: name, originalName: originalName, role: .value, storageClass: C.storageClass, isOptional: C.isOptional,
      isUnique: options.contains(.unique), isIndexed: options.contains(.indexed),
      searchWeight: isSearchable ? weight : nil,
      // A default that cannot be encoded is reported as missing when a file needs it.
      defaultValue: defaultValue.flatMap { try? C.encode($0) }, comparison: C.comparison, coding: ColumnCoding(C.self))
    self.init(
      name, keyPath, originalName: originalName, columns: [column],
      encode: { value in try (value as? C.Value).map { try C.encode($0) } },
      problem: weight != nil && !isSearchable
        ? "'\(name)' is no text, and cannot be searchable"
        : columnProblem(of: C.Value.self, name, mayHoldEntities: mayHoldEntities))
  }

  /// Creates a property that holds a plain value.
  ///
  /// - Parameters:
  ///   - name: the name of the property, and of its column.
  ///   - keyPath: the key path of the property.
  ///   - options: the options of the column, such as `.unique` and `.indexed`.
  ///   - originalName: the name that the property had in an earlier model, from whose column the values are taken.
  ///   - defaultValue: the value of rows that were written before the column existed.
  public init<V: PersistentValue>(
    _ name: String, _ keyPath: any KeyPath<Root, V> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V? = nil
  ) {
    self.init(PlainCoding<V>.self, name, keyPath, options, originalName, defaultValue)
  }

  /// Creates a property that holds an optional plain value.
  public init<V: PersistentValue>(
    _ name: String, _ keyPath: any KeyPath<Root, V?> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V?? = nil
  ) {
    self.init(OptionalCoding<PlainCoding<V>>.self, name, keyPath, options, originalName, defaultValue)
  }

  /// Creates a property that holds an optional of an optional plain value.
  public init<V: PersistentValue>(
    _ name: String, _ keyPath: any KeyPath<Root, V??> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V??? = nil
  ) {
    self.init(OptionalCoding<OptionalCoding<PlainCoding<V>>>.self, name, keyPath, options, originalName, defaultValue)
  }

  /// Creates a property that is stored as its raw value.
  @_disfavoredOverload
  public init<V: RawRepresentable & Codable & SendableMetatype>(
    _ name: String, _ keyPath: any KeyPath<Root, V> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V? = nil
  ) where V.RawValue: PersistentValue {
    self.init(RawCoding<V>.self, name, keyPath, options, originalName, defaultValue)
  }

  /// Creates a property that holds an optional value, as its raw value.
  @_disfavoredOverload
  public init<V: RawRepresentable & Codable & SendableMetatype>(
    _ name: String, _ keyPath: any KeyPath<Root, V?> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V?? = nil
  ) where V.RawValue: PersistentValue {
    self.init(OptionalCoding<RawCoding<V>>.self, name, keyPath, options, originalName, defaultValue)
  }

  /// Creates a property that is stored as JSON.
  @_disfavoredOverload
  public init<V: Codable & SendableMetatype>(
    _ name: String, _ keyPath: any KeyPath<Root, V> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V? = nil
  ) {
    self.init(JSONCoding<V>.self, name, keyPath, options, originalName, defaultValue)
  }

  /// Creates a property that holds an optional value, as JSON.
  @_disfavoredOverload
  public init<V: Codable & SendableMetatype>(
    _ name: String, _ keyPath: any KeyPath<Root, V?> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil,
    default defaultValue: V?? = nil
  ) {
    self.init(OptionalCoding<JSONCoding<V>>.self, name, keyPath, options, originalName, defaultValue)
  }
}

// MARK: Entities

extension PersistentProperty {
  fileprivate init<T: PersistentEntity>(
    _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable, _ options: [AttributeOption],
    _ originalName: String?, to type: T.Type, isOptional: Bool,
    relation: @escaping @Sendable () -> PartialIdentifiableKeyPath<Root>
  ) {
    let column = ColumnDescription(
      name: name, originalName: originalName, role: .reference, storageClass: T.idStorageClass, isOptional: isOptional,
      isUnique: options.contains(.unique), isIndexed: options.contains(.indexed), target: T.entityName,
      coding: .reference(to: T.self))
    self.init(
      name, keyPath, originalName: originalName, columns: [column], targets: [type], relation: relation,
      problem: options.contains { $0.searchWeight != nil } ? "'\(name)' is an entity, and cannot be searchable" : nil)
  }

  fileprivate init<T: PersistentEntity>(
    _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable, _ originalName: String?, of type: T.Type,
    isOptional: Bool, isOrdered: Bool = true, key: (StorageClass, ColumnCoding)? = nil,
    relation: @escaping @Sendable () -> PartialIdentifiableKeyPath<Root>
  ) {
    let element = ColumnDescription(
      name: name, role: .reference, storageClass: T.idStorageClass, isOptional: false, target: T.entityName,
      coding: .reference(to: T.self))
    self.init(
      name, keyPath, originalName: originalName, columns: [.count(name, originalName, isOptional)],
      collections: [
        CollectionDescription(
          name: name, originalName: originalName, isOrdered: isOrdered,
          key: key.map {
            ColumnDescription(name: "key", role: .value, storageClass: $0.0, isOptional: false, coding: $0.1)
          },
          elements: [element])
      ], targets: [type], relation: relation)
  }

  /// Creates a property that refers to an entity. References are always indexed; with `.unique`, no two may lead to the same
  /// entity.
  ///
  /// - Parameters:
  ///   - name: the name of the property, and of its column.
  ///   - keyPath: the key path of the property.
  ///   - options: the options of the column, such as `.unique` and `.indexed`.
  ///   - originalName: the name that the property had in an earlier model, from whose column the values are taken.
  public init<T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, T> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil
  ) {
    self.init(name, keyPath, options, originalName, to: T.self, isOptional: false) { .init(keyPath) }
  }

  /// Creates a property that holds an optional entity, stored as a reference.
  public init<T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, T?> & Sendable, _ options: AttributeOption...,
    originalName: String? = nil
  ) {
    self.init(name, keyPath, options, originalName, to: T.self, isOptional: true) { .init(keyPath) }
  }

  /// Creates a property that holds entities in order.
  public init<T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [T]> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, of: T.self, isOptional: false) { .init(keyPath) }
  }

  /// Creates a property that holds an optional array of entities.
  public init<T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [T]?> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, of: T.self, isOptional: true) { .init(keyPath) }
  }

  /// Creates a property that holds a collection of entities.
  public init<C: RangeReplaceableCollection & MutableCollection & SendableMetatype>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, C> & Sendable, originalName: String? = nil
  ) where C.Element: PersistentEntity {
    self.init(name, keyPath, originalName, of: C.Element.self, isOptional: false) { .init(keyPath) }
  }

  /// Creates a property that holds an optional collection of entities.
  public init<C: RangeReplaceableCollection & MutableCollection & SendableMetatype>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, C?> & Sendable, originalName: String? = nil
  ) where C.Element: PersistentEntity {
    self.init(name, keyPath, originalName, of: C.Element.self, isOptional: true) { .init(keyPath) }
  }

  /// Creates a property that holds entities without an order.
  public init<T: PersistentEntity & Hashable>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, Set<T>> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, of: T.self, isOptional: false, isOrdered: false) { .init(keyPath) }
  }

  /// Creates a property that holds an optional set of entities.
  public init<T: PersistentEntity & Hashable>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, Set<T>?> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, of: T.self, isOptional: true, isOrdered: false) { .init(keyPath) }
  }

  /// Creates a property that holds entities by key.
  public init<K: PersistentValue & Hashable, T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [K: T]> & Sendable, originalName: String? = nil
  ) {
    self.init(
      name, keyPath, originalName, of: T.self, isOptional: false, isOrdered: false,
      key: (K.storageClass, ColumnCoding(PlainCoding<K>.self))
    ) {
      .init(keyPath)
    }
  }

  /// Creates a property that holds an optional dictionary of entities by plain keys.
  public init<K: PersistentValue & Hashable, T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [K: T]?> & Sendable, originalName: String? = nil
  ) {
    self.init(
      name, keyPath, originalName, of: T.self, isOptional: true, isOrdered: false,
      key: (K.storageClass, ColumnCoding(PlainCoding<K>.self))
    ) {
      .init(keyPath)
    }
  }

  /// Creates a property that holds a dictionary of entities by keys in JSON.
  @_disfavoredOverload
  public init<K: Codable & Hashable & SendableMetatype, T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [K: T]> & Sendable, originalName: String? = nil
  ) {
    self.init(
      name, keyPath, originalName, of: T.self, isOptional: false, isOrdered: false,
      key: (.text, ColumnCoding(JSONCoding<K>.self))
    ) {
      .init(keyPath)
    }
  }

  /// Creates a property that holds an optional dictionary of entities by keys in JSON.
  @_disfavoredOverload
  public init<K: Codable & Hashable & SendableMetatype, T: PersistentEntity>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [K: T]?> & Sendable, originalName: String? = nil
  ) {
    self.init(
      name, keyPath, originalName, of: T.self, isOptional: true, isOrdered: false,
      key: (.text, ColumnCoding(JSONCoding<K>.self))
    ) {
      .init(keyPath)
    }
  }
}

// MARK: Wrappers

extension PersistentProperty {
  fileprivate init<W: PersistentWrapper>(
    _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable, _ originalName: String?, wrapper: W.Type,
    isOptional: Bool, relation: @escaping @Sendable () -> PartialIdentifiableKeyPath<Root>
  ) {
    let properties = W.persistentProperties
    self.init(
      name, keyPath, originalName: originalName,
      columns: [.wrapperCase(name, originalName, isOptional, of: W.self)]
        + properties.flatMap { $0.columns.map { $0.inside(name, originalName: originalName) } },
      collections: properties.flatMap { $0.collections.map { $0.inside(name, originalName: originalName) } },
      targets: properties.flatMap(\.targets), relation: relation,
      encodeDefault: { value in
        // A default with entities would refer to entities that no store has.
        guard let wrapper = value as? W else { return nil }
        var writer = RowWriter()
        try writer.write(wrapper)
        let columns = zip(properties.flatMap(\.columns), writer.values.dropFirst())
        let isPlain = columns.allSatisfy { $0.target == nil || $1.isNull }
        return isPlain && writer.collections.allSatisfy(\.isEmpty) ? writer.values : nil
      }, problem: properties.lazy.compactMap(\.problem).first)
  }

  fileprivate init<W: PersistentWrapper>(
    _ name: String, _ keyPath: any PartialKeyPath<Root> & Sendable, _ originalName: String?, wrappers: W.Type,
    isOptional: Bool, relation: @escaping @Sendable () -> PartialIdentifiableKeyPath<Root>
  ) {
    let properties = W.persistentProperties
    let elements =
      [ColumnDescription.wrapperCase(name, nil, false, of: W.self)]
      + properties.flatMap { $0.columns.map { $0.inside(name, originalName: nil) } }
    self.init(
      name, keyPath, originalName: originalName, columns: [.count(name, originalName, isOptional)],
      collections: [
        CollectionDescription(
          name: name, originalName: originalName, isOrdered: true, key: nil, elements: elements)
      ], targets: properties.flatMap(\.targets), relation: relation,
      problem: properties.lazy.compactMap(\.problem).first)
  }

  /// Creates a property that holds a wrapper.
  public init<W: PersistentWrapper>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, W> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, wrapper: W.self, isOptional: false) { .init(wrapper: keyPath) }
  }

  /// Creates a property that holds an optional wrapper.
  public init<W: PersistentWrapper>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, W?> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, wrapper: W.self, isOptional: true) { .init(wrapper: keyPath) }
  }

  /// Creates a property that holds wrappers in order. Such wrappers cannot contain collections of entities.
  public init<W: PersistentWrapper>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [W]> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, wrappers: W.self, isOptional: false) { .init(wrapper: keyPath) }
  }

  /// Creates a property that holds an optional array of wrappers.
  public init<W: PersistentWrapper>(
    _ name: String, _ keyPath: any WritableKeyPath<Root, [W]?> & Sendable, originalName: String? = nil
  ) {
    self.init(name, keyPath, originalName, wrappers: W.self, isOptional: true) { .init(wrapper: keyPath) }
  }
}

extension ColumnDescription {
  fileprivate static func count(_ name: String, _ originalName: String?, _ isOptional: Bool) -> ColumnDescription {
    ColumnDescription(
      name: name, originalName: originalName, role: .count, storageClass: .integer, isOptional: isOptional,
      coding: .count)
  }

  fileprivate static func wrapperCase(
    _ name: String, _ originalName: String?, _ isOptional: Bool, of type: Any.Type
  ) -> ColumnDescription {
    ColumnDescription(
      name: name, originalName: originalName, role: .wrapperCase, storageClass: .text, isOptional: isOptional,
      coding: .wrapperCase(of: type))
  }
}
