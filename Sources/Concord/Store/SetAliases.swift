/// An alias of a set as the engine stores it.
struct SetAlias<T: Identifiable & Hashable & Sendable>: AliasContent, Equatable {
  let id: String
  var content: Set<T>?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.content)] }
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.content)] }
}

extension EntityStore {
  /// Stores the entities of a set in one transaction, and names the set.
  ///
  /// ```swift
  /// store.store(Set([bookA, bookB]), named: .favourites)
  /// ```
  ///
  /// - Parameters:
  ///   - entities: the values, with all they contain.
  ///   - alias: a name to keep the entities alive and find the set by.
  ///   - stamp: the stamp of the values; if `nil`, the store's ``Stamping`` decides.
  /// - Returns: an observer of these entities, in no particular order, without any that is removed later.
  /// - Complexity: the number of entities in the values.
  @discardableResult
  public func store<T: Identifiable & Hashable & Sendable>(
    _ entities: Set<T>, named alias: AliasKey<Set<T>>, modifiedAt stamp: Stamp? = nil
  ) -> EntityObserver<[T]> {
    shared.write(token) { core in
      core.prepare()
      core.store(entities, in: SetAlias<T>.self, aliasNamed: alias.name, modifiedAt: stamp)
      return EntityObserver(core.groupSource(of: Array(entities), shared))
    }
  }

  /// Observes the set that an alias names, now or later.
  ///
  /// ```swift
  /// let subscription = store.find(named: .favourites).observe { books in print(books?.count ?? 0) }
  /// ```
  ///
  /// - Complexity: constant.
  public func find<T: Identifiable & Hashable & Sendable>(named alias: AliasKey<Set<T>>) -> EntityObserver<Set<T>?> {
    shared.read(token) { core, _ in EntityObserver(core.source(ofAlias: SetAlias<T>.self, named: alias.name, shared)) }
  }

  /// Changes the set that an alias names, and the entities in it.
  ///
  /// ```swift
  /// store.update(named: .favourites) { $0.insert(book) }
  /// ```
  ///
  /// - Parameters:
  ///   - alias: the name of the set.
  ///   - stamp: the stamp of the change; if `nil`, the store's ``Stamping`` decides.
  ///   - update: a closure that receives the stored set and changes it, once, on the calling thread, within the
  ///     transaction.
  /// - Returns: whether the alias names a set and the write was taken.
  /// - Complexity: the number of entities in the set.
  @discardableResult
  public func update<T: Identifiable & Hashable & Sendable>(
    named alias: AliasKey<Set<T>>, modifiedAt stamp: Stamp? = nil, update: (inout Set<T>) -> Void
  ) -> Bool {
    shared.write(token) { core in
      core.prepare()
      return shared.update(core, SetAlias<T>.self, aliasNamed: alias.name, modifiedAt: stamp, update)
    }
  }
}

extension StoreCore {
  /// Returns a source of the content of an alias, now or later.
  func source<A: AliasContent>(
    ofAlias type: A.Type, named name: String, _ shared: SharedCore
  ) -> ObserverSource<A.Content?> where A.ID == String {
    PartSource(alias(type, named: name), shared, isNothing: { $0?.content == nil }) { $0?.content }
  }
}
