/// The nodes on which the closures of pending layers depend. A write to any other node need not replay them.
///
/// The footprint of a layer consists of the nodes that its closure wrote, and of all nodes inside the values that it
/// received. Only some operations are traced; a layer whose closure did anything else depends on everything.
///
/// Of a node with many nodes inside, only the node itself is noted, as a whole. Writes to a node inside of a present value take
/// off all layers, so that nobody has to ask who depends on it.
struct Footprints {
  typealias Nodes = ContiguousArray<ObjectIdentifier>

  /// The footprint of each layer, by its record.
  private var nodes: [ObjectIdentifier: Nodes] = [:]
  /// The nodes in each layer's footprint that stand for all nodes inside them.
  private var wholes: [ObjectIdentifier: ContiguousArray<Node>] = [:]
  /// The types of these nodes, with the number of nodes of each.
  private var wholeTables: [ObjectIdentifier: (table: AnyTable, count: Int)] = [:]
  /// The records of the layers that depend on a node.
  private var records: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
  /// The layers that depend on everything.
  private var untraced: Set<ObjectIdentifier> = []
  /// Whether the footprints are known. They are not between the undoing of closures, or the release of a node in a footprint,
  /// and the next replay of all layers.
  private(set) var areKnown = true

  /// The size up to which footprints are traced. Comparing writes with larger ones would cost more than it saves.
  static let mostNodes = 1_000
  /// The number of nodes inside a node up to which they are noted one by one.
  static let mostInside = 32

  /// Sets the footprint of a layer; `nil` if it depends on everything.
  mutating func set(_ found: FootprintTrace, of record: ObjectIdentifier) {
    guard let nodes = found.nodes else { return setUntraced(record) }
    if self.nodes[record] != nodes {
      remove(record)
      for node in nodes { records[node, default: []].insert(record) }
      self.nodes[record] = nodes
    }
    setWholes(found.wholes, of: record)
  }

  private mutating func setWholes(_ found: ContiguousArray<Node>, of record: ObjectIdentifier) {
    for node in found { wholeTables[ObjectIdentifier(node.table), default: (node.table, 0)].count += 1 }
    let former = found.isEmpty ? wholes.removeValue(forKey: record) : wholes.updateValue(found, forKey: record)
    for node in former ?? [] {
      let table = ObjectIdentifier(node.table)
      wholeTables[table]?.count -= 1
      if wholeTables[table]?.count == 0 { wholeTables[table] = nil }
    }
  }

  mutating func setUntraced(_ record: ObjectIdentifier) {
    remove(record)
    untraced.insert(record)
  }

  mutating func remove(_ record: ObjectIdentifier) {
    untraced.remove(record)
    setWholes([], of: record)
    for node in nodes.removeValue(forKey: record) ?? [] {
      if records[node]?.count == 1 {
        records[node] = nil
      } else {
        records[node]?.remove(record)
      }
    }
  }

  /// Invalidates all footprints, until all layers have been replayed.
  mutating func forget() { areKnown = false }
  mutating func didReplayAll() { areKnown = true }

  /// Whether some layer is known to depend on a node.
  func contains(_ node: Node) -> Bool { records[ObjectIdentifier(node)] != nil }

  /// Returns the footprint of a layer; `nil` if it is not known.
  func nodes(of record: ObjectIdentifier) -> Nodes? { nodes[record] }

  /// Returns the nodes in the footprint of a layer that stand for all nodes inside them.
  func wholes(of record: ObjectIdentifier) -> ContiguousArray<Node> { wholes[record] ?? [] }

  /// Whether a node may be inside one that stands for all nodes inside it, going by their types.
  func mayBeInsideWhole(_ node: Node) -> Bool { wholeTables.values.contains { $0.table.canContain(node.table) } }

  /// Returns the layers in whose footprints a node is.
  func records(of node: ObjectIdentifier) -> Set<ObjectIdentifier> { records[node] ?? [] }

  /// Returns the layers that depend on any of some nodes, directly or through shared nodes, and the union of their footprints.
  ///
  /// - Complexity: the size of their footprints.
  func group(of nodes: Nodes) -> (records: Set<ObjectIdentifier>, nodes: Set<ObjectIdentifier>) {
    var group: (records: Set<ObjectIdentifier>, nodes: Set<ObjectIdentifier>) = ([], Set(nodes))
    var open = nodes
    while let node = open.popLast() {
      for record in records[node] ?? [] where group.records.insert(record).inserted {
        for other in self.nodes[record] ?? [] where group.nodes.insert(other).inserted { open.append(other) }
      }
    }
    return group
  }

  /// Whether some layer depends on everything.
  var areOfAll: Bool { !areKnown || !untraced.isEmpty }
}

/// The footprint of a closure, collected while it runs.
struct FootprintTrace {
  private var found: Footprints.Nodes = []
  private var known: Set<ObjectIdentifier> = []
  private var isWhole = true
  private(set) var wholes: ContiguousArray<Node> = []

  /// Ends tracing, since the closure did something that is not traced.
  mutating func giveUp() { isWhole = false }

  /// Adds a node that the closure received or wrote, with all nodes inside it.
  mutating func add(_ node: Node) {
    guard isWhole else { return }
    note(node)
    guard node.children != nil else { return }
    if let count = node.children?.edges.count, count > Footprints.mostInside { return addWhole(node) }
    // A node that was added before may have other children by now.
    var visited: Set<ObjectIdentifier> = [ObjectIdentifier(node)]
    var open: ContiguousArray<Node> = [node]
    while let next = open.popLast() {
      for edge in next.children?.edges ?? [] where visited.insert(ObjectIdentifier(edge.child)).inserted {
        note(edge.child)
        open.append(edge.child)
        if visited.count > Footprints.mostInside { return addWhole(node) }
      }
    }
  }

  private mutating func addWhole(_ node: Node) {
    if !wholes.contains(where: { $0 === node }) { wholes.append(node) }
  }

  private mutating func note(_ node: Node) {
    let id = ObjectIdentifier(node)
    if found.count < Self.fewNodes {
      // Fast path: usually there are one or two, for which a set would be slower.
      if !found.contains(id) { found.append(id) }
    } else {
      if known.isEmpty { known = Set(found) }
      if known.insert(id).inserted { found.append(id) }
    }
  }

  private static let fewNodes = 16

  /// The nodes of the footprint; `nil` if the closure depends on everything.
  var nodes: Footprints.Nodes? { isWhole && found.count <= Footprints.mostNodes ? found : nil }
}

/// The node that an operation is about to write to.
struct WriteTarget {
  /// The node; `nil` if the entity is not stored.
  let node: Node?
  /// Whether the operation may write to other nodes, too.
  let writesOthers: Bool

  init(_ node: Node?, writesOthers: Bool) { (self.node, self.writesOthers) = (node, writesOthers) }
}
