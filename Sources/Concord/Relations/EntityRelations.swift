/// The relations of a type, found by overload resolution: `add` adds a property's place if entities can stand in it, and
/// does nothing for any other property. What `@Entity` and `@EntityWrapper` write is made of it.
///
/// ```swift
/// var relations = EntityRelations<Book>()
/// relations.add(\.author)    // an entity: a relation
/// relations.add(\.chapters)  // a [String: [Chapter]]: a relation
/// relations.add(\.status)    // an enum without entities: nothing
/// ```
///
/// What stands deeper than the overloads reach, or behind a generic parameter, is found by the type when the store asks for
/// the relations. A wrapper that is `Identifiable` too is a wrapper.
public struct EntityRelations<Root> {
  /// The places found.
  public var keyPaths: [PartialIdentifiableKeyPath<Root>] { found }
  @usableFromInline var found: [PartialIdentifiableKeyPath<Root>] = []

  @inlinable public init() {}

  /// Any other property: a relation if its type says so when the program runs.
  @_disfavoredOverload
  public mutating func add<Value>(_ keyPath: WritableKeyPath<Root, Value>) {
    if let place = findPlace(Value.self) { found.append(place.described(at: keyPath)) }
  }

  @available(*, unavailable, message: "the store writes newer values here: declare it with var, or use 'addConstant'")
  public mutating func add<Value>(_ keyPath: KeyPath<Root, Value>) {}
}

// MARK: Entities

extension EntityRelations {
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [[T]]>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T?]>) {
    found.append(.init(keyPath))
  }

  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: [T]]>
  ) {
    found.append(.init(keyPath))
  }

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
  @inlinable public mutating func add<Key: Hashable, W: EntityWrapper>(_ keyPath: WritableKeyPath<Root, [Key: W]>) {
    found.append(.init(wrapper: keyPath))
  }

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

// MARK: What cannot show newer values

extension EntityRelations {
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
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, T>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, T?>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Element: Identifiable {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: WritableKeyPath<Root, C?>)
  where C.Element: Identifiable {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable>(_ keyPath: WritableKeyPath<Root, [Key: T]>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, [[T]]>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, [T?]>) {}

  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable>(_ keyPath: WritableKeyPath<Root, [Key: [T]]>) {}
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
    // `place` says of which type the path is: both come from the one initializer, whose signature ties them together. So no data
    // makes the cast fail; and a relation left out in silence would be worse than a trap.
    func append<P: Place>(_ place: P.Type) -> PartialIdentifiableKeyPath<Parent>? {
      (keyPath as? WritableKeyPath<Root, P.Value>).map { .init(parent.appending(path: $0), place) }
    }
    guard let appended = append(place) else { preconditionFailure("a key path of the type it was made with") }
    return appended
  }
}
