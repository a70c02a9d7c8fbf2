extension EntityStore {
  /// Removes an entity everywhere: it is taken out of collections and dictionaries, an optional becomes `nil`, and a
  /// parent that requires it is removed with it, all in one transaction.
  ///
  /// Observers made by ``observer(_:id:)`` and aliases are told `nil`.
  ///
  /// - Returns: whether it was stored.
  @discardableResult
  @inlinable public func remove<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> Bool {
    engine.write {
      guard let node = engine.table(type).node(for: id) else { return false }
      return engine.remove(node)
    }
  }

  /// Removes an alias; the entity goes with it if nothing else keeps it. Observers of the alias are told `nil`.
  @inlinable public func removeAlias<T: Identifiable & Sendable>(named alias: AliasKey<T>) {
    engine.write { engine.existingAlias(EntityAlias<T>.self, named: alias.name)?.unregister(in: engine) }
  }

  /// Removes the alias of a collection.
  @inlinable public func removeAlias<C: MutableCollection & Sendable>(
    named alias: AliasKey<C>
  ) where C.Element: Identifiable & Sendable {
    engine.write { engine.existingAlias(CollectionAlias<C>.self, named: alias.name)?.unregister(in: engine) }
  }

  /// Removes all aliases.
  public func removeAllAlias() { engine.write { engine.removeAllAliases() } }

  /// Removes all aliases and all entities.
  public func removeAll() { engine.write { engine.removeAll() } }
}
