extension EntityStore {
  /// Removes an entity everywhere: it is taken out of collections and dictionaries, an optional becomes `nil`, and a
  /// parent that requires it is removed with it, all in one transaction.
  ///
  /// Observers made by ``observer(_:id:)``, and those of aliases, receive `nil`.
  ///
  /// - Returns: whether it was stored.
  /// - Complexity: the number of parents, and the size of the collections that contain the entity; several removals in
  ///   one transaction cost each collection once.
  @discardableResult
  @inlinable public func remove<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> Bool {
    shared.write(token) { core in core.remove(core.find(id, in: core.graph.table(type))) }
  }

  /// Removes an alias. Its entity is released if nothing else retains it. Observers of the alias receive `nil`.
  ///
  /// - Complexity: constant.
  public func removeAlias<T: Identifiable & Sendable>(named alias: AliasKey<T>) {
    shared.write(token) { core in
      core.prepare()
      core.existingAlias(EntityAlias<T>.self, named: alias.name)?.unregister(in: core)
    }
  }

  /// Removes the alias of a collection.
  ///
  /// - Complexity: the number of entities in it.
  public func removeAlias<C: MutableCollection & Sendable>(
    named alias: AliasKey<C>
  ) where C.Element: Identifiable & Sendable {
    shared.write(token) { core in
      core.prepare()
      core.existingAlias(CollectionAlias<C>.self, named: alias.name)?.unregister(in: core)
    }
  }

  /// Removes all aliases.
  ///
  /// - Complexity: the number of aliases and of entities in them.
  public func removeAllAlias() {
    shared.write(token) { core in
      core.prepare()
      core.removeAllAliases()
    }
  }

  /// Removes all aliases and all entities. Observers receive no earlier value afterwards; those of aliases, collections and
  /// optional entities receive `nil` or an empty collection.
  ///
  /// - Complexity: the size of the store.
  public func removeAll() {
    shared.write(token) { core in
      core.prepare()
      core.removeAllAliases()
      core.removal.removeAll()
    }
  }
}

extension StoreCore {
  @usableFromInline func remove(_ node: Node?) -> Bool {
    guard let node, node.exists else { return false }
    removal.remove(node)
    return true
  }
}
