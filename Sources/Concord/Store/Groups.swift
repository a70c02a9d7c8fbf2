extension Engine {
  /// Stores entities, and gives a source of all of them.
  @inlinable func storeGroup<Element: Identifiable & Sendable>(
    _ elements: [Element], modifiedAt stamp: Stamp?
  ) -> ObserverSource<[Element]> {
    let table = self.table(Group<Element>.self)
    table.isInternal = true
    groupCount += 1
    let call = beginCall(.store, stamp: stamp)
    let node = call.start(with: Group(id: groupCount, elements: elements), in: table)
    call.run()
    call.settle()
    endCall(call)
    return PartSource<Group<Element>, [Element]>(
      node: unsafeDowncast(node, to: EntityNode<Group<Element>>.self)
    ) { $0?.elements ?? [] }
  }

  /// A source of entities that were just stored: what is stored counts, not what `elements` show.
  @inlinable func groupSource<Element: Identifiable & Sendable>(of elements: [Element]) -> ObserverSource<[Element]> {
    let elementTable = self.table(Element.self)
    let nodes = elements.compactMap { elementTable.node(for: $0.id) }
    for node in nodes { refresh(node) }
    let table = self.table(Group<Element>.self)
    table.isInternal = true
    groupCount += 1
    let id = groupCount
    let node = EntityNode(table: table, value: Group(id: id, elements: nodes.compactMap(\.value)))
    journal(node)
    table.insert(node, id: id, hash: Table<Group<Element>>.hash(id))
    node.flags.insert(.exists)
    if let schema = table.fixedSchema {
      let references = ContiguousArray(nodes.lazy.map { NodeRef(node: $0) })
      setChildren(of: node, schema: schema, nodes: references, ends: [Int32(nodes.count)])
      for (ordinal, child) in nodes.enumerated() where child.flags.contains(.rooted) { showsOld(node, Int32(ordinal)) }
    }
    return PartSource<Group<Element>, [Element]>(node: node) { $0?.elements ?? [] }
  }
}
