// For generic code that does not know whether an alias names an entity, an array or a set.
extension EntityStore {
  /// Removes an alias of any type.
  ///
  /// ```swift
  /// func forget<T>(_ alias: AliasKey<T>) { store.removeAlias(named: alias) }
  /// ```
  ///
  /// - Complexity: the number of types that have aliases, and of entities in the alias.
  @_disfavoredOverload
  public func removeAlias<T>(named alias: AliasKey<T>) {
    shared.write(token) { core in
      core.prepare()
      for case let table as any AliasTable in core.graph.allTables where table.contentType == ObjectIdentifier(T.self) {
        table.registeredAlias(named: alias.name)?.unregister(in: core)
      }
    }
  }

  /// Finds the collection that an alias names, now or later, in generic code that does not know the collection's type.
  ///
  /// ```swift
  /// func list<C: Collection & Sendable>(_ alias: AliasKey<C>) -> EntityObserver<C?>
  /// where C.Element: Identifiable & Sendable { store.find(named: alias) }
  /// ```
  ///
  /// - Returns: an observer of an `Array`, a `ContiguousArray` or an `ArraySlice`; of any other collection if an alias of that
  ///   type is known to the store already, else one that only has `nil`. Where the elements are `Hashable`, of a `Set`, too.
  /// - Complexity: the number of types that have aliases.
  @_disfavoredOverload
  public func find<C: Collection & Sendable>(named alias: AliasKey<C>) -> EntityObserver<C?>
  where C.Element: Identifiable & Sendable {
    shared.read(token) { core, _ in
      EntityObserver(core.source(ofKnownAlias: C.self, named: alias.name, shared))
    }
  }

  /// Finds the collection that an alias names, now or later, in generic code whose collection may be a `Set`.
  @_disfavoredOverload
  public func find<C: Collection & Sendable>(named alias: AliasKey<C>) -> EntityObserver<C?>
  where C.Element: Identifiable & Hashable & Sendable {
    shared.read(token) { core, _ in
      let set = core.source(ofAlias: SetAlias<C.Element>.self, for: C.self, named: alias.name, shared)
      return EntityObserver(set ?? core.source(ofKnownAlias: C.self, named: alias.name, shared))
    }
  }
}

extension StoreCore {
  /// Returns a source of the alias's content, if that is a `C`.
  fileprivate func source<A: AliasContent, C: Sendable>(
    ofAlias type: A.Type, for wanted: C.Type, named name: String, _ shared: SharedCore
  ) -> ObserverSource<C?>? where A.ID == String {
    A.Content.self == C.self ? source(ofAlias: type, named: name, shared) as? ObserverSource<C?> : nil
  }

  fileprivate func source<C: Collection & Sendable>(
    ofKnownAlias type: C.Type, named name: String, _ shared: SharedCore
  ) -> ObserverSource<C?> where C.Element: Identifiable & Sendable {
    let array =
      source(ofAlias: CollectionAlias<[C.Element]>.self, for: C.self, named: name, shared)
      ?? source(ofAlias: CollectionAlias<ContiguousArray<C.Element>>.self, for: C.self, named: name, shared)
      ?? source(ofAlias: CollectionAlias<ArraySlice<C.Element>>.self, for: C.self, named: name, shared)
    if let array { return array }
    for case let table as any AliasTable in graph.allTables where table.contentType == ObjectIdentifier(C.self) {
      if let source = table.source(ofAlias: name, self, shared) as? ObserverSource<C?> { return source }
    }
    return PartSource(hubs.derivedNode, shared) { _ in nil }
  }
}

/// A table whose entities are aliases.
private protocol AliasTable {
  /// The type of the aliases' contents.
  var contentType: ObjectIdentifier { get }
  func registeredAlias(named name: String) -> (any AliasNode)?
  func source(ofAlias name: String, _ core: StoreCore, _ shared: SharedCore) -> Any
}

extension Table: AliasTable where T: AliasContent, T.ID == String {
  fileprivate var contentType: ObjectIdentifier { ObjectIdentifier(T.Content.self) }

  fileprivate func registeredAlias(named name: String) -> (any AliasNode)? {
    find(name).flatMap { $0.flags.contains(.registered) ? $0 : nil }
  }

  fileprivate func source(ofAlias name: String, _ core: StoreCore, _ shared: SharedCore) -> Any {
    core.source(ofAlias: T.self, named: name, shared)
  }
}
