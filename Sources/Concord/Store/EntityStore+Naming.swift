// Those that take a name which may be missing once more, for a name that is there. Where two types have an alias of one name, the
// compiler asks of `.featured`, given for an optional, whether an optional's own was meant; here it does not.
//
// They say nothing of their own in the documentation.
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
