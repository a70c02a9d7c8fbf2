// Overloads with a required name of the methods whose name is optional. Where two types have an alias of the same name, the
// compiler warns that `.featured`, passed as an optional, might mean a member of `Optional`; with these overloads it does not.
//
// They are hidden in the documentation.
extension EntityStore {
  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func store<T: Identifiable & Sendable>(
    _ entity: T, named alias: AliasKey<T>, modifiedAt stamp: Stamp? = nil, ifPresent: ((inout T) -> Void)? = nil
  ) -> EntityObserver<T> {
    store(entity, named: .some(alias), modifiedAt: stamp, ifPresent: ifPresent)
  }

  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func store<T: Aggregate>(
    _ entity: T, named alias: AliasKey<T>, modifiedAt stamp: Stamp? = nil, ifPresent: ((inout T) -> Void)? = nil
  ) -> EntityObserver<T> {
    store(entity, named: .some(alias), modifiedAt: stamp, ifPresent: ifPresent)
  }

  @_documentation(visibility: internal)
  @discardableResult
  public func store<T: Identifiable & Sendable>(
    _ entity: T, named alias: AliasKey<T>, modifiedAt stamp: Stamp? = nil, merging rule: MergeRule<T>
  ) -> EntityObserver<T> {
    store(entity, named: .some(alias), modifiedAt: stamp, merging: rule)
  }

  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func store<T: Identifiable & Sendable>(
    entity: T, named alias: AliasKey<T>, modifiedAt stamp: Stamp? = nil, ifPresent: Update<T>? = nil
  ) -> EntityObserver<T> {
    store(entity, named: .some(alias), modifiedAt: stamp, ifPresent: ifPresent)
  }

  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func store<C: MutableCollection & Sendable>(
    entities: C, named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    store(entities, named: alias, modifiedAt: stamp)
  }

  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func store<T: Identifiable & Hashable & Sendable>(
    entities: Set<T>, named alias: AliasKey<Set<T>>, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[T]> {
    store(entities, named: alias, modifiedAt: stamp)
  }
}
