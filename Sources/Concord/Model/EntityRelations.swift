/// The relations of a type, found by overload resolution: `add` adds a property's place if entities can stand in it, and
/// does nothing for any other property. What `@Entity` and `@EntityWrapper` write is made of it.
///
/// ```swift
/// var relations = EntityRelations<Book>()
/// relations.add(\.author)  // an entity: a relation
/// relations.add(\.status)  // an enum without entities: nothing
/// ```
///
/// A wrapper that is `Identifiable` too is a wrapper: the overloads for wrappers are preferred to those for entities.
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
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T?>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T??>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]?>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C>
  ) where C.Element: Identifiable & Sendable {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C?>
  ) where C.Element: Identifiable & Sendable {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>?>)
  {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: T]>
  ) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
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

// MARK: Properties that cannot show newer values

// Saying so at the place that makes the relation is better than showing old values.
extension EntityRelations {
  @available(
    *, deprecated,
    message: "a 'let' keeps the old value of an entity: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, T>) {}

  @available(
    *, deprecated,
    message: "a 'let' keeps the old value of an entity: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, T?>) {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C>)
  where C.Element: Identifiable & Sendable {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C?>)
  where C.Element: Identifiable & Sendable {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, [Key: T]>) {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(_ keyPath: KeyPath<Root, [Key: T]?>) {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: KeyPath<Root, W>) {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: KeyPath<Root, W?>) {}

  @available(
    *, deprecated,
    message: "a 'let' keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C>) where C.Element: EntityWrapper {}

  @available(
    *, deprecated,
    message: "the store can write in a 'MutableCollection' only: take an array, or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Element: Identifiable & Sendable {}
}

// MARK: Entities of an actor

// In a module whose default is the main actor, `struct Writer: Identifiable` is an entity on that actor only, which no store
// can use. These are taken then, and the compiler says why that cannot be.
extension EntityRelations {
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: KeyPath<Root, T>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: KeyPath<Root, T?>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C>) where C.Element: Identifiable {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: KeyPath<Root, C?>) where C.Element: Identifiable {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable>(_ keyPath: KeyPath<Root, [Key: T]>) {}
}

// MARK: What generated code leaves out

extension EntityRelations {
  /// A type of the standard library or of Foundation: no entity can stand in it.
  @inlinable public mutating func leaveOut<T: _PlainValue>(_ type: T.Type) {}

  /// A type of the user's by the same name, which is no entity either.
  @_disfavoredOverload
  @inlinable public mutating func leaveOut<T>(_ type: T.Type) {}

  @available(
    *, deprecated,
    message: "an entity with the name of a plain type: write it with its module, as in 'Shop.Date'"
  )
  @_disfavoredOverload
  @inlinable public mutating func leaveOut<T: Identifiable & Sendable>(_ type: T.Type) {}

  @available(
    *, deprecated,
    message: "a wrapper with the name of a plain type: write it with its module, as in 'Shop.Data'"
  )
  @_disfavoredOverload
  @inlinable public mutating func leaveOut<W: EntityWrapper>(_ type: W.Type) {}
}

extension PartialIdentifiableKeyPath {
  /// The same place, seen from where a `Root` stands. For generated code only.
  public func _appended<Parent>(to parent: WritableKeyPath<Parent, Root>) -> PartialIdentifiableKeyPath<Parent> {
    // `place` says of which type the path is.
    func append<P: Place>(_ place: P.Type) -> PartialIdentifiableKeyPath<Parent>? {
      (keyPath as? WritableKeyPath<Root, P.Value>).map { .init(parent.appending(path: $0), place) }
    }
    guard let appended = append(place) else { preconditionFailure("a key path of the type it was made with") }
    return appended
  }
}

/// A key path that can only be formed on the main actor, since a property wrapper of a module that belongs to it makes the
/// property. The value itself belongs to nobody, and is read on any thread. For generated code only.
public func _keyPath<Root, Value>(
  _ form: @escaping @MainActor () -> WritableKeyPath<Root, Value>
) -> WritableKeyPath<Root, Value> {
  unsafeBitCast(form, to: (() -> WritableKeyPath<Root, Value>).self)()
}

/// The same for a property without a setter.
@_disfavoredOverload
public func _keyPath<Root, Value>(_ form: @escaping @MainActor () -> KeyPath<Root, Value>) -> KeyPath<Root, Value> {
  unsafeBitCast(form, to: (() -> KeyPath<Root, Value>).self)()
}
