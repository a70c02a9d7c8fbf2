/// A list of a type's relations, filled by overload resolution: `add` adds a property if its type can contain entities, and
/// ignores any other. The code that `@Entity` and `@EntityWrapper` generate uses it.
///
/// ```swift
/// var relations = EntityRelations<Book>()
/// relations.add(\.author)    // an entity: a relation
/// relations.add(\.chapters)  // a [String: [Chapter]]: a relation
/// relations.add(\.status)    // an enum without entities: nothing
/// ```
///
/// Deeper containers, and types behind a generic parameter, are examined at run time, when the store reads the relations. A
/// wrapper that is also `Identifiable` is a wrapper.
public struct EntityRelations<Root> {
  /// The relations added so far.
  public var keyPaths: [PartialIdentifiableKeyPath<Root>] { found }
  @usableFromInline var found: [PartialIdentifiableKeyPath<Root>] = []

  /// Creates an empty list of relations.
  @inlinable public init() {}

  /// Adds any other property, if its type contains entities, which is found at run time.
  @_disfavoredOverload
  public mutating func add<Value>(_ keyPath: WritableKeyPath<Root, Value>) {
    if let place = findPlace(Value.self) { found.append(place.described(at: keyPath)) }
  }

  /// Refuses a property without a setter.
  @available(*, unavailable, message: "the store writes newer values here: declare it with var, or use 'addConstant'")
  public mutating func add<Value>(_ keyPath: KeyPath<Root, Value>) {}
}

// MARK: Entities

extension EntityRelations {
  /// Adds a property that holds an array of arrays of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [[T]]>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an array of optional entities.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T?]>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds a dictionary of arrays of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: [T]]>
  ) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an entity.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an optional entity.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T?>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an optional of an optional entity.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, T??>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an array of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an optional array of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Sendable>(_ keyPath: WritableKeyPath<Root, [T]?>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds a collection of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C>
  ) where C.Element: Identifiable & Sendable {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an optional collection of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<C: MutableCollection>(
    _ keyPath: WritableKeyPath<Root, C?>
  ) where C.Element: Identifiable & Sendable {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds a set of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>>) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an optional set of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable & Hashable & Sendable>(_ keyPath: WritableKeyPath<Root, Set<T>?>)
  {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds a dictionary of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: T]>
  ) {
    found.append(.init(keyPath))
  }

  /// Adds a property that holds an optional dictionary of entities.
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable & Sendable>(
    _ keyPath: WritableKeyPath<Root, [Key: T]?>
  ) {
    found.append(.init(keyPath))
  }
}

// MARK: Wrappers

extension EntityRelations {
  /// Adds a property that holds a dictionary of wrappers.
  @inlinable public mutating func add<Key: Hashable, W: EntityWrapper>(_ keyPath: WritableKeyPath<Root, [Key: W]>) {
    found.append(.init(wrapper: keyPath))
  }

  /// Adds a property that holds a wrapper.
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: WritableKeyPath<Root, W>) {
    found.append(.init(wrapper: keyPath))
  }

  /// Adds a property that holds an optional wrapper.
  @inlinable public mutating func add<W: EntityWrapper>(_ keyPath: WritableKeyPath<Root, W?>) {
    found.append(.init(wrapper: keyPath))
  }

  /// Adds a property that holds a collection of wrappers.
  @inlinable public mutating func add<C: MutableCollection>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Element: EntityWrapper {
    found.append(.init(wrapper: keyPath))
  }

  /// Adds a property that holds an optional collection of wrappers.
  @inlinable public mutating func add<C: MutableCollection>(_ keyPath: WritableKeyPath<Root, C?>)
  where C.Element: EntityWrapper {
    found.append(.init(wrapper: keyPath))
  }
}

// MARK: What cannot show newer values

extension EntityRelations {
  /// Warns of a collection of entities that the store cannot write in.
  @available(
    *, deprecated,
    message: "the store can write in a 'MutableCollection' only: take an array, or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Element: Identifiable & Sendable {}
}

// MARK: Entities of an actor

// In a module that is isolated to the main actor by default, `struct Writer: Identifiable` is an entity on that actor only,
// which no store can use. The compiler then selects these overloads, whose messages say so.
extension EntityRelations {
  /// Warns of an entity that belongs to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, T>) {}

  /// Warns of an optional entity that belongs to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, T?>) {}

  /// Warns of a collection of entities that belong to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: WritableKeyPath<Root, C>)
  where C.Element: Identifiable {}

  /// Warns of an optional collection of entities that belong to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<C: Collection>(_ keyPath: WritableKeyPath<Root, C?>)
  where C.Element: Identifiable {}

  /// Warns of a dictionary of entities that belong to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable>(_ keyPath: WritableKeyPath<Root, [Key: T]>) {}

  /// Warns of an array of arrays of entities that belong to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, [[T]]>) {}

  /// Warns of an array of optional entities that belong to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<T: Identifiable>(_ keyPath: WritableKeyPath<Root, [T?]>) {}

  /// Warns of a dictionary of arrays of entities that belong to an actor.
  @available(*, deprecated, message: "an entity belongs to no actor: declare it 'nonisolated', or use '@EntityIgnored'")
  @_disfavoredOverload
  @inlinable public mutating func add<Key: Hashable, T: Identifiable>(_ keyPath: WritableKeyPath<Root, [Key: [T]]>) {}
}

// MARK: What generated code leaves out

extension EntityRelations {
  /// Ignores a type of the standard library or of Foundation, which contains no entities.
  @inlinable public mutating func leaveOut<T: _PlainValue>(_ type: T.Type) {}

  /// Ignores a type of the user's that has the name of a plain type, and contains no entities.
  @_disfavoredOverload
  @inlinable public mutating func leaveOut<T>(_ type: T.Type) {}

  /// Warns of an entity that has the name of a plain type.
  @available(
    *, deprecated,
    message: "an entity with the name of a plain type: write it with its module, as in 'Shop.Date'"
  )
  @_disfavoredOverload
  @inlinable public mutating func leaveOut<T: Identifiable & Sendable>(_ type: T.Type) {}

  /// Warns of a wrapper that has the name of a plain type.
  @available(
    *, deprecated,
    message: "a wrapper with the name of a plain type: write it with its module, as in 'Shop.Data'"
  )
  @_disfavoredOverload
  @inlinable public mutating func leaveOut<W: EntityWrapper>(_ type: W.Type) {}
}

extension PartialIdentifiableKeyPath {
  /// Returns the path prefixed with a key path to its root. For generated code only.
  public func _appended<Parent>(to parent: WritableKeyPath<Parent, Root>) -> PartialIdentifiableKeyPath<Parent> {
    // The one initializer ties the type of the path to `place`, so no data makes the cast fail. A trap is better than a
    // relation that is silently ignored.
    func append<P: Place>(_ place: P.Type) -> PartialIdentifiableKeyPath<Parent>? {
      (keyPath as? WritableKeyPath<Root, P.Value>).map { .init(parent.appending(path: $0), place) }
    }
    guard let appended = append(place) else { preconditionFailure("a key path of the type it was made with") }
    return appended
  }
}
