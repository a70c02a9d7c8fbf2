// The declarations of a type, looked up once for each table. Inlinable, so that functions called for each value are
// specialised for the type.

/// Returns the `==` of a type, if it is `Equatable`.
@inlinable func equality<T>(of type: T.Type) -> ((T, T) -> Bool)? {
  guard let isEqualAt = equalityInPlace(of: type) else { return nil }
  return { a, b in withUnsafePointer(to: a) { a in withUnsafePointer(to: b) { isEqualAt(a, $0) } } }
}

/// Returns the `==` of a type for the values at two addresses, if the type is `Equatable`.
// By addresses, since a function of values that passes through a cast or a generic function is called through a thunk for each.
@inlinable func equalityInPlace<T>(of type: T.Type) -> ((UnsafeRawPointer, UnsafeRawPointer) -> Bool)? {
  func open<E: Equatable>(_: E.Type) -> (UnsafeRawPointer, UnsafeRawPointer) -> Bool {
    { $0.assumingMemoryBound(to: E.self).pointee == $1.assumingMemoryBound(to: E.self).pointee }
  }
  guard let equatable = T.self as? any Equatable.Type else { return nil }
  return open(equatable)
}

/// The relations that an entity's type declares.
@usableFromInline struct Declarations<T> {
  @usableFromInline let schemas: Schemas<T>
  /// A function that returns the schema of a node's value, if each value tells its relations.
  @usableFromInline let ofNode: ((Node) -> AnySchema?)?
  /// A function that returns the schema of a value, if each value tells its relations.
  @usableFromInline let ofValue: ((T) -> Schema<T>)?

  @inlinable init(
    _ schemas: Schemas<T>, ofNode: ((Node) -> AnySchema?)? = nil, ofValue: ((T) -> Schema<T>)? = nil
  ) {
    (self.schemas, self.ofNode, self.ofValue) = (schemas, ofNode, ofValue)
  }

  @inlinable var isAggregate: Bool { schemas.fixed != nil || ofValue != nil }
}

@inlinable func declarations<T: Identifiable & Sendable>(of type: T.Type) -> Declarations<T> {
  func open<A: Aggregate>(_: A.Type) -> Any {
    let schemas = Schemas<A>(fixed: A.fixedRelations)
    if schemas.fixed != nil { return Declarations(schemas) }
    // Shared by the two functions, to limit code size.
    @inline(never) func schema(of value: A) -> Schema<A> { schemas.find(value.nestedEntitiesKeyPaths) }
    return Declarations(
      schemas,
      ofNode: { node in
        // Taken out meanwhile, so that it is not copied: the value's code cannot call back, since the lock is held.
        guard let node = node.typed(A.self), let value = node.value.take() else { return nil }
        let found = schema(of: value)
        node.value = consume value
        return found
      }, ofValue: schema)
  }
  guard let aggregate = T.self as? any Aggregate.Type, let declarations = open(aggregate) as? Declarations<T> else {
    return Declarations(Schemas(fixed: nil))
  }
  return declarations
}
