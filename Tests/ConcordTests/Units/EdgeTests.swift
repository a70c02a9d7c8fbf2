import Testing

@testable import Concord

@Suite("The lists of edges")
struct EdgeTests {
  /// Whether every edge is there from both sides, and no other.
  private func isSound(_ world: EdgeWorld) -> Bool {
    let nodes = world.nodes.compactMap { $0 }
    var below = 0
    for node in nodes {
      for (ordinal, edge) in (node.children?.edges ?? []).enumerated() {
        below += 1
        guard edge.child.parents.indices.contains(Int(edge.backIndex)) else { return false }
        let back = edge.child.parents[Int(edge.backIndex)]
        guard back.parent === node, back.ordinal == Int32(ordinal) else { return false }
      }
    }
    return nodes.reduce(0) { $0 + $1.parents.count } == below
  }

  @Test("An entity that stands in several places of one value, also of its own, has an edge for each")
  func severalPlaces() {
    let world = EdgeWorld(hubs: 3)
    world.setChildren(of: 0, [1, 0, 1, 2, 1])
    #expect(world.children(of: 0) == [1, 0, 1, 2, 1])
    #expect(world[1]?.parents.map(\.ordinal) == [0, 2, 4] && world[0]?.parents.map(\.ordinal) == [1])
    #expect(isSound(world))
    world.setChildren(of: 0, [1])
    #expect(world[0]?.parents.isEmpty == true && world[2]?.parents.isEmpty == true && isSound(world))
    world.setChildren(of: 0, [])
    #expect(world[0]?.children?.edges.isEmpty == true && world[1]?.parents.isEmpty == true)
  }

  @Test("Random changes leave each edge known from both sides", arguments: 0..<20)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let world = EdgeWorld(hubs: 8, leaves: 4)
    var expected: [Int: [Int]] = [:]
    for step in 0..<150 {
      let parent = random.below(8)
      if random.chance(25) {
        guard let node = world[parent] else { return }
        world.graph.removeChildren(of: node)
        expected[parent] = nil
        #expect(node.children == nil)
      } else {
        let children = (0..<random.below(9)).map { _ in random.below(12) }
        world.setChildren(of: parent, children)
        expected[parent] = children
      }
      guard isSound(world), (0..<8).allSatisfy({ world.children(of: $0) == expected[$0] ?? [] }) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }

  @Test("Thousands of parents that leave, in any order, need no search and give their room back")
  func manyParents() {
    let world = EdgeWorld(hubs: 3_000, leaves: 1)
    for i in 0..<3_000 { world.setChildren(of: i, [3_000]) }
    #expect(world[3_000]?.parents.count == 3_000)
    var random = SeededGenerator(seed: 1)
    let order = (0..<3_000).shuffled(using: &random)
    for i in order.dropLast(3) { world.setChildren(of: i, []) }
    #expect(isSound(world) && world[3_000]?.parents.count == 3)
    #expect((world[3_000]?.parents.capacity ?? .max) < 64)
    for i in order.suffix(3) { world.setChildren(of: i, []) }
    #expect(world[3_000]?.parents.capacity == 0)
  }

  @Test("A child that loses an edge, and that nobody holds, is to be examined")
  func examined() throws {
    let world = EdgeWorld(hubs: 1, leaves: 2)
    let (free, held) = (try #require(world[1]), try #require(world[2]))
    held.holders.add()
    world.setChildren(of: 0, [1, 2])
    _ = world.graph.unexamined.takeAll()
    world.setChildren(of: 0, [])
    #expect(world.graph.unexamined.takeAll().map { ObjectIdentifier($0) } == [ObjectIdentifier(free)])
  }

  @Test("New edges are not stale, and what is below them can make them so once more")
  func staleness() throws {
    let world = EdgeWorld(hubs: 2, leaves: 1)
    let (above, leaf) = (try #require(world[0]), try #require(world[2]))
    world.setChildren(of: 0, [2, 2])
    #expect(!above.isStale)
    world.graph.didWrite(leaf)
    #expect(above.isStale && above.children?.stale.ordinals() == [0, 1])
    // The other parent comes when the leaf has told all its parents already.
    world.setChildren(of: 1, [2])
    #expect(world[1]?.isStale == false)
    world.graph.didWrite(leaf)
    #expect(world[1]?.isStale == true)
    world.setChildren(of: 0, [2])
    #expect(!above.isStale && above.children?.stale.isEmpty == true)
    world.graph.didWrite(leaf)
    world.graph.removeChildren(of: above)
    #expect(!above.isStale)
  }

  @Test("A list knows which relation has an ordinal, and where each begins and ends")
  func relations() {
    let schema = AnySchema(
      orders: [.elements, .elements, .none], canOmit: [.never, .always, .depends],
      canAlwaysRemove: [true, true, true], mayDependOnEntities: false)
    let world = EdgeWorld(hubs: 1, leaves: 5)
    let nodes = ContiguousArray(world.nodes.dropFirst().compactMap { $0.map { ChildEdge(child: $0) } })
    guard let hub = world[0] else { return }
    world.graph.setChildren(of: hub, schema, nodes, [2, 2, 5])
    guard let list = hub.children else { return #expect(Bool(false), "there are children") }
    #expect((0..<3).map { list.range(ofRelation: $0) } == [0..<2, 2..<2, 2..<5])
    #expect((0..<5).map { list.relation(of: Int32($0)) } == [0, 0, 2, 2, 2])
    #expect(list.isSame(schema, nodes, [2, 2, 5]) && !list.isSame(schema, nodes, [2, 3, 5]))
    var swapped = nodes
    swapped.swapAt(2, 4)
    #expect(!list.isSame(schema, swapped, [2, 2, 5]) && list.isSameInAnyOrder(schema, swapped, [2, 2, 5]))
    swapped = nodes
    swapped.swapAt(0, 1)
    #expect(!list.isSameInAnyOrder(schema, swapped, [2, 2, 5]))
    #expect(!list.isSameInAnyOrder(world.schema, nodes, [2, 2, 5]))
  }
}
