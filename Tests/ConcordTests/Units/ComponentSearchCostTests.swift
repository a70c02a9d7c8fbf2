import Testing

@testable import Concord

/// How many edges searches go along, and how many ranks get other labels, is the work of ordering a graph.
@Suite("What the search for cycles costs")
struct ComponentSearchCostTests {
  /// Where the links of a chain come from.
  enum Way: CaseIterable {
    case fromTop
    case fromBottom
    case atRandom
  }

  /// The steps per link of a chain, or of a ring if the last one leads back to the first.
  private func cost(_ count: Int, _ way: Way, isRing: Bool, atOnce: Bool) -> Int {
    let world = EdgeWorld(hubs: count)
    let search = ComponentSearch(graph: world.graph)
    var links = Array(0..<count - 1)
    var random = SeededGenerator(seed: 1)
    switch way {
    case .fromTop: break
    case .fromBottom: links.reverse()
    case .atRandom: for i in links.indices.dropFirst() { links.swapAt(i, random.below(i + 1)) }
    }
    if isRing { links.append(count - 1) }
    for i in links {
      world.setChildren(of: i, [(i + 1) % count])
      if !atOnce { search.resolve() }
    }
    search.resolve()
    let isSound = world.nodes.allSatisfy { $0?.links?.component?.count == (isRing ? count : nil) }
    #expect(isSound)
    return (search.steps + search.order.relabelled) / count
  }

  @Test(
    "A chain, and a ring, cost their links, whatever the order of these", arguments: Way.allCases, [true, false])
  func chains(_ way: Way, _ isRing: Bool) {
    for atOnce in [true, false] {
      // By pairs of links these would be hundreds; the logarithm of their number is 11.
      let cost = cost(2_000, way, isRing: isRing, atOnce: atOnce)
      #expect(cost <= 60, "\(way), ring: \(isRing), in one transaction: \(atOnce)")
    }
  }

  /// What becomes of nodes that are in order already, in one transaction.
  enum Rewiring: CaseIterable {
    case shuffledRing
    case twoWayRing
    case lineFromBothEnds
    case atRandom
  }

  /// The steps per node of a transaction that rewires all nodes of a chain.
  private func cost(_ count: Int, _ rewiring: Rewiring, _ ranking: ComponentSearch.Ranking = .cheaper) -> Int {
    let world = EdgeWorld(hubs: count)
    let search = ComponentSearch(graph: world.graph)
    search.ranking = ranking
    for i in 0..<count - 1 { world.setChildren(of: i, [i + 1]) }
    search.resolve()
    var order = Array(0..<count)
    var random = SeededGenerator(seed: 1)
    for i in order.indices.dropFirst() { order.swapAt(i, random.below(i + 1)) }
    let before = (search.steps, search.order.relabelled)
    for i in order.indices {
      let (next, last) = (order[(i + 1) % count], order[(i + count - 1) % count])
      switch rewiring {
      case .shuffledRing: world.setChildren(of: order[i], [next])
      case .twoWayRing: world.setChildren(of: order[i], [next, last])
      case .lineFromBothEnds: world.setChildren(of: i, i == 0 ? [] : [i % 2 == 0 ? i - 1 : count - 1 - i, i - 1])
      case .atRandom: world.setChildren(of: i, (0..<3).map { _ in random.below(count) })
      }
    }
    search.resolve()
    return (search.steps - before.0 + search.order.relabelled - before.1) / count
  }

  @Test("A transaction that rewires all nodes costs their edges", arguments: Rewiring.allCases)
  func rewiring(_ rewiring: Rewiring) {
    for count in [500, 1_000, 2_000] {
      let cost = cost(count, rewiring)
      #expect(cost <= 80, "\(rewiring) of \(count)")
    }
  }

  @Test("A graph in which most edges come one by one, all in one transaction, costs their number")
  func manyEdges() {
    func cost(_ count: Int) -> Int {
      let world = EdgeWorld(hubs: count)
      let search = ComponentSearch(graph: world.graph)
      // Each is in the order, since it has a link.
      for i in 0..<count - 1 { world.setChildren(of: i, [i + 1]) }
      world.setChildren(of: count - 1, [])
      search.resolve()
      let before = search.steps
      // Each edge leads back by a few: none alone is dear.
      for i in 1..<count { world.setChildren(of: i, i + 1 < count ? [i + 1, i - 1] : [i - 1]) }
      search.resolve()
      return (search.steps - before) / count
    }
    let costs = [500, 1_000, 2_000].map(cost)
    #expect(costs.allSatisfy { $0 <= 80 }, "\(costs)")
  }

  @Test("A ring in both directions that is shuffled in one transaction, whose paths all go, costs its edges")
  func shuffledTwoWayRing() {
    func cost(_ count: Int) -> Int {
      let world = EdgeWorld(hubs: count)
      let search = ComponentSearch(graph: world.graph)
      var order = Array(0..<count)
      func connect() {
        for i in order.indices {
          world.setChildren(of: order[i], [order[(i + 1) % count], order[(i + count - 1) % count]])
        }
      }
      connect()
      search.resolve()
      // Now the component knows its paths.
      world.setChildren(of: 0, [1])
      search.resolve()
      world.setChildren(of: 0, [1, count - 1])
      search.resolve()
      var random = SeededGenerator(seed: 1)
      for i in order.indices.dropFirst() { order.swapAt(i, random.below(i + 1)) }
      let before = search.steps + search.order.relabelled + world.graph.pathSteps
      connect()
      search.resolve()
      #expect(world.nodes.allSatisfy { $0?.links?.component?.count == count })
      return (search.steps + search.order.relabelled + world.graph.pathSteps - before) / count
    }
    let costs = [500, 1_000, 2_000].map(cost)
    #expect(costs.allSatisfy { $0 <= 80 }, "\(costs)")
  }
}
