import Testing

@testable import Concord

@Suite("Who stays")
struct ReachabilityTests {
  /// A graph, who of it is held, and what decides who stays.
  private final class World {
    let edges: EdgeWorld
    let reachability: Reachability
    private(set) var held: [Int: Int] = [:]

    init(hubs: Int, leaves: Int = 0) {
      edges = EdgeWorld(hubs: hubs, leaves: leaves)
      reachability = Reachability(graph: edges.graph, log: LogBuffer(nil, Backlog()))
    }

    func hold(_ i: Int) {
      guard let node = edges[i] else { return }
      node.holders.add()
      held[i, default: 0] += 1
    }

    func letGo(_ i: Int) {
      guard let node = edges[i], held[i, default: 0] > 0 else { return }
      node.holders.remove()
      if node.holders.count == 0 { edges.graph.unexamined.insert(node) }
      held[i, default: 0] -= 1
    }

    /// Those that somebody holds, and all below them.
    var naive: [Int] {
      var found: Set<Int> = []
      var stack = edges.living.filter { held[$0, default: 0] > 0 }
      while let i = stack.popLast() {
        if found.insert(i).inserted { stack += edges.children(of: i) }
      }
      return found.sorted()
    }

    /// Releases what is not reachable, and gives the rest.
    func examine() -> [Int] {
      reachability.examine()
      edges.forgetReleased()
      return edges.living
    }
  }

  @Test("A cycle that nobody holds goes, whoever of it was held last")
  func cycle() {
    for last in 0..<4 {
      let world = World(hubs: 4)
      for i in 0..<4 { world.edges.setChildren(of: i, [(i + 1) % 4]) }
      for i in 0..<4 { world.hold(i) }
      for i in 0..<4 where i != last {
        world.letGo(i)
        #expect(world.examine() == [0, 1, 2, 3])
      }
      world.letGo(last)
      #expect(world.examine().isEmpty)
      #expect(world.edges.graph.table(EdgeWorld.Hub.self).index.count == 0)
    }
  }

  @Test("An entity that only contains itself goes")
  func ownChild() {
    let world = World(hubs: 2)
    world.edges.setChildren(of: 0, [0])
    world.hold(0)
    world.hold(1)
    #expect(world.examine() == [0, 1])
    world.letGo(0)
    #expect(world.examine() == [1])
  }

  @Test("What goes takes along what only it contained, and leaves what others contain")
  func sharedChild() {
    let world = World(hubs: 2, leaves: 3)
    world.edges.setChildren(of: 0, [2, 3])
    world.edges.setChildren(of: 1, [3, 4])
    world.hold(0)
    world.hold(1)
    #expect(world.examine() == [0, 1, 2, 3, 4])
    world.letGo(0)
    #expect(world.examine() == [1, 3, 4])
    // The edges of what is gone are gone, too.
    #expect(world.edges[3]?.parents.count == 1)
    world.letGo(1)
    #expect(world.examine().isEmpty)
  }

  @Test("What is new, and in nothing that stays, goes at once")
  func unheld() {
    let world = World(hubs: 3, leaves: 2)
    world.edges.setChildren(of: 0, [1, 3])
    #expect(world.examine().isEmpty)
  }

  @Test("A long chain hangs on its first, and on a cycle above it")
  func chain() {
    let count = 500
    let world = World(hubs: count)
    for i in 0..<count - 1 { world.edges.setChildren(of: i, [i + 1]) }
    world.hold(0)
    #expect(world.examine().count == count)
    // A way back from the end, and another holder in the middle.
    world.edges.setChildren(of: count - 1, [0])
    world.hold(count / 2)
    world.letGo(0)
    #expect(world.examine().count == count)
    world.letGo(count / 2)
    #expect(world.examine().isEmpty)
  }

  @Test("More parents than are looked at one by one: the last of them is enough")
  func manyParents() {
    let world = World(hubs: 40)
    for i in 0..<39 { world.edges.setChildren(of: i, [39]) }
    // The one that is left is not among the first, and the entity has a way back to all others.
    world.edges.setChildren(of: 39, Array(0..<38))
    world.hold(38)
    world.hold(39)
    #expect(world.examine().count == 40)
    world.letGo(39)
    #expect(world.examine().count == 40)
    world.letGo(38)
    #expect(world.examine().isEmpty)
  }

  @Test("A registration holds, once however often, and its end lets go")
  func registration() throws {
    let world = World(hubs: 1, leaves: 1)
    world.edges.setChildren(of: 0, [1])
    let node = try #require(world.edges[0])
    for _ in 0..<2 { world.reachability.setRegistered(node, true) }
    #expect(node.holders.count == 1 && node.flags.contains(.registered) && world.examine() == [0, 1])
    for _ in 0..<2 { world.reachability.setRegistered(node, false) }
    #expect(node.holders.count == 0 && !node.flags.contains(.registered) && world.examine().isEmpty)
  }

  @Test("Random changes and holders, as a search from all that are held has it", arguments: 0..<30)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let world = World(hubs: 8, leaves: 3)
    for i in 0..<8 where random.chance(50) { world.hold(i) }
    for step in 0..<120 {
      for _ in 0...random.below(3) {
        while world.edges.living.count < 9 {
          world.edges.addHub()
          if random.chance(60) { world.hold(world.edges.nodes.count - 1) }
        }
        let i = random.pick(world.edges.living)
        switch random.below(10) {
        case 0..<5 where world.edges[i]?.table.valueType == ObjectIdentifier(EdgeWorld.Hub.self):
          world.edges.setChildren(of: i, (0..<random.below(4)).map { _ in random.pick(world.edges.living) })
        case 5: world.hold(i)
        default: world.letGo(i)
        }
      }
      let expected = world.naive
      let found = world.examine()
      guard found == expected else {
        Issue.record("seed \(seed), step \(step): \(found), not \(expected)")
        return
      }
    }
  }
}
