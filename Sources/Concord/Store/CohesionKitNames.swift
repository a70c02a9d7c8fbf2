/// What CohesionKit called differently.
@available(*, deprecated, renamed: "EntityStore")
public typealias IdentityMap = EntityStore

extension EntityStore {
  /// CohesionKit's form of ``store(_:named:modifiedAt:ifPresent:)``.
  @discardableResult
  @inlinable public func store<T: Identifiable & Sendable>(
    entity: T, named alias: AliasKey<T>? = nil, modifiedAt stamp: Stamp? = nil, ifPresent: ((inout T) -> Void)? = nil
  ) -> EntityObserver<T> {
    store(entity, named: alias, modifiedAt: stamp, ifPresent: ifPresent)
  }

  /// CohesionKit's form of ``store(_:named:modifiedAt:)``.
  @discardableResult
  @inlinable public func store<C: MutableCollection & Sendable>(
    entities: C, named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    store(entities, named: alias, modifiedAt: stamp)
  }

  /// CohesionKit's form of ``store(_:modifiedAt:)``.
  @discardableResult
  @inlinable public func store<C: Collection>(
    entities: C, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    store(entities, modifiedAt: stamp)
  }
}

extension AliasKey {
  /// CohesionKit's form of ``init(_:)``.
  public init(named name: String) { self.init(name) }
}
