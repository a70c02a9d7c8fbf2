// `value` reads once, `find` observes a stored entity, `observer` one that may be stored later, `find(named:)` an alias.
extension EntityStore {
  /// Reads a stored entity, without observing it.
  ///
  /// ```swift
  /// print(store.value(Book.self, id: "ACK")?.title ?? "not stored")
  /// ```
  ///
  /// - Returns: `nil` if it is not stored.
  /// - Complexity: constant, plus the changes inside the entity since it was last read.
  @inlinable public func value<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> T? {
    shared.read(token) { core, isCommitted in
      core.graph.withTable(type) { table in
        table.withNode(id) { node in
          if isCommitted { return core.committedValue(of: node) }
          guard node.exists else { return nil }
          if node.isStale { core.refresh(node) }
          return node.value
        }
      }
    }
  }

  /// Finds a stored entity, and returns an observer of it.
  ///
  /// ```swift
  /// if let observer = store.find(Book.self, id: "ACK") { print(observer.value.title) }
  /// ```
  ///
  /// - Returns: `nil` if it is not stored. Use ``observer(_:id:)`` to wait for it, ``value(_:id:)`` to only read it.
  /// - Complexity: constant.
  @inlinable public func find<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> EntityObserver<T>? {
    shared.read(token) { core, isCommitted in
      core.graph.withTable(type) { table in
        table.withNode(id) { core.exists($0, isCommitted) ? EntityObserver(ObserverSource($0, shared)) : nil }
      }
    }
  }

  /// Observes an entity that may not be stored: the value is `nil` until the entity is stored, and again after it is removed.
  ///
  /// ```swift
  /// let subscription = store.observer(Book.self, id: "ACK").observe { book in print(book?.title ?? "not yet") }
  /// ```
  ///
  /// - Complexity: constant.
  public func observer<T: Identifiable & Sendable>(_ type: T.Type, id: T.ID) -> EntityObserver<T?> {
    shared.read(token) { core, _ in
      EntityObserver(PartSource(core.nodeToObserve(id, in: core.graph.table(type)), shared) { $0 })
    }
  }

  /// Observes the entity that an alias names, now or later, also before an entity was stored under the name.
  ///
  /// ```swift
  /// let subscription = store.find(named: .currentUser).observe { user in print(user?.name ?? "nobody") }
  /// ```
  ///
  /// - Complexity: constant.
  public func find<T: Identifiable & Sendable>(named alias: AliasKey<T>) -> EntityObserver<T?> {
    shared.read(token) { core, _ in
      EntityObserver(core.source(ofAlias: EntityAlias<T>.self, named: alias.name, shared))
    }
  }

  /// Observes the collection that an alias names, now or later.
  ///
  /// - Complexity: constant.
  public func find<C: MutableCollection & Sendable>(
    named alias: AliasKey<C>
  ) -> EntityObserver<C?> where C.Element: Identifiable & Sendable {
    shared.read(token) { core, _ in
      EntityObserver(core.source(ofAlias: CollectionAlias<C>.self, named: alias.name, shared))
    }
  }
}

extension StoreCore {
  @inlinable func exists(_ node: Node, _ isCommitted: Bool) -> Bool { isCommitted ? wasStored(node) : node.exists }
  @usableFromInline func wasStored(_ node: Node) -> Bool { view.exists(node) }

  @usableFromInline func committedValue<T>(of node: EntityNode<T>) -> T? {
    view.exists(node) ? view.value(of: node) : nil
  }
}
