// What a type declares of itself, looked up once for each table. Inlinable, so that what is called for each value is specialised
// for its type.

/// `==`, if `T` has it.
@inlinable func equality<T>(of type: T.Type) -> ((T, T) -> Bool)? {
  func open<E: Equatable>(_: E.Type) -> ((T, T) -> Bool)? {
    let equals: (E, E) -> Bool = { $0 == $1 }
    return equals as? (T, T) -> Bool
  }
  guard let equatable = T.self as? any Equatable.Type else { return nil }
  return open(equatable)
}

/// The relations that an entity's type declares.
@usableFromInline struct Declarations<T> {
  @usableFromInline let schemas: Schemas<T>
  /// The schema of the value that a node has, if the relations are asked of each value.
  @usableFromInline let ofNode: ((Node) -> AnySchema?)?
  /// The same of any value.
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
    return Declarations(
      schemas, ofNode: { $0.typed(A.self)?.value.map { schemas.find($0.nestedEntitiesKeyPaths) } },
      ofValue: { schemas.find($0.nestedEntitiesKeyPaths) })
  }
  guard let aggregate = T.self as? any Aggregate.Type, let declarations = open(aggregate) as? Declarations<T> else {
    return Declarations(Schemas(fixed: nil))
  }
  return declarations
}
