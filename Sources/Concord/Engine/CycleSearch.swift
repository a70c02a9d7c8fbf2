/// Brings a value up to date where cycles are possible.
///
/// A cycle is a strongly connected component of the graph of occurrences (Tarjan, "Depth-first search and linear graph
/// algorithms", 1972; here without recursion, since chains may be long). Nodes in a cycle, and those above one, are
/// `rooted`: their value depends on what is read, and is made for that one alone. In it each entity of a cycle shows its
/// relations at its occurrence nearest to the root (breadth first, the last of those equally near, which is also the one
/// that wins when the value is stored again), and leaves those into its own cycle out elsewhere.
final class CycleSearch {
  private let engine: Engine
  private let serial: UInt32
  private var counter: Int32 = 0
  private var components: UInt32 = 0
  private var stack: ContiguousArray<Node> = []

  init(engine: Engine) {
    self.engine = engine
    engine.searchSerial &+= 1
    serial = engine.searchSerial
  }

  func refresh(_ root: Node) {
    findComponents(from: root)
    if root.flags.contains(.rooted) { makeRootedValue(of: root) }
    root.flags.remove(.dirty)
    engine.taint(root)
  }

  // MARK: Components

  /// A node being searched, and how far.
  private struct Frame {
    let node: Node
    let children: ChildList
    /// The occurrences to follow; `nil` for all.
    let ordinals: ContiguousArray<Int32>?
    var next = 0

    init(_ node: Node, _ children: ChildList) {
      self.node = node
      self.children = children
      // Above no cycle and with the same children as before, only what is dirty can have changed.
      let needsAll = node.flags.contains(.rooted) || node.flags.contains(.restructured)
      ordinals = needsAll ? nil : children.dirty.ordinals()
    }

    /// Whether one of the children is in a cycle or above one, or the node is its own child.
    var isAboveCycle: Bool {
      func leads(_ edge: ChildEdge) -> Bool { edge.child.flags.contains(.rooted) || edge.child === node }
      guard let ordinals else { return children.edges.contains(where: leads) }
      return ordinals.contains { leads(children.edges[Int($0)]) }
    }

    mutating func nextChild() -> Node? {
      guard next < ordinals?.count ?? children.edges.count else { return nil }
      defer { next += 1 }
      return children.edges[ordinals.map { Int($0[next]) } ?? next].child
    }
  }

  private func findComponents(from root: Node) {
    guard let children = root.children else { return }
    var frames: [Frame] = [open(root, children)]
    while let last = frames.indices.last {
      if let child = frames[last].nextChild() {
        guard child.isDirty || child.flags.contains(.rooted), let below = child.children else { continue }
        if below.visit != serial {
          frames.append(open(child, below))
        } else if below.onStack {
          frames[last].children.low = min(frames[last].children.low, below.index)
        }
      } else {
        let frame = frames.removeLast()
        if let parent = frames.last { parent.children.low = min(parent.children.low, frame.children.low) }
        if frame.children.low == frame.children.index { close(frame) }
      }
    }
  }

  private func open(_ node: Node, _ children: ChildList) -> Frame {
    children.visit = serial
    children.index = counter
    children.low = counter
    children.onStack = true
    counter += 1
    stack.append(node)
    return Frame(node, children)
  }

  /// All nodes of a component are on the stack, the frame's lowest.
  private func close(_ frame: Frame) {
    components += 1
    let first = stack.lastIndex { $0 === frame.node } ?? 0
    let isRooted = stack.count - first > 1 || frame.isAboveCycle
    for i in first..<stack.count {
      let node = stack[i]
      node.children?.onStack = false
      node.children?.component = components
      node.flags.remove(.restructured)
      if isRooted {
        node.flags.insert(.rooted)
      } else {
        if node.flags.contains(.rooted) {
          // The cycle is no more; what was left out because of it comes back.
          node.flags.remove(.rooted)
          for ordinal in frame.children.edges.indices { engine.showsOld(node, Int32(ordinal)) }
        }
        if node.isDirty {
          node.patchDirtyChildren()
          node.flags.remove(.dirty)
          engine.taint(node)
        }
      }
    }
    stack.removeSubrange(first...)
  }

  // MARK: The value

  private func makeRootedValue(of root: Node) {
    let order = nearestFirst(from: root)
    makeFarForms(of: order)
    // Children in the tree come later in the order than their parents.
    for node in order.reversed() where node !== root { node.makeNearForm(asRoot: false) }
    root.makeNearForm(asRoot: true)
    for node in order { node.dropForms() }
  }

  /// All nodes at which the value depends on the root, breadth first, each after the edge at which it shows its relations.
  private func nearestFirst(from root: Node) -> ContiguousArray<Node> {
    var order: ContiguousArray<Node?> = [root]
    root.children?.reached = serial
    root.children?.treeParent = nil
    root.children?.treeOrdinal = -1
    root.children?.index = 0
    var levelEnd = 1
    var next = 0
    while next < order.count {
      if next == levelEnd { levelEnd = order.count }
      guard let node = order[next] else {
        next += 1
        continue
      }
      next += 1
      node.flags.remove(.marked)
      for (ordinal, edge) in (node.children?.edges ?? []).enumerated() {
        let child = edge.child
        child.flags.remove(.marked)
        guard child.flags.contains(.rooted), let below = child.children else { continue }
        if below.reached == serial {
          // Met before on the same level: the later place is the one.
          guard below.index >= levelEnd else { continue }
          order[Int(below.index)] = nil
        }
        below.reached = serial
        below.index = Int32(order.count)
        below.treeParent = node
        below.treeOrdinal = Int32(ordinal)
        order.append(child)
      }
    }
    return ContiguousArray(order.compactMap { $0 })
  }

  private func makeFarForms(of nodes: ContiguousArray<Node>) {
    var leftOut: [ObjectIdentifier: [Int32]] = [:]
    var isMade: Set<ObjectIdentifier> = []
    for start in nodes {
      var stack: [(node: Node, isOpen: Bool)] = [(start, false)]
      while let (node, isOpen) = stack.popLast() {
        let key = ObjectIdentifier(node)
        guard !isMade.contains(key), let children = node.children else { continue }
        if isOpen {
          isMade.insert(key)
          node.makeFarForm(leavingOut: leftOut[key] ?? [])
          continue
        }
        guard leftOut[key] == nil else { continue }
        // What is required cannot be left out, and shows its own far form, which is made before.
        let inside = children.edges.indices.filter { isInside(children.edges[$0], children) }.map { Int32($0) }
        let required = Set(node.required(among: inside))
        leftOut[key] = inside.filter { !required.contains($0) }
        stack.append((node, true))
        for (ordinal, edge) in children.edges.enumerated() {
          let isShown = !isInside(edge, children) || required.contains(Int32(ordinal))
          if isShown, edge.child.flags.contains(.rooted) { stack.append((edge.child, false)) }
        }
      }
    }
  }

  /// Whether an edge stays within its cycle.
  private func isInside(_ edge: ChildEdge, _ children: ChildList) -> Bool {
    edge.child.flags.contains(.rooted) && edge.child.children?.component == children.component
  }
}
