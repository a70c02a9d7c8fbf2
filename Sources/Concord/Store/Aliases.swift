/// What an alias of an entity is to the engine: an aggregate with one optional entity.
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

/// What an alias of a collection is to the engine.
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
    // Arrays have a faster way, which overload resolution cannot see here.
    if let array = (\Self.content as AnyKeyPath) as? WritableKeyPath<Self, [C.Element]?> { return [.init(array)] }
    return [.init(\.content)]
  }
}

/// What the observer of a collection without an alias observes.
@usableFromInline struct Group<Element: Identifiable & Sendable>: Aggregate {
  @usableFromInline let id: UInt64
  @usableFromInline var elements: [Element]

  @inlinable init(id: UInt64, elements: [Element]) {
    self.id = id
    self.elements = elements
  }

  @inlinable var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.elements)] }
  @inlinable static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.elements)] }
}

extension EntityAlias: Equatable where T: Equatable {}
extension CollectionAlias: Equatable where C: Equatable {}
extension Group: Equatable where Element: Equatable {}

/// A node that is an alias.
@usableFromInline protocol AliasNode: Node {
  /// Names nothing any longer, and keeps nothing.
  func unregister(in engine: Engine)
  /// What it named was removed.
  func loseEntity(in engine: Engine)
}

/// The contents of an alias.
@usableFromInline protocol AliasContent: Aggregate {
  associatedtype Content: Sendable
  init(id: String, content: Content?)
  var content: Content? { get set }
  /// Whether an alias that names nothing any longer is as good as removed.
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
  @inlinable func unregister(in engine: Engine) {
    guard flags.contains(.registered) else { return }
    engine.journal(self)
    engine.removeChildren(of: self)
    value?.content = nil
    stamp = -.infinity
    engine.setRegistered(self, false)
    engine.changed(self)
    logUnregistering(in: engine)
  }

  @inlinable func loseEntity(in engine: Engine) {
    guard T.endsWithEntity, flags.contains(.registered), value?.content == nil else { return }
    stamp = -.infinity
    engine.setRegistered(self, false)
    logUnregistering(in: engine)
  }

  @inlinable func logUnregistering(in engine: Engine) {
    guard engine.logger != nil, let name = value?.id as? String else { return }
    engine.log { $0.didUnregisterAlias(AliasKey<T.Content>(name)) }
  }
}

extension Engine {
  /// The node of an alias, made if it is new. It names nothing until it is registered.
  @inlinable func alias<A: AliasContent>(_ type: A.Type, named name: String) -> EntityNode<A> where A.ID == String {
    let table = self.table(type)
    table.isInternal = true
    if let node = table.node(for: name) { return node }
    let node = EntityNode(table: table, value: A(id: name, content: nil))
    table.insert(node, id: name, hash: Table<A>.hash(name))
    node.flags.insert(.exists)
    suspect(node)
    return node
  }

  @inlinable func existingAlias<A: AliasContent>(_ type: A.Type, named name: String) -> EntityNode<A>?
  where A.ID == String {
    guard let node = table(type).node(for: name), node.flags.contains(.registered) else { return nil }
    return node
  }

  /// Points an alias at a stored entity, if the call is newer than the one that did so last.
  @inlinable func point<T: Identifiable & Sendable>(
    aliasNamed name: String, at target: EntityNode<T>, modifiedAt stamp: Stamp?
  ) -> Bool {
    let alias = self.alias(EntityAlias<T>.self, named: name)
    guard register(alias, name, stamp) else { return false }
    if alias.children?.edges.first?.child === target { return true }
    refresh(target)
    guard let schema = alias.typedTable.fixedSchema else { return false }
    setChildren(of: alias, schema: schema, nodes: [NodeRef(node: target)], ends: [1])
    alias.value?.content = target.value
    if target.flags.contains(.rooted) { showsOld(alias, 0) }
    changed(alias)
    return true
  }

  /// Gives a collection alias its content; the elements are judged one by one, also if the alias itself is newer.
  @inlinable func store<C>(_ content: C, aliasNamed name: String, modifiedAt stamp: Stamp?) -> EntityNode<
    CollectionAlias<C>
  > {
    let alias = self.alias(CollectionAlias<C>.self, named: name)
    let call = beginCall(.store, stamp: stamp)
    let wasRegistered = alias.flags.contains(.registered)
    _ = call.start(with: CollectionAlias(id: name, content: content), in: alias.typedTable)
    call.run()
    if call.items[0].isTaken, !wasRegistered {
      setRegistered(alias, true)
      if logger != nil { log { $0.didRegisterAlias(AliasKey<C>(name)) } }
    }
    call.settle()
    endCall(call)
    return alias
  }

  @inlinable func register<T>(_ alias: EntityNode<EntityAlias<T>>, _ name: String, _ stamp: Stamp?) -> Bool {
    let stamp = stamp ?? (stamping == .clock ? tick() : nil)
    if let stamp, !(stamp > alias.stamp) { return false }
    journal(alias)
    writeCount &+= 1
    if let stamp { alias.stamp = stamp }
    if !alias.flags.contains(.registered) {
      setRegistered(alias, true)
      if logger != nil { log { $0.didRegisterAlias(AliasKey<T>(name)) } }
    }
    return true
  }

  @usableFromInline func removeAllAliases() {
    for table in tables.values where table.isInternal {
      for case let alias as any AliasNode in table.allNodes() { alias.unregister(in: self) }
    }
  }
}
