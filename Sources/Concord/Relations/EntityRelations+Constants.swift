/// What generated code says of a property that has no setter, or may have none, such as a `let`: it is warned of if it holds
/// entities, since it would show old values of them for good.
extension EntityRelations {
  /// It has a setter: a relation if its type says so when the program runs.
  public mutating func addConstant<Value>(_ path: _WritablePath<Root, Value>) { add(path.keyPath) }

  /// Any other property: not a relation.
  @_disfavoredOverload
  @inlinable public mutating func addConstant<Value>(_ keyPath: KeyPath<Root, Value>) {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps the old value of an entity: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<T: Identifiable>(_ keyPath: KeyPath<Root, T>) {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps the old value of an entity: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<T: Identifiable>(_ keyPath: KeyPath<Root, T?>) {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: Collection>(_ keyPath: KeyPath<Root, C>)
  where C.Element: Identifiable {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: Collection>(_ keyPath: KeyPath<Root, C?>)
  where C.Element: Identifiable {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: Collection & EntityContainer>(_ keyPath: KeyPath<Root, C?>)
  where C.Element: Identifiable, C.Held: Identifiable {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<Key: Hashable, T: Identifiable>(_ keyPath: KeyPath<Root, [Key: T]>) {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<Key: Hashable, T: Identifiable>(_ keyPath: KeyPath<Root, [Key: T]?>) {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: Identifiable {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @_disfavoredOverload
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: Identifiable {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<W: EntityWrapper>(_ keyPath: KeyPath<Root, W>) {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityWrapper {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityWrapper {}

  @available(
    *, deprecated,
    message:
      "a property without a setter, such as a 'let', keeps old values of its entities: declare it with 'var', or mark it '@EntityIgnored'"
  )
  @inlinable public mutating func addConstant<C: EntityContainer>(_ keyPath: KeyPath<Root, C>)
  where C.Held: EntityContainer, C.Held.Held: EntityContainer, C.Held.Held.Held: EntityWrapper {}
}

/// A key path that can only be formed on the main actor, since a property wrapper of a module that belongs to it makes the
/// property. The value itself belongs to nobody, and is read on any thread. For generated code only.
public func _keyPath<Root, Value>(
  _ form: @escaping @MainActor () -> WritableKeyPath<Root, Value>
) -> WritableKeyPath<Root, Value> {
  // A function that is isolated and synchronous is called like any other; forming a key path touches no state of the actor.
  unsafeBitCast(form, to: (() -> WritableKeyPath<Root, Value>).self)()
}

/// The same for a property without a setter.
@_disfavoredOverload
public func _keyPath<Root, Value>(_ form: @escaping @MainActor () -> KeyPath<Root, Value>) -> KeyPath<Root, Value> {
  // As above.
  unsafeBitCast(form, to: (() -> KeyPath<Root, Value>).self)()
}

/// The key path in a form that tells whether the property has a setter. For generated code only.
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

/// A key path to a property that turned out to have a setter. For generated code only.
public struct _WritablePath<Root, Value> {
  let keyPath: WritableKeyPath<Root, Value>
}
