/// Overloads for properties that may have no setter, such as a `let`. Generated code calls them; one whose type holds
/// entities gives a warning, since the property would keep old values of them.
extension EntityRelations {
  /// Adds a property that has a setter after all, if its type holds entities, which is found at run time.
  public mutating func addConstant<Value>(_ path: _WritablePath<Root, Value>) { add(path.keyPath) }

  /// Ignores any other property.
  @_disfavoredOverload
  @inlinable public mutating func addConstant<Value>(_ keyPath: KeyPath<Root, Value>) {}

  /// Warns of a property without a setter that holds an entity.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps the old value of an entity: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<T: Identifiable>(_ keyPath: KeyPath<Root, T>) {}

  /// Warns of a property without a setter that holds an optional entity.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps the old value of an entity: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<T: Identifiable>(_ keyPath: KeyPath<Root, T?>) {}

  /// Warns of a property without a setter that holds a collection of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: Collection>(_ keyPath: KeyPath<Root, C>)
  where C.Element: Identifiable {}

  /// Warns of a property without a setter that holds an optional collection of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: Collection>(_ keyPath: KeyPath<Root, C?>)
  where C.Element: Identifiable {}

  /// Warns of a property without a setter that holds an optional collection of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: Collection & EntityContainer>(_ keyPath: KeyPath<Root, C?>)
  where C.Element: Identifiable, C.Held: Identifiable {}

  /// Warns of a property without a setter that holds a dictionary of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<Key: Hashable, T: Identifiable>(_ keyPath: KeyPath<Root, [Key: T]>) {}

  /// Warns of a property without a setter that holds an optional dictionary of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<Key: Hashable, T: Identifiable>(_ keyPath: KeyPath<Root, [Key: T]?>) {}

  /// Warns of a property without a setter that holds a container of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: Identifiable {}

  /// Warns of a property without a setter that holds a container of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: Identifiable {}

  /// Warns of a property without a setter that holds a wrapper.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<W: EntityWrapper>(_ keyPath: KeyPath<Root, W>) {}

  /// Warns of a property without a setter that holds a container of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityWrapper {}

  /// Warns of a property without a setter that holds a container of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityWrapper {}

  /// Warns of a property without a setter that holds a container of entities.
  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityWrapper {}
}

/// Forms a key path that the compiler allows on the main actor only, because the property's wrapper comes from a module that is
/// isolated to it. The value belongs to no actor, and is read on any thread. For generated code only.
public func _keyPath<Root, Value>(
  _ form: @escaping @MainActor () -> WritableKeyPath<Root, Value>
) -> WritableKeyPath<Root, Value> {
  // An isolated synchronous function has the same calling convention; forming a key path touches no state of the actor.
  unsafeBitCast(form, to: (() -> WritableKeyPath<Root, Value>).self)()
}

/// Forms a key path to a property without a setter, which the compiler allows on the main actor only. For generated code only.
@_disfavoredOverload
public func _keyPath<Root, Value>(_ form: @escaping @MainActor () -> KeyPath<Root, Value>) -> KeyPath<Root, Value> {
  // As above.
  unsafeBitCast(form, to: (() -> KeyPath<Root, Value>).self)()
}

/// Returns the key path in a type that tells whether the property has a setter. For generated code only.
public func _relationPath<Root, Value>(
  _ form: @escaping @MainActor () -> WritableKeyPath<Root, Value>
) -> _WritablePath<Root, Value> {
  _WritablePath(keyPath: _keyPath(form))
}

@_disfavoredOverload
public func _relationPath<Root, Value>(
  _ form: @escaping @MainActor () -> KeyPath<Root, Value>
) -> KeyPath<Root, Value> {
  _keyPath(form)
}

/// A key path to a property that has a setter. For generated code only.
public struct _WritablePath<Root, Value> {
  let keyPath: WritableKeyPath<Root, Value>
}
