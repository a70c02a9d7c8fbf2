extension EntityStore {
  /// Stores an entity or aggregate, and every entity inside it.
  ///
  /// ```swift
  /// let observer = store.store(book, named: .featured, modifiedAt: 9000) { $0.isFavourite = true }
  /// ```
  ///
  /// Each entity is judged on its own: if its stored stamp is not older, it is left as it is.
  ///
  /// - Parameters:
  ///   - entity: the value, with all it contains.
  ///   - alias: a name to keep the entity alive and find it by.
  ///   - stamp: how fresh the value is; if `nil`, the store's ``Stamping`` says.
  ///   - ifPresent: changes the value before it is stored, if the entity is in the store already.
  /// - Returns: an observer, which keeps the entity alive. If it is dropped and nothing else keeps the entity, that is gone.
  /// - Complexity: the number of entities in the value.
  @discardableResult
  @inlinable public func store<T: Identifiable & Sendable>(
    _ entity: T, named alias: AliasKey<T>? = nil, modifiedAt stamp: Stamp? = nil, ifPresent: ((inout T) -> Void)? = nil
  ) -> EntityObserver<T> {
    EntityObserver(
      engine.write { () -> ObserverSource<T> in
        let node = engine.store(entity, modifiedAt: stamp, ifPresent: ifPresent)
        if let alias { _ = engine.point(aliasNamed: alias.name, at: node, modifiedAt: stamp) }
        return ObserverSource(NodeRef(node: node))
      })
  }

  /// Stores several entities in one transaction, and names the collection.
  ///
  /// ```swift
  /// store.store([bookA, bookB], named: .favourites)
  /// ```
  ///
  /// - Returns: an observer of these entities, without any that is removed later.
  @discardableResult
  @inlinable public func store<C: MutableCollection & Sendable>(
    _ entities: C, named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    EntityObserver(
      engine.write {
        _ = engine.store(entities, aliasNamed: alias.name, modifiedAt: stamp)
        return engine.groupSource(of: Array(entities))
      })
  }

  /// Stores several entities in one transaction.
  ///
  /// ```swift
  /// let observer = store.store([bookA, bookB])
  /// ```
  ///
  /// - Returns: an observer of these entities, without any that is removed later.
  @discardableResult
  @inlinable public func store<C: Collection>(
    _ entities: C, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    EntityObserver(
      engine.write {
        engine.storeGroup(Array(entities), modifiedAt: stamp)
      })
  }
}
