extension EntityStore {
  /// Changes a stored entity or aggregate with a closure.
  ///
  /// ```swift
  /// store.update(Book.self, id: "ACK") { $0.title = "The Ackerman File" }
  /// ```
  ///
  /// The closure may also change entities inside the value: those that differ from the given ones are stored. The closure is
  /// not called if the write is known to be stale. A change of the id is refused.
  ///
  /// - Parameters:
  ///   - type: the type of the entity.
  ///   - id: the id of the entity.
  ///   - stamp: the stamp of the change; if `nil`, the store's ``Stamping`` decides.
  ///   - update: a closure that receives the stored value and changes it, once, on the calling thread, within the
  ///     transaction. Its calls of the store join the transaction.
  /// - Returns: whether the entity exists and the write was taken.
  /// - Complexity: what the closure changed.
  @discardableResult
  @inlinable public func update<T: Identifiable & Sendable>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, update: (inout T) -> Void
  ) -> Bool {
    shared.write(token, to: type, id) { core in
      core.graph.withTable(type) { table in
        if table.isAggregate { core.prepareNow() }
        guard let node = core.find(id, in: table) else { return core.refuseUnknown(type, id) }
        return shared.update(core, node, in: table, modifiedAt: stamp, update)
      }
    }
  }

  /// Changes a stored aggregate with a closure. Callers need not compile the code for entities without relations.
  // Hidden in the documentation, since `update` is described above.
  @_documentation(visibility: internal)
  @discardableResult
  @inlinable public func update<T: Aggregate>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, update: (inout T) -> Void
  ) -> Bool {
    shared.write(token, to: type, id) { core in
      core.prepare()
      return shared.update(core, id, in: core.graph.table(type), modifiedAt: stamp, update)
    }
  }

  /// Changes the entity that an alias names. If the closure changes its id, the alias names another entity afterwards.
  ///
  /// - Parameters:
  ///   - alias: the name of the entity.
  ///   - stamp: the stamp of the change; if `nil`, the store's ``Stamping`` decides.
  ///   - update: a closure that receives the stored value and changes it, once, on the calling thread, within the
  ///     transaction.
  /// - Returns: whether the alias names an entity and the write was taken.
  /// - Complexity: what the closure changed.
  @discardableResult
  public func update<T: Identifiable & Sendable>(
    named alias: AliasKey<T>, modifiedAt stamp: Stamp? = nil, update: (inout T) -> Void
  ) -> Bool {
    shared.write(token) { core in
      core.prepare()
      return shared.update(core, aliasNamed: alias.name, modifiedAt: stamp, update)
    }
  }

  /// Changes the collection that an alias names, and the entities in it.
  ///
  /// ```swift
  /// store.update(named: .favourites) { $0.append(book) }
  /// ```
  ///
  /// - Parameters:
  ///   - alias: the name of the collection.
  ///   - stamp: the stamp of the change; if `nil`, the store's ``Stamping`` decides.
  ///   - update: a closure that receives the stored collection and changes it, once, on the calling thread, within the
  ///     transaction.
  /// - Returns: whether the alias names a collection and the write was taken.
  /// - Complexity: what the closure changed.
  @discardableResult
  public func update<C: MutableCollection & Sendable>(
    named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil, update: (inout C) -> Void
  ) -> Bool where C.Element: Identifiable & Sendable {
    shared.write(token) { core in
      core.prepare()
      return shared.update(core, CollectionAlias<C>.self, aliasNamed: alias.name, modifiedAt: stamp, update)
    }
  }
}

extension SharedCore {
  /// Changes the content of a collection's alias.
  func update<A: AliasContent>(
    _ core: StoreCore, _ type: A.Type, aliasNamed name: String, modifiedAt stamp: Stamp?,
    _ change: (inout A.Content) -> Void
  ) -> Bool where A.ID == String {
    guard let node = core.existingAlias(type, named: name) else { return core.refuseUpdate(of: A.Content.self, name) }
    return update(core, node, in: core.graph.table(type), modifiedAt: stamp) { alias in
      guard var content = alias.content else { return }
      alias.content = nil  // so that the closure changes the collection in place
      change(&content)
      alias.content = content
    }
  }

  fileprivate func update<T: Identifiable & Sendable>(
    _ core: StoreCore, aliasNamed name: String, modifiedAt stamp: Stamp?, _ change: (inout T) -> Void
  ) -> Bool {
    guard let alias = core.existingAlias(EntityAlias<T>.self, named: name),
      let target = alias.children?.edges.first?.child.typed(T.self)
    else { return core.refuseUpdate(of: T.self, name) }
    let isTaken = update(
      core, target, in: core.graph.table(T.self), modifiedAt: stamp,
      onOtherID: { other, given in
        // The closure changed the id, so the value is another entity; the given one is unchanged.
        guard let node = core.store(other, madeOf: given, stamp) else { return false }
        return core.point(aliasNamed: name, at: node, modifiedAt: stamp)
      }, change)
    // The alias names the same entity, by a newer call, unless the closure changed the alias itself.
    if isTaken, alias.children?.edges.first?.child === target {
      _ = core.point(aliasNamed: name, at: target, modifiedAt: stamp)
    }
    return isTaken
  }
}
