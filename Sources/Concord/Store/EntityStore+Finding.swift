extension EntityStore {
  /// Finds a stored entity.
  ///
  /// ```swift
  /// if let observer = store.find(Book.self, id: "ACK") { print(observer.value.title) }
  /// ```
  ///
  /// - Returns: `nil` if it is not stored. Use ``observer(_:id:)`` to wait for it.
  /// - Complexity: constant.
  @inlinable public func find<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> EntityObserver<T>? {
    engine.read { engine.find(type, id: id) }.map(EntityObserver.init)
  }

  /// Finds the entity an alias names, now or later: also before anything was stored under the name.
  ///
  /// ```swift
  /// let subscription = store.find(named: .currentUser).observe { user in print(user?.name ?? "nobody") }
  /// ```
  @inlinable public func find<T: Identifiable & Sendable>(named alias: AliasKey<T>) -> EntityObserver<T?> {
    EntityObserver(
      engine.read {
        PartSource(node: engine.alias(EntityAlias<T>.self, named: alias.name)) { $0?.content }
      })
  }

  /// Finds the collection an alias names, now or later.
  @inlinable public func find<C: MutableCollection & Sendable>(
    named alias: AliasKey<C>
  ) -> EntityObserver<C?> where C.Element: Identifiable & Sendable {
    EntityObserver(
      engine.read {
        PartSource(node: engine.alias(CollectionAlias<C>.self, named: alias.name)) { $0?.content }
      })
  }

  /// Observes an entity that may not be there: `nil` until it is stored, and again after it is removed.
  ///
  /// ```swift
  /// let subscription = store.observer(Book.self, id: "ACK").observe { book in print(book?.title ?? "not yet") }
  /// ```
  @inlinable public func observer<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> EntityObserver<T?> {
    EntityObserver(
      engine.read {
        PartSource(node: engine.table(type).nodeAwaiting(id)) { $0 }
      })
  }
}
