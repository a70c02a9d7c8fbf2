extension EntityStore {
  /// Changes a stored entity or aggregate with a closure.
  ///
  /// ```swift
  /// store.update(Book.self, id: "ACK") { $0.title = "The Ackerman File" }
  /// ```
  ///
  /// Entities inside it may be changed, too: those that differ from what the closure was given are stored. The closure is
  /// not called if the write is known to be stale. A change of the id is refused.
  ///
  /// - Returns: whether the entity exists and the write was taken.
  /// - Complexity: what the closure changed.
  @discardableResult
  @inlinable public func update<T: Identifiable & Sendable>(
    _ type: T.Type, id: T.ID, modifiedAt stamp: Stamp? = nil, update: (inout T) -> Void
  ) -> Bool {
    engine.write {
      // Until the transaction ends, the table keeps the node.
      engine.table(type).entry(for: id, hash: Table<T>.hash(id))?._withUnsafeGuaranteedRef {
        engine.update($0, modifiedAt: stamp, update)
      } ?? false
    }
  }

  /// Changes the entity that an alias names. If the closure changes its id, the alias names another entity afterwards.
  ///
  /// - Returns: whether the alias names an entity and the write was taken.
  @discardableResult
  @inlinable public func update<T: Identifiable & Sendable>(
    named alias: AliasKey<T>, modifiedAt stamp: Stamp? = nil, update: (inout T) -> Void
  ) -> Bool {
    engine.write { engine.update(aliasNamed: alias.name, modifiedAt: stamp, update) }
  }

  /// Changes the collection that an alias names, and the entities in it.
  ///
  /// ```swift
  /// store.update(named: .favourites) { $0.append(book) }
  /// ```
  ///
  /// - Returns: whether the alias names a collection and the write was taken.
  @discardableResult
  @inlinable public func update<C: MutableCollection & Sendable>(
    named alias: AliasKey<C>, modifiedAt stamp: Stamp? = nil, update: (inout C) -> Void
  ) -> Bool where C.Element: Identifiable & Sendable {
    engine.write {
      guard let node = engine.existingAlias(CollectionAlias<C>.self, named: alias.name) else { return false }
      return engine.update(node, modifiedAt: stamp) { alias in
        guard var content = alias.content else { return }
        alias.content = nil  // so that the closure changes the collection in place
        update(&content)
        alias.content = content
      }
    }
  }
}

extension Engine {
  @inlinable func update<T: Identifiable & Sendable>(
    aliasNamed name: String, modifiedAt stamp: Stamp?, _ change: (inout T) -> Void
  ) -> Bool {
    guard let alias = existingAlias(EntityAlias<T>.self, named: name), let child = alias.children?.edges.first?.child
    else { return false }
    let target = unsafeDowncast(child, to: EntityNode<T>.self)
    let isTaken = update(
      target, modifiedAt: stamp,
      onOtherID: { other, given in
        // The closure made it another entity, and left the one it was given as it is.
        let node = self.store(other, madeOf: given, modifiedAt: stamp)
        return self.point(aliasNamed: name, at: node, modifiedAt: stamp)
      }, change)
    // The alias names the same entity, by a newer call; unless the closure has seen to that.
    if isTaken, alias.children?.edges.first?.child === target {
      _ = point(aliasNamed: name, at: target, modifiedAt: stamp)
    }
    return isTaken
  }
}
