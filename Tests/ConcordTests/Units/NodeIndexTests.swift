import Testing

@testable import Concord

@Suite("The index of nodes")
struct NodeIndexTests {
  private let table = AnyTable(valueType: ObjectIdentifier(Int.self), isAggregate: false, isEquatable: false)

  /// A node whose entry belongs at `home`, as far as the index is that large.
  private func node(_ home: UInt32) -> Node {
    let node = Node(table: table)
    node.hash = home | 1 << 31
    return node
  }

  private func has(_ index: NodeIndex, _ node: Node) -> Bool { index.find(node.hash) { $0 === node } === node }

  @Test("Nodes with the same hash are each found, whichever of them goes")
  func collisions() {
    let nodes = (0..<5).map { _ in node(3) }
    for gone in nodes.indices {
      var index = NodeIndex()
      for node in nodes { index.insert(node) }
      let removed = index.remove(nodes[gone])
      #expect(removed)
      for (i, node) in nodes.enumerated() { #expect(has(index, node) == (i != gone)) }
      #expect(index.count == 4 && index.all.count == 4)
    }
  }

  @Test("Entries that wrap around the end are found when one before them goes, in whatever order they came")
  func wrapAround() {
    for order in permutations([6, 7, 7, 0, 0]) {
      for gone in order.indices {
        var index = NodeIndex()
        let nodes = order.map { node($0) }
        for node in nodes { index.insert(node) }
        #expect(index.capacity == 8)
        let removed = index.remove(nodes[gone])
        #expect(removed)
        let found = nodes.indices.filter { has(index, nodes[$0]) }
        #expect(found == nodes.indices.filter { $0 != gone }, "homes \(order) without the one at \(gone)")
      }
    }
  }

  @Test("A full hash that agrees is not enough, and neither is the home alone")
  func wanted() {
    var index = NodeIndex()
    let (first, second, absent) = (node(1), node(1), node(1))
    index.insert(first)
    index.insert(second)
    #expect(index.find(first.hash) { $0 === second } === second)
    #expect(index.find(first.hash) { _ in false } == nil)
    // The same home in an index of eight.
    #expect(index.find(node(9).hash) { _ in true } == nil)
    let removedAbsent = index.remove(absent)
    #expect(!removedAbsent)
    let results = [index.remove(first), index.remove(first)]
    #expect(results == [true, false])
    #expect(index.count == 1 && has(index, second))
  }

  @Test("The index never gets fuller than four fifths, and stays a power of two")
  func growth() {
    var index = NodeIndex()
    #expect(index.capacity == 8)
    for i in 0..<1_000 {
      index.insert(node(UInt32(i)))
      #expect(index.count * 5 <= index.capacity * 4 && index.capacity.nonzeroBitCount == 1)
      if i == 5 { #expect(index.capacity == 8) }
      if i == 6 { #expect(index.capacity == 16) }
    }
    #expect(index.capacity == 2_048)
  }

  @Test("Room that was reserved is enough, and is reserved once")
  func reserving() {
    var index = NodeIndex()
    index.reserve(0)
    #expect(index.capacity == 8)
    index.reserve(6)
    #expect(index.capacity == 8)
    index.reserve(1_000)
    let capacity = index.capacity
    #expect(capacity == 2_048)
    for i in 0..<1_000 { index.insert(node(UInt32(i))) }
    #expect(index.capacity == capacity)
  }

  @Test("After a peak the index gives its room back, step by step, and down to the least")
  func shrinking() {
    var index = NodeIndex()
    let nodes = (0..<2_000).map { node(UInt32($0)) }
    for node in nodes { index.insert(node) }
    #expect(index.capacity == 4_096)
    for (i, node) in nodes.enumerated() {
      _ = index.remove(node)
      // Not so eagerly that the next few would make it grow again.
      #expect(index.count * 8 >= index.capacity || index.capacity == 8)
      #expect(index.count * 5 <= index.capacity * 4)
      if i == 1_989 {
        #expect(nodes[1_990...].allSatisfy { has(index, $0) })
        #expect(index.capacity == 64)
      }
    }
    #expect(index.capacity == 8 && index.count == 0 && index.all.isEmpty)
  }

  @Test("Nothing of a node stays when it goes")
  func releases() {
    var index = NodeIndex()
    weak var gone: Node?
    do {
      let node = node(7)
      gone = node
      index.insert(self.node(7))
      index.insert(node)
      index.insert(self.node(0))
      _ = index.remove(node)
    }
    #expect(gone == nil && index.count == 2)
  }

  @Test("Random comings and goings, as a dictionary has them", arguments: 0..<4)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = NodeIndex()
    var expected: [ObjectIdentifier: Node] = [:]
    var gone: [Node] = []
    // Few homes, many of them near the end, so that runs are long and wrap around.
    let homes = (0..<12).map { _ in UInt32.max - UInt32(random.below(40)) }
    for step in 0..<600 {
      if random.chance(step / 150 % 2 == 0 ? 75 : 25) {
        let node = node(random.pick(homes))
        index.insert(node)
        expected[ObjectIdentifier(node)] = node
      } else if let node = expected.values.min(by: { $0.hash < $1.hash }) {
        let removed = index.remove(node)
        #expect(removed)
        expected[ObjectIdentifier(node)] = nil
        gone.append(node)
      }
      guard index.count == expected.count, expected.values.allSatisfy({ has(index, $0) }),
        !gone.suffix(20).contains(where: { has(index, $0) })
      else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
    #expect(Set(index.all.map { ObjectIdentifier($0) }) == Set(expected.keys))
  }

  private func permutations(_ values: [UInt32]) -> [[UInt32]] {
    guard values.count > 1 else { return [values] }
    return values.indices.flatMap { i in
      var rest = values
      let first = rest.remove(at: i)
      return permutations(rest).map { [first] + $0 }
    }
  }
}
