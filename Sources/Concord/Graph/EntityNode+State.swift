/// What the journal keeps of an entity.
@usableFromInline final class EntityState<T: Identifiable & Sendable>: NodeState {
  @usableFromInline let value: T?

  @inlinable init(_ node: EntityNode<T>) {
    value = node.value
    super.init(stamp: node.stamp, flags: node.flags, children: node.children?.snapshot())
  }
}

extension EntityNode {
  @inlinable func swapState(with state: NodeState) -> NodeState {
    let engine = table.engine
    let other = unsafeDowncast(state, to: EntityState<T>.self)
    let present = EntityState(self)
    if let snapshot = other.children {
      engine.setChildren(
        of: self, schema: snapshot.schema, nodes: ContiguousArray(snapshot.nodes.lazy.map(NodeRef.init)),
        ends: snapshot.ends)
    } else {
      engine.removeChildren(of: self)
    }
    // An entity whose birth is undone keeps its value for those who got to observe it.
    if let value = other.value { self.value = value }
    stamp = other.stamp
    flags.subtract([.exists, .unborn, .written])
    flags.formUnion(other.flags.intersection([.exists, .unborn, .written]))
    if other.value == nil { flags.insert(.unborn) }
    engine.setRegistered(self, other.flags.contains(.registered))
    for ordinal in 0..<Int32(children?.edges.count ?? 0) { engine.showsOld(self, ordinal) }
    engine.showChange(of: self)
    engine.suspect(self)
    return present
  }

  @inlinable func isOther(than state: NodeState) -> Bool {
    let other = unsafeDowncast(state, to: EntityState<T>.self)
    guard exists == other.flags.contains(.exists) else { return true }
    guard exists else { return false }
    guard let isEqual = typedTable.isEqual else { return flags.contains(.written) }
    guard let old = other.value else { return true }
    if let snapshot = other.children, !snapshot.isSame(as: children) { return true }
    if other.children == nil, children?.edges.isEmpty == false { return true }
    guard let value else { return true }
    // What the entities inside contain is their own affair, and when it was last brought up to date here is chance.
    let before = withChildrenAsTheyAre(old, other.children)
    let now = withChildrenAsTheyAre(value, children?.snapshot())
    return withUnsafePointer(to: before) { before in withUnsafePointer(to: now) { !isEqual(before, $0) } }
  }

  /// The value with each child's present value in its place.
  @inlinable func withChildrenAsTheyAre(_ value: T, _ snapshot: ChildSnapshot?) -> T {
    guard let snapshot, let schema = snapshot.schema as? Schema<T>, !snapshot.nodes.isEmpty else { return value }
    var value = value
    var cursor = PatchCursor(
      values: ContiguousArray(snapshot.nodes.lazy.map { Given(node: NodeRef(node: $0), staged: -1, key: nil) }),
      in: table.engine)
    for relation in schema.relations { relation.patch(&value, &cursor) }
    return value
  }
}
