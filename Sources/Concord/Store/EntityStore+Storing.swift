extension EntityStore {
  /// Stores an entity or aggregate, and every entity inside it.
  ///
  /// ```swift
  /// let observer = store.store(book, named: .featured, modifiedAt: 9000) { $0.isFavourite = true }
  /// ```
  ///
  /// Stamps count for each entity on its own: one whose stored stamp is not older is left as it is.
  ///
  /// - Parameters:
  ///   - entity: the value, with all it contains.
  ///   - alias: a name to keep the entity alive and find it by.
  ///   - stamp: the stamp of the value; if `nil`, the store's ``Stamping`` decides.
  ///   - ifPresent: a closure that receives the given value and changes it before it is stored. It is called if the entity is in the store
  ///     already, on the calling thread, within the transaction.
  /// - Returns: an observer, which retains the entity. If it is released, and nothing else retains the entity, so is the
  ///   entity.
  /// - Complexity: the number of entities in the value.
  @discardableResult
  @inlinable public func store<T: Identifiable & Sendable>(
    _ entity: T, named alias: AliasKey<T>? = nil, modifiedAt stamp: Stamp? = nil, ifPresent: ((inout T) -> Void)? = nil
  ) -> EntityObserver<T> {
    shared.write(token, storing: entity, stamp, only: alias == nil && ifPresent == nil) { core in
      core.prepare()
      return core.graph.withTable(T.self) { table in
        if ifPresent == nil, alias == nil, !table.isAggregate {
          return EntityObserver(ObserverSource(core.storeFlat(entity, in: table, stamp), shared))
        }
        let node = shared.store(core, entity, in: table, alias, stamp, ifPresent)
        return EntityObserver(ObserverSource(node, shared))
      }
    } unchanged: {
      EntityObserver(ObserverSource($0, shared))
    }
  }

  /// Stores an aggregate, and every entity inside it. Callers need not compile the code for entities without relations.
  // Hidden in the documentation, since `store` is described above.
  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func store<T: Aggregate>(
    _ entity: T, named alias: AliasKey<T>? = nil, modifiedAt stamp: Stamp? = nil, ifPresent: ((inout T) -> Void)? = nil
  ) -> EntityObserver<T> {
    shared.write(token, storing: entity, stamp, only: alias == nil && ifPresent == nil) { core in
      core.prepare()
      let node = shared.store(core, entity, in: core.graph.table(T.self), alias, stamp, ifPresent)
      return EntityObserver(ObserverSource(node, shared))
    } unchanged: {
      EntityObserver(ObserverSource($0, shared))
    }
  }

  /// Stores several entities in one transaction, and names the collection.
  ///
  /// ```swift
  /// store.store([bookA, bookB], named: .favourites)
  /// ```
  ///
  /// - Parameters:
  ///   - entities: the values, with all they contain.
  ///   - alias: a name to keep the entities alive and find the collection by.
  ///   - stamp: the stamp of the values; if `nil`, the store's ``Stamping`` decides.
  /// - Returns: an observer of these entities, without any that is removed later.
  /// - Complexity: the number of entities in the values.
  @discardableResult
  public func store<C: MutableCollection & Sendable>(
    _ entities: C, named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    shared.write(token) { core in
      core.prepare()
      core.store(entities, in: CollectionAlias<C>.self, aliasNamed: alias.name, modifiedAt: stamp)
      return EntityObserver(core.groupSource(of: Array(entities), shared))
    }
  }

  /// Stores several entities in one transaction.
  ///
  /// ```swift
  /// let observer = store.store([bookA, bookB])
  /// ```
  ///
  /// - Parameters:
  ///   - entities: the values, with all they contain.
  ///   - stamp: the stamp of the values; if `nil`, the store's ``Stamping`` decides.
  /// - Returns: an observer of these entities, without any that is removed later.
  /// - Complexity: the number of entities in the values.
  @discardableResult
  @inlinable public func store<C: Collection>(
    _ entities: C, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    storeAll(Array(entities), stamp, Group<C.Element>.relations)
  }

  /// Stores several values. The relations come from callers that know the type, so that they are specialised for it.
  @usableFromInline func storeAll<T: Identifiable & Sendable>(
    _ entities: [T], _ stamp: Stamp?, _ relations: [PartialIdentifiableKeyPath<Group<T>>]
  ) -> EntityObserver<[T]> {
    shared.write(token) { core in
      core.prepare()
      return EntityObserver(core.storeGroup(entities, modifiedAt: stamp, relations, shared))
    }
  }
}

// Not specialised for the type. Optionals of the type are passed in other forms, since each call would ask the runtime for the
// metadata of the optional.
extension SharedCore {
  /// Stores a value with all it contains, changed by a closure if the entity is stored already, and names it. The lock is held.
  @usableFromInline func store<T: Identifiable & Sendable>(
    _ core: StoreCore, _ entity: T, in table: Table<T>, _ alias: AliasKey<T>?, _ stamp: Stamp?,
    _ ifPresent: ((inout T) -> Void)?
  ) -> EntityNode<T> {
    let node =
      if let ifPresent, table.find(entity.id)?.exists == true {
        store(core, changed: entity, in: table, stamp, by: ifPresent)
      } else {
        core.store(entity, in: table, stamp)
      }
    if let alias { _ = core.point(aliasNamed: alias.name, at: node, modifiedAt: stamp) }
    return node
  }

  private func store<T: Identifiable & Sendable>(
    _ core: StoreCore, changed entity: T, in table: Table<T>, _ stamp: Stamp?, by ifPresent: (inout T) -> Void
  ) -> EntityNode<T> {
    var value = entity
    unlocked { ifPresent(&value) }
    core.prepare()
    let node = table.isAggregate ? core.storeAggregate(value, in: table, stamp, changedFrom: entity) : nil
    return node ?? core.storeFlat(value, in: table, stamp)
  }
}
