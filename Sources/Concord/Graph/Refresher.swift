/// The refresher of values: stale values are patched when they are read.
final class Refresher: ChildForms {
  private let components: ComponentSearch
  private let visitor: Visitor
  /// The nodes whose values were found to have other relations than when they were visited.
  @exclusivity(unchecked) private(set) var reshaped: ContiguousArray<Node> = []

  init(graph: Graph, components: ComponentSearch, visitor: Visitor) {
    self.components = components
    self.visitor = visitor
    super.init(graph)
  }

  /// Brings a node's value up to date.
  ///
  /// - Complexity: the number of changes inside it since the last refresh.
  func refresh(_ node: Node) {
    guard node.isStale else { return }
    if node.table.reachesRecursion { components.resolve() }
    refresh(node, depth: 0)
  }

  func takeReshaped() -> ContiguousArray<Node> {
    var taken: ContiguousArray<Node> = []
    swap(&taken, &reshaped)
    return taken
  }

  override func exists(_ node: Node) -> Bool { node.exists }

  /// Returns the form of a child's value that a parent shows: inside a cycle the brief form.
  override func value<T: Identifiable & Sendable>(of child: EntityNode<T>, in parent: Node) -> T? {
    parent.isInSameCycle(as: child) ? child.table.typed(T.self)?.brief(of: child) : child.value
  }

  /// Refreshes by recursion, which is fast, outside of cycles, and up to the depth of most values. Never inlined, to limit
  /// code size, since only stale values need it.
  @inline(never)
  private func refresh(_ node: Node, depth: Int) {
    guard depth < 128, node.links?.component == nil else { return refreshDeep(node) }
    node.withChildren { children in
      let ordinals = children.stale.ordinals()
      for ordinal in ordinals {
        Borrowed(children.edges[Int(ordinal)].child).use { if $0.isStale { refresh($0, depth: depth + 1) } }
      }
      patch(node, children, ordinals)
    }
  }

  private func patch(_ node: Node, _ children: ChildList, _ ordinals: ContiguousArray<Int32>) {
    graph.keepFormerState(of: node)
    graph.journal.willRefresh(node, mayReshape: children.schema.mayReshape)
    let formerlyStale = children.formerlyStale
    for ordinal in ordinals {
      children.stale.remove(ordinal)
      formerlyStale?.insert(ordinal)
      graph.unmark(Int(ordinal), of: children)
    }
    if children.stale.isEmpty { node.flags.remove(.stale) }
    if patchValue(of: node, children, ordinals) == .reshaped { didReshape(node) }
  }

  /// Notes that a node's value is to be visited again.
  func didReshape(_ node: Node) {
    graph.journal.willRefresh(node, mayReshape: true)
    reshaped.append(node)
    graph.backlog.add()
  }

  private func patchValue(
    of node: Node, _ children: ChildList, _ ordinals: ContiguousArray<Int32>
  ) -> PatchResult {
    Borrowed(children.schema).use { schema in
      // In a cycle the node's own value may be needed to patch it.
      guard schema.isStored, node.links?.component == nil else {
        return node.table.patch(node, ordinals, self, visitor)
      }
      var cursor = PatchCursor(parent: node, children: children, stale: ordinals, forms: self)
      for k in schema.indices where cursor.hasWork(before: children.ends[k]) {
        cursor.move(to: children.start(ofRelation: k))
        node.table.patchStored(node, relation: k, of: schema, &cursor)
      }
      children.brief = nil
      if cursor.mustVisitAgain { return node.table.patchAll(node, self, visitor) }
      // The relations that a value declares may depend on the written values.
      return node.table.hasSchema(schema, node) ? .done : .reshaped
    }
  }

  // MARK: In cycles, and deep down

  /// Refreshes without recursion, since chains may be long.
  private func refreshDeep(_ root: Node) {
    var frames: ContiguousArray<PatchFrame> = []
    if let frame = open(root, isBrief: false) { frames.append(frame) }
    while let last = frames.indices.last {
      while frames[last].hasPart { patchPart(of: &frames[last]) }
      if let child = frames[last].nextChild() {
        // A cycle of required entities has no end; a value that is already being refreshed is shown as it is.
        guard !child.flags.contains(.visiting),
          let below = open(child, isBrief: frames[last].node.isInSameCycle(as: child))
        else { continue }
        frames.append(below)
      } else {
        frames[last].node.flags.remove(.visiting)
        frames.removeLast()
      }
    }
  }

  private func patchPart(of frame: inout PatchFrame) {
    let ordinals = frame.takePart()
    if !ordinals.isEmpty, frame.node.children === frame.children { patch(frame.node, frame.children, ordinals) }
  }

  private func open(_ node: Node, isBrief: Bool) -> PatchFrame? {
    guard node.isStale, let children = node.children else { return nil }
    var ordinals = children.stale.ordinals()
    if node.links?.component != nil, !children.schema.isStored {
      // Since a setter may do anything, all relations are written again, also those whose children changed only inside.
      ordinals = children.ordinals { children.stale.contains($0) || children.edges[Int($0)].child.isStale }
    }
    if isBrief {
      let omitted = children.ends.indices.map { node.omitsWhenBrief(relation: $0) }
      ordinals.removeAll { omitted[children.relation(of: $0)] }
    }
    if ordinals.isEmpty { return nil }
    node.flags.insert(.visiting)
    guard node.links?.component != nil else { return PatchFrame(node, children, ordinals) }
    return PatchFrame(
      node, children, ordinals, isInside: { node.isInSameCycle(as: children.edges[Int($0)].child) },
      isOmitted: { node.omitsWhenBrief(ordinal: $0) })
  }
}
