extension EntityStore {
  /// Stores a value that may be a part only: what it lacks stays as it is stored.
  ///
  /// ```swift
  /// // The list has less than the page: no summary, no reviews.
  /// store.store(Book(id: "emma", title: "Emma", summary: nil, reviews: []), merging: .ifPresent)
  /// ```
  ///
  /// This holds for the value and for all entities inside it. Everything else is as with
  /// ``store(_:named:modifiedAt:ifPresent:)``: what is stored with a newer stamp is left as it is, and an entity that is new
  /// is stored with what there is. What stays keeps the stamp that it has, if it is an entity.
  ///
  /// - Parameters:
  ///   - entity: the value, with all it contains.
  ///   - alias: a name to keep the entity alive and find it by.
  ///   - stamp: how fresh the value is; if `nil`, the store's ``Stamping`` says.
  ///   - rule: which fields may be missing.
  /// - Complexity: the number of entities in the value, and the fields that may be missing.
  @discardableResult
  public func store<T: Identifiable & Sendable>(
    _ entity: T, named alias: AliasKey<T>? = nil, modifiedAt stamp: Stamp? = nil, merging rule: MergeRule<T>
  ) -> EntityObserver<T> {
    shared.write(token) { core in
      core.prepare()
      let table = core.graph.table(T.self)
      var node: EntityNode<T>?
      if table.isAggregate {
        node = core.withPartialValues(rule.fields) { core.storeAggregate(entity, in: table, stamp) }
      } else if let known = table.find(entity.id), known.exists,
        let filled = table.filled(entity, from: known, rule.fields)
      {
        node = core.storeFlat(filled, in: table, stamp)
      }
      let stored = node ?? core.storeFlat(entity, in: table, stamp)
      if let alias { _ = core.point(aliasNamed: alias.name, at: stored, modifiedAt: stamp) }
      return EntityObserver(ObserverSource(stored, shared))
    }
  }

  /// Stores several values that may be parts only, in one transaction, and names the collection.
  ///
  /// ```swift
  /// store.store(try await api.books(), named: .catalogue, merging: .ifPresent)
  /// ```
  @discardableResult
  public func store<C: MutableCollection & Sendable>(
    _ entities: C, named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil, merging rule: MergeRule<C.Element>
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    shared.write(token) { core in
      core.prepare()
      return core.withPartialValues(rule.fields) {
        core.store(entities, in: CollectionAlias<C>.self, aliasNamed: alias.name, modifiedAt: stamp)
        return EntityObserver(core.groupSource(of: Array(entities), shared))
      }
    }
  }

  /// Stores several values that may be parts only, in one transaction.
  @discardableResult
  public func store<C: Collection>(
    _ entities: C, modifiedAt stamp: Stamp? = nil, merging rule: MergeRule<C.Element>
  ) -> EntityObserver<[C.Element]> where C.Element: Identifiable & Sendable {
    shared.write(token) { core in
      core.prepare()
      return core.withPartialValues(rule.fields) {
        EntityObserver(core.storeGroup(Array(entities), modifiedAt: stamp, Group<C.Element>.relations, shared))
      }
    }
  }
}

extension StoreCore {
  /// Stores with a rule: what is missing in a value of an entity that is there already, stays.
  fileprivate func withPartialValues<R>(_ fields: Any, _ store: () -> R) -> R {
    let result = merge.withPartialValues(fields, store)
    settleShapes()
    return result
  }
}
