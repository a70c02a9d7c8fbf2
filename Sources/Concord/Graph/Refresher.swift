/// Brings values up to date: what was marked is patched when somebody looks.
final class Refresher: ChildForms {
  private let graph: Graph
  private let components: ComponentSearch
  private let visitor: Visitor
  /// Nodes whose values were found to have another shape than when they were visited.
  @exclusivity(unchecked) private(set) var reshaped: ContiguousArray<Node> = []

  init(graph: Graph, components: ComponentSearch, visitor: Visitor) {
    self.graph = graph
    self.components = components
    self.visitor = visitor
  }

  /// Brings a node's value up to date. Cost: what changed below it since.
  func refresh(_ node: Node) {
    guard node.isStale else { return }
    if node.table.reachesRecursion {
      components.resolve()
      refreshDeep(node)
    } else {
      refreshTree(node)
    }
  }

  func takeReshaped() -> ContiguousArray<Node> {
    var taken: ContiguousArray<Node> = []
    swap(&taken, &reshaped)
    return taken
  }

  func exists(_ node: Node) -> Bool { node.exists }

  /// Inside a cycle a child is shown brief.
  func value<T: Identifiable & Sendable>(of child: EntityNode<T>, in parent: Node) -> T? {
    parent.isInSameCycle(as: child) ? child.table.typed(T.self)?.brief(of: child) : child.value
  }

  /// Types that cannot contain themselves are as deep as there are types, so recursion is safe.
  private func refreshTree(_ node: Node) {
    guard let children = node.children else { return }
    let ordinals = children.stale.ordinals()
    for ordinal in ordinals {
      let child = children.edges[Int(ordinal)].child
      if child.isStale { refreshTree(child) }
    }
    patch(node, children, ordinals)
  }

  private func patch(_ node: Node, _ children: ChildList, _ ordinals: ContiguousArray<Int32>) {
    graph.journal.willRefresh(node)
    for ordinal in ordinals {
      children.stale.remove(ordinal)
      children.edges[Int(ordinal)].child.flags.subtract([.invalidatedParents, .invalidatedCycle])
    }
    if children.stale.isEmpty { node.flags.remove(.stale) }
    if patchValue(of: node, children, ordinals) == .reshaped { didReshape(node) }
  }

  /// The node's value is to be visited anew.
  func didReshape(_ node: Node) {
    reshaped.append(node)
    graph.backlog.add()
  }

  private func patchValue(
    of node: Node, _ children: ChildList, _ ordinals: ContiguousArray<Int32>
  ) -> PatchResult {
    // In a cycle the node's own value may be needed to patch it.
    guard children.schema.isStored, node.links?.component == nil else {
      return node.table.patch(node, ordinals, self, visitor)
    }
    var cursor = PatchCursor(graph: graph, parent: node, children: children, stale: ordinals, forms: self)
    for (k, place) in children.schema.places.enumerated() where cursor.hasWork(before: children.ends[k]) {
      cursor.move(to: children.start(ofRelation: k))
      place.patchOwn?(node, &cursor)
    }
    children.brief = nil
    return node.table.didPatch(node, mustVisit: cursor.mustVisitAgain, self, visitor)
  }

  // MARK: Where types can contain themselves

  /// A form of a node that is to be brought up to date, and how far that is.
  private struct Frame {
    let node: Node
    let children: ChildList
    /// First those that lead out of the node's cycle, then those that its brief form shows, last the others: when the brief
    /// form is shown inside, it has the newest of all that it shows.
    let ordinals: ContiguousArray<Int32>
    /// Where each of these parts ends.
    let ends: [Int]
    var next = 0
    private var patched = 0
    private var part = 0

    init(_ node: Node, _ children: ChildList, _ parts: [[Int32]]) {
      self.node = node
      self.children = children
      ordinals = ContiguousArray(parts.joined())
      ends = parts.indices.map { parts[...$0].reduce(0) { $0 + $1.count } }
    }

    /// The children of a part were all visited, so that it is to be patched.
    var hasPart: Bool { part < ends.count && next == ends[part] }

    mutating func takePart() -> ContiguousArray<Int32> {
      defer { (patched, part) = (ends[part], part + 1) }
      return ContiguousArray(ordinals[patched..<ends[part]])
    }
  }

  /// Without recursion, since chains may be long.
  private func refreshDeep(_ root: Node) {
    guard var frame = open(root, isBrief: false) else { return }
    var frames: ContiguousArray<Frame> = []
    while true {
      while frame.hasPart { patchPart(of: &frame) }
      if frame.next < frame.ordinals.count {
        let child = frame.children.edges[Int(frame.ordinals[frame.next])].child
        frame.next += 1
        // A cycle of required entities has no end; what is open already is shown as it is.
        guard !child.flags.contains(.visiting),
          let below = open(child, isBrief: frame.node.isInSameCycle(as: child))
        else { continue }
        frames.append(frame)
        frame = below
      } else {
        frame.node.flags.remove(.visiting)
        guard let above = frames.popLast() else { return }
        frame = above
      }
    }
  }

  private func patchPart(of frame: inout Frame) {
    let ordinals = frame.takePart()
    if !ordinals.isEmpty, frame.node.children === frame.children { patch(frame.node, frame.children, ordinals) }
  }

  private func open(_ node: Node, isBrief: Bool) -> Frame? {
    guard node.isStale, let children = node.children else { return nil }
    var ordinals = children.stale.ordinals()
    if isBrief {
      let omitted = children.ends.indices.map { node.omitsWhenBrief(relation: $0) }
      ordinals.removeAll { omitted[children.relation(of: $0)] }
    }
    if ordinals.isEmpty { return nil }
    node.flags.insert(.visiting)
    guard node.links?.component != nil else { return Frame(node, children, [Array(ordinals)]) }
    let isInside = { (ordinal: Int32) in node.isInSameCycle(as: children.edges[Int(ordinal)].child) }
    let inside = ordinals.filter(isInside)
    return Frame(
      node, children,
      [
        ordinals.filter { !isInside($0) }, inside.filter { !node.omitsWhenBrief(ordinal: $0) },
        inside.filter { node.omitsWhenBrief(ordinal: $0) },
      ])
  }
}
