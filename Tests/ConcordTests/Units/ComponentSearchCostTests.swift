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
}
