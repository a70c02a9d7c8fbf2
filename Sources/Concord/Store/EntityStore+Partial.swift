extension EntityStore {
  /// Stores a value that may be incomplete: parts that it lacks are kept as they are stored.
  ///
  /// ```swift
  /// // The list has less than the page: no summary, no reviews.
  /// store.store(Book(id: "emma", title: "Emma", summary: nil, reviews: []), merging: .ifPresent)
  /// ```
  ///
  /// This holds for the value and for all entities inside it. Otherwise it works as ``store(_:named:modifiedAt:ifPresent:)``:
  /// entities with a newer stamp are left as they are, and a new entity is stored as it is given. An entity that is kept
  /// keeps its stamp.
  ///
  /// - Parameters:
  ///   - entity: the value, with all it contains.
  ///   - alias: a name to keep the entity alive and find it by.
  ///   - stamp: the stamp of the value; if `nil`, the store's ``Stamping`` decides.
  ///   - rule: the fields that may be missing.
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

  /// Stores several values that may be incomplete, in one transaction, and names the collection.
  ///
  /// ```swift
  /// store.store(try await api.books(), named: .catalogue, merging: .ifPresent)
  /// ```
  ///
  /// - Parameters:
  ///   - entities: the values, with all they contain.
  ///   - alias: a name to keep the entities alive and find the collection by.
  ///   - stamp: the stamp of the values; if `nil`, the store's ``Stamping`` decides.
  ///   - rule: the fields that may be missing.
  /// - Complexity: the number of entities in the values, and the fields that may be missing.
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

  /// Stores several values that may be incomplete, in one transaction.
  ///
  /// - Parameters:
  ///   - entities: the values, with all they contain.
  ///   - stamp: the stamp of the values; if `nil`, the store's ``Stamping`` decides.
  ///   - rule: the fields that may be missing.
  /// - Complexity: the number of entities in the values, and the fields that may be missing.
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
  /// Runs a closure that stores values, and keeps the stored parts that the values lack.
  fileprivate func withPartialValues<R>(_ fields: Any, _ store: () -> R) -> R {
    let result = merge.withPartialValues(fields, store)
    settleShapes()
    return result
  }
}
