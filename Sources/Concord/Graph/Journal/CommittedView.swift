/// A view of the last committed state while a transaction is open, for other threads and new observers.
///
/// The journal keeps the committed value beside the new one from the first write on. The children in such a value are brought
/// up to date in the journal, so that a second read costs nothing.
final class CommittedView: ChildForms {
  private let visitor: Visitor
  private let refresher: Refresher

  init(graph: Graph, visitor: Visitor, refresher: Refresher) {
    self.visitor = visitor
    self.refresher = refresher
    super.init(graph)
  }

  override func exists(_ node: Node) -> Bool {
    graph.journal.committedState(of: node)?.flags.contains(.exists) ?? node.exists
  }

  /// Whether the entity was ever committed.
  func wasCommitted(_ node: Node) -> Bool {
    !(graph.journal.committedState(of: node)?.flags ?? node.flags).contains(.uncommitted)
  }

  /// Returns the committed value; of a removed entity the last one.
  func value<T>(of node: EntityNode<T>) -> T? {
    guard !graph.journal.isEmpty else {
      refresher.refresh(node)
      return node.value
    }
    refresh(node)
    return present(node)
  }

  /// Returns a node's state before the open transaction first wrote it, with its children up to date; `nil` if it did not.
  func state(of node: Node) -> SavedState? {
    if graph.journal.isEmpty { return nil }
    refresh(node)
    return graph.journal.committedState(of: node)
  }

  /// Returns the form of a child's value that a parent shows: inside a cycle the brief form.
  override func value<T: Identifiable & Sendable>(of child: EntityNode<T>, in parent: Node) -> T? {
    guard let component = component(of: child), component === self.component(of: parent) else { return present(child) }
    return brief(of: child, component)
  }

  /// Returns the value before the open transaction first wrote it; the current one if it did not. The children in it may be
  /// old.
  private func present<T>(_ node: EntityNode<T>) -> T? {
    // An entity that was never committed has no committed value; its observers see the first one.
    guard let saved = graph.journal.committedState(of: node)?.typed(T.self) else { return node.value }
    return saved.value
  }

  private func component(of node: Node) -> Component? {
    guard let state = graph.journal.committedState(of: node) else { return node.links?.component }
    return state.component
  }

  private func children(of node: Node) -> ChildList? {
    guard let state = graph.journal.committedState(of: node) else { return node.children }
    return state.children?.list
  }

  private func brief<T>(of node: EntityNode<T>, _ component: Component) -> T? {
    guard var value = present(node), let children = children(of: node), let schema = children.schema.typed(T.self)
    else { return present(node) }
    for k in schema.indices where omits(children, k, node, component) {
      schema[k].omit(in: &value, graph)
    }
    return value
  }

  private func omits(_ children: ChildList, _ k: Int, _ node: Node, _ component: Component) -> Bool {
    children.canOmit(k, of: node)
      && children.range(ofRelation: k).contains { self.component(of: children.edges[$0].child) === component }
  }

  /// Returns the relations in which a node shows children in other forms than when it was last committed, because its cycle
  /// changed.
  func formChange(of node: Node) -> FormChange {
    let component = component(of: node)
    let isMoved = component !== node.links?.component
    guard isMoved || graph.journal.committedState(of: node)?.showsOtherForms ?? false, let children = node.children
    else { return .none }
    guard let old = self.children(of: node), old.isSame(children.schema, children.edges, children.ends) else {
      return isMoved ? .whole : .none
    }
    let omitted = node.omissions
    var change = FormChange.none
    for (ordinal, edge) in children.edges.enumerated() {
      if omissions(of: edge.child, in: component) == node.omissions(of: edge.child) { continue }
      if omitted.isEmpty || !omitted[children.relation(of: Int32(truncatingIfNeeded: ordinal))] { return .whole }
      change = .omitted
    }
    return change
  }

  /// Returns where the value of a written node has changed: `.omitted` if its brief form equals the one that was last committed.
  func briefChange(of node: Node) -> FormChange {
    guard let component = node.links?.component, component === self.component(of: node), node.table.isEquatable,
      let state = graph.journal.committedState(of: node),
      node.table.haveSameBrief(
        node, omitting: node.omissions, state, omitting: omissions(of: node, in: component), graph)
    else { return .whole }
    return .omitted
  }

  /// Returns the relations that a node's form in a component omitted when it was last committed.
  private func omissions(of node: Node, in component: Component?) -> [Bool] {
    guard let component, component === self.component(of: node), let children = children(of: node) else { return [] }
    let omitted = children.ends.indices.map { omits(children, $0, node, component) }
    return omitted.contains(true) ? omitted : []
  }

  // MARK: Bringing saved values up to date

  private func refresh(_ root: Node) {
    guard var frame = open(root, isBriefIn: nil) else { return }
    var frames: ContiguousArray<PatchFrame> = []
    while true {
      while frame.hasPart { patchPart(of: &frame) }
      if let child = frame.nextChild() {
        let component = component(of: child)
        let isInside = component != nil && component === self.component(of: frame.node)
        guard !child.flags.contains(.visiting), let below = open(child, isBriefIn: isInside ? component : nil) else {
          continue
        }
        frames.append(frame)
        frame = below
      } else {
        frame.node.flags.remove(.visiting)
        guard let above = frames.popLast() else { return }
        frame = above
      }
    }
  }

  private func open(_ node: Node, isBriefIn briefComponent: Component?) -> PatchFrame? {
    let saved = graph.journal.committedState(of: node)
    guard let list = saved == nil ? node.children : saved?.children?.list else { return nil }
    var stale = saved == nil ? list.stale.ordinals() : saved?.children?.stale ?? []
    if !stale.isEmpty, !list.schema.isStored, component(of: node) != nil {
      // As in the refresher.
      let known = Set(stale)
      stale = list.ordinals { known.contains($0) || isStale(list.edges[Int($0)].child) }
    }
    if let briefComponent { stale.removeAll { omits(list, list.relation(of: $0), node, briefComponent) } }
    guard !stale.isEmpty else { return nil }
    node.flags.insert(.visiting)
    let component = component(of: node)
    guard let component else { return PatchFrame(node, list, stale) }
    return PatchFrame(
      node, list, stale, isInside: { self.component(of: list.edges[Int($0)].child) === component },
      isOmitted: { self.omits(list, list.relation(of: $0), node, component) })
  }

  private func isStale(_ node: Node) -> Bool {
    guard let state = graph.journal.committedState(of: node) else { return node.isStale }
    return !(state.children?.stale.isEmpty ?? true)
  }

  private func patchPart(of frame: inout PatchFrame) {
    let part = frame.takePart()
    if part.isEmpty { return }
    let node = frame.node
    // The node's own value is left as it is: it may already contain uncommitted children.
    if graph.journal.committedState(of: node) == nil { graph.journal.save(node, isWrite: false) }
    guard let state = graph.journal.committedState(of: node), let all = state.children?.stale else { return }
    state.children?.stale = part
    node.table.patch(state, self, visitor, of: node)
    let done = Set(part)
    state.children?.stale = all.filter { !done.contains($0) }
  }
}
