/// An alias of an entity as the engine stores it: an aggregate with one optional entity.
@usableFromInline struct EntityAlias<T: Identifiable & Sendable>: Aggregate {
  @usableFromInline let id: String
  @usableFromInline var content: T?

  @inlinable init(id: String, content: T?) {
    self.id = id
    self.content = content
  }

  @inlinable var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.content)] }
  @inlinable static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.content)] }
}

/// An alias of a collection as the engine stores it: an aggregate with an optional collection.
@usableFromInline struct CollectionAlias<C: MutableCollection & Sendable>: Aggregate
where C.Element: Identifiable & Sendable {
  @usableFromInline let id: String
  @usableFromInline var content: C?

  @inlinable init(id: String, content: C?) {
    self.id = id
    self.content = content
  }

  @inlinable var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.relations }
  @inlinable static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { relations }

  @inlinable static var relations: [PartialIdentifiableKeyPath<Self>] {
    // Arrays have a faster place, which overload resolution does not select here.
    if let array = (\Self.content as AnyKeyPath) as? WritableKeyPath<Self, [C.Element]?> { return [.init(array)] }
    return [.init(\.content)]
  }
}

extension EntityAlias: Equatable where T: Equatable {}
extension CollectionAlias: Equatable where C: Equatable {}

/// A node that is an alias.
protocol AliasNode: Node {
  /// Ends the alias: it names nothing any longer, and retains nothing.
  func unregister(in core: StoreCore)
  /// Handles the removal of the named entity.
  func loseEntity(in core: StoreCore)
}

/// An alias with its content.
@usableFromInline protocol AliasContent: Aggregate {
  associatedtype Content: Sendable
  init(id: String, content: Content?)
  var content: Content? { get set }
  /// Whether the alias ends when its entity is removed.
  static var endsWithEntity: Bool { get }
}

extension AliasContent {
  @inlinable static var endsWithEntity: Bool { false }
}

extension EntityAlias: AliasContent {
  @inlinable static var endsWithEntity: Bool { true }
}

extension CollectionAlias: AliasContent {}

extension EntityNode: AliasNode where T: AliasContent {
  func unregister(in core: StoreCore) {
    guard flags.contains(.registered) else { return }
    core.graph.journal.willWrite(self)
    core.graph.removeChildren(of: self)
    value?.content = nil
    stamp = -.infinity
    core.reachability.setRegistered(self, false)
    core.graph.didWrite(self)
    logUnregistering(in: core)
  }

  func loseEntity(in core: StoreCore) {
    guard T.endsWithEntity, flags.contains(.registered), value?.content == nil else { return }
    stamp = -.infinity
    core.reachability.setRegistered(self, false)
    logUnregistering(in: core)
  }

  private func logUnregistering(in core: StoreCore) {
    guard let name = value?.id as? String else { return }
    core.log.append { $0.didUnregisterAlias(AliasKey<T.Content>(name)) }
  }
}

extension StoreCore {
  /// Returns the node of an alias, made if it is new. The alias names nothing until it is registered.
  func alias<A: AliasContent>(_ type: A.Type, named name: String) -> EntityNode<A> where A.ID == String {
    let table = graph.table(type)
    table.isInternal = true
    let hash = IDHash.hash(name)
    let known = table.find(name, hash: hash)
    if let known, known.exists { return known }
    // The new alias has no content, so there is nothing to undo or to notify of.
    let node = table.insertUnsaved(A(id: name, content: nil), hash: hash, known: known)
    graph.unexamined.insert(node)
    return node
  }

  func existingAlias<A: AliasContent>(_ type: A.Type, named name: String) -> EntityNode<A>? where A.ID == String {
    guard let node = graph.table(type).find(name), node.flags.contains(.registered) else { return nil }
    return node
  }

  /// Lets an alias name a stored entity, if the call is newer than the last one that did so.
  func point<T: Identifiable & Sendable>(
    aliasNamed name: String, at target: EntityNode<T>, modifiedAt stamp: Stamp?
  ) -> Bool {
    let alias = self.alias(EntityAlias<T>.self, named: name)
    guard register(alias, name, stamp) else { return false }
    if alias.children?.edges.first?.child === target { return true }
    guard let schema = graph.table(EntityAlias<T>.self).declared.schemas.fixed else { return false }
    graph.setChildren(of: alias, schema, [ChildEdge(child: target)], [1])
    alias.value?.content = target.value
    if target.isStale { graph.makeStale(alias, 0) }
    graph.didWrite(alias)
    return true
  }

  private func register<T>(_ alias: EntityNode<EntityAlias<T>>, _ name: String, _ stamp: Stamp?) -> Bool {
    let stamp = clock.effective(stamp)
    let isNewer = stamp.map { $0 > alias.stamp } ?? true
    guard isNewer || stamp.map(clock.isAlwaysTaken) ?? true else { return false }
    graph.journal.willWrite(alias)
    graph.journal.countWrite()
    if let stamp, isNewer { alias.stamp = stamp }
    if !alias.flags.contains(.registered) {
      reachability.setRegistered(alias, true)
      log.append { $0.didRegisterAlias(AliasKey<T>(name)) }
    }
    return true
  }

  /// Sets the content of a collection's alias. Stamps count for each element on its own, also if the alias itself is newer.
  func store<A: AliasContent>(_ content: A.Content, in type: A.Type, aliasNamed name: String, modifiedAt stamp: Stamp?)
  where A.ID == String {
    let alias = self.alias(type, named: name)
    let table = graph.table(type)
    let before = alias.stamp
    let wasRegistered = alias.flags.contains(.registered)
    let stamp = clock.effective(stamp)
    let isTaken = stamp.map { $0 > before || clock.isAlwaysTaken($0) } ?? true
    _ = merge.store(stamp: stamp) { visitor.visit(A(id: name, content: content), in: table) }
    if isTaken, !wasRegistered {
      graph.journal.willWrite(alias)
      reachability.setRegistered(alias, true)
      log.append { $0.didRegisterAlias(AliasKey<A.Content>(name)) }
    }
  }

  func removeAllAliases() {
    for table in graph.allTables where table.isInternal {
      for case let alias as any AliasNode in table.allNodes() { alias.unregister(in: self) }
    }
  }

  func didLoseEntity(_ node: Node) {
    guard node.table.isInternal, let alias = node as? any AliasNode else { return }
    alias.loseEntity(in: self)
  }
}
