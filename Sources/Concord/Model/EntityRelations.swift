/// The relations of a type, found by overload resolution: `add` adds a property's place if entities can stand in it, and
/// does nothing for any other property. What `@Entity` and `@EntityWrapper` write is made of it.
///
/// ```swift
/// var relations = EntityRelations<Book>()
/// relations.add(\.author)  // an entity: a relation
/// relations.add(\.title)   // a string: nothing
/// ```
public struct EntityRelations<Root> {
  /// The places found.
  public var keyPaths: [PartialIdentifiableKeyPath<Root>] { found }
  @usableFromInline var found: [PartialIdentifiableKeyPath<Root>] = []

  @inlinable public init() {}

  /// Any other property: not a relation.
  @_disfavoredOverload
  @inlinable public mutating func add<Value>(_ keyPath: KeyPath<Root, Value>) {}
}

// MARK: Entities

extension EntityRelations {
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T>) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T?>) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T??>) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]>) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]?>) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C>
  ) where C.Element: Identifiable & Sendable {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C?>
  ) where C.Element: Identifiable & Sendable {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>>) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>?>)
  {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: T]>
  ) {
    found.append(.init(keyPath))
  }

  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: T]?>
  ) {
    found.append(.init(keyPath))
  }
}

// MARK: Wrappers

extension EntityRelations {
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: WritableKeyPath<Root, W>) {
    found.append(.init(wrapper: keyPath))
  }

  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: WritableKeyPath<Root, W?>) {
    found.append(.init(wrapper: keyPath))
  }

  @inlinable public mutating func add<C: MutableCollection>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Element: EntityWrapper {
    found.append(.init(wrapper: keyPath))
  }

  @inlinable public mutating func add<C: MutableCollection>(_ keyPath: WritableKeyPath<Root, C?>)
  where C.Element: EntityWrapper {
    found.append(.init(wrapper: keyPath))
  }
}

// MARK: Read-only properties

// A constant cannot show newer values. Saying so at the place that makes the relation is better than showing old ones.
extension EntityRelations {
  @available(*, deprecated, message: "the store writes newer values of an entity here: declare it with var")
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, T>) {}

  @available(*, deprecated, message: "the store writes newer values of an entity here: declare it with var")
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, T?>) {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C>)
  where C.Element: Identifiable & Sendable {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C?>)
  where C.Element: Identifiable & Sendable {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, [Key: T]>) {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, [Key: T]?>) {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: KeyPath<Root, W>) {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: KeyPath<Root, W?>) {}

  @available(*, deprecated, message: "the store writes newer values of entities here: declare it with var")
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C>) where C.Element: EntityWrapper {}
}
