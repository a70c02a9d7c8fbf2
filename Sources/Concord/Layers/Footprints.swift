/// What the closures of pending layers depend on: a write to anything else need not replay them.
///
/// The footprint of a layer are the nodes that its closure wrote, and all inside of what it was handed. Only some operations are
/// traced; a layer whose closure did anything else depends on everything.
struct Footprints {
  typealias Nodes = ContiguousArray<ObjectIdentifier>

  /// By the layer's record.
  private var nodes: [ObjectIdentifier: Nodes] = [:]
  /// The records of the layers that depend on a node.
  private var records: [ObjectIdentifier: ContiguousArray<ObjectIdentifier>] = [:]
  /// The layers that depend on everything.
  private var untraced: Set<ObjectIdentifier> = []
  /// Not after a transaction that ran closures was undone, or a node of a footprint has gone: until all are replayed.
  private(set) var areKnown = true

  /// More is not traced: a write that is compared with it would cost more than it saves.
  static let mostNodes = 1_000

  /// What one layer depends on; `nil` if on everything.
  mutating func set(_ found: Nodes?, of record: ObjectIdentifier) {
    if let found, nodes[record] == found { return }
    remove(record)
    guard let found else {
      untraced.insert(record)
      return
    }
    for node in found { records[node, default: []].append(record) }
    nodes[record] = found
  }

  mutating func remove(_ record: ObjectIdentifier) {
    untraced.remove(record)
    for node in nodes.removeValue(forKey: record) ?? [] {
      if records[node]?.count == 1 {
        records[node] = nil
      } else if let position = records[node]?.firstIndex(of: record) {
        records[node]?.remove(at: position)
      }
    }
  }

  /// All layers are replayed before the footprints are asked for the next time.
  mutating func forget() { areKnown = false }
  mutating func didReplayAll() { areKnown = true }

  /// Whether some layer is known to depend on a node.
  func contains(_ node: Node) -> Bool { records[ObjectIdentifier(node)] != nil }

  /// What a layer is known to depend on.
  func nodes(of record: ObjectIdentifier) -> Nodes? { nodes[record] }

  /// The layers that depend on any of some nodes, or on what others of them depend on; and all of that.
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

  /// Whether a layer depends on everything.
  var areOfAll: Bool { !areKnown || !untraced.isEmpty }
}

/// Collects the footprint of a closure while it runs.
struct FootprintTrace {
  private var found: Footprints.Nodes = []
  private var known: Set<ObjectIdentifier> = []
  private var isWhole = true

  /// The closure did what is not traced.
  mutating func giveUp() { isWhole = false }

  /// It was handed a node, with all inside as it is now, or wrote it.
  mutating func add(_ node: Node) {
    guard isWhole else { return }
    note(node)
    guard node.children != nil else { return }
    // What is known may have other children by now.
    var visited: Set<ObjectIdentifier> = [ObjectIdentifier(node)]
    var open: ContiguousArray<Node> = [node]
    while let next = open.popLast() {
      for edge in next.children?.edges ?? [] where visited.insert(ObjectIdentifier(edge.child)).inserted {
        note(edge.child)
        open.append(edge.child)
        if visited.count > Footprints.mostNodes { return giveUp() }
      }
    }
  }

  private mutating func note(_ node: Node) {
    let id = ObjectIdentifier(node)
    if found.count < Self.fewNodes {
      // Most often there are one or two, and a set takes time.
      if !found.contains(id) { found.append(id) }
    } else {
      if known.isEmpty { known = Set(found) }
      if known.insert(id).inserted { found.append(id) }
    }
  }

  private static let fewNodes = 16

  /// `nil` if it is everything.
  var nodes: Footprints.Nodes? { isWhole && found.count <= Footprints.mostNodes ? found : nil }
}

/// What an operation writes to, as far as it is known before.
struct WriteTarget {
  /// `nil` if the entity is not there.
  let node: Node?
  /// It may write to others, too.
  let writesOthers: Bool

  init(_ node: Node?, writesOthers: Bool) { (self.node, self.writesOthers) = (node, writesOthers) }
}
