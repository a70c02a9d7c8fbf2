import Testing

@testable import Concord

@Suite("The search for cycles")
struct ComponentSearchTests {
  /// For each entity, which ones it leads to.
  private func naiveReach(_ world: EdgeWorld, _ count: Int) -> [UInt64] {
    var reach = (0..<count).map { i in world.children(of: i).reduce(0 as UInt64) { $0 | 1 << UInt64($1) } }
    for middle in 0..<count {
      for i in 0..<count where reach[i] & 1 << UInt64(middle) != 0 { reach[i] |= reach[middle] }
    }
    return reach
  }

  /// Whether each entity is in the component of those that it leads to and that lead to it.
  private func agrees(_ world: EdgeWorld, _ count: Int) -> Bool {
    let reach = naiveReach(world, count)
    for i in 0..<count {
      guard let node = world[i] else { return false }
      let expected = (0..<count).filter { reach[i] & 1 << UInt64($0) != 0 && reach[$0] & 1 << UInt64(i) != 0 }
      let component = node.links?.component
      guard (component != nil) == expected.contains(i), component?.count ?? 0 == expected.count else { return false }
      for j in 0..<count where (world[j].map(node.isInSameCycle) ?? false) != expected.contains(j) { return false }
      // Nothing of the search stays.
      if node.children?.search.isOnStack ?? false || node.links?.isRelabelled ?? false { return false }
    }
    return true
  }

  @Test("An entity that contains itself is a cycle, and one that does not is none")
  func single() {
    let world = EdgeWorld(hubs: 2)
    let search = ComponentSearch(graph: world.graph)
    world.setChildren(of: 0, [0])
    world.setChildren(of: 1, [0])
    search.resolve()
    #expect(world[0]?.links?.component?.count == 1 && world[1]?.links?.component == nil)
    world.setChildren(of: 0, [])
    search.resolve()
    #expect(world[0]?.links?.component == nil)
  }

  @Test("A cycle keeps its identity while it grows, and the largest part of one that splits has it")
  func identity() throws {
    let world = EdgeWorld(hubs: 4)
    let search = ComponentSearch(graph: world.graph)
    for i in 0..<3 { world.setChildren(of: i, [(i + 1) % 3]) }
    search.resolve()
    let first = try #require(world[0]?.links?.component)
    #expect(first.count == 3)
    world.setChildren(of: 0, [1, 1, 3])
    search.resolve()
    #expect(world[0]?.links?.component === first && world[2]?.links?.component === first)
    world.setChildren(of: 3, [2])
    search.resolve()
    #expect((0..<4).allSatisfy { world[$0]?.links?.component === first } && first.count == 4)
    world.setChildren(of: 0, [3])
    search.resolve()
    #expect(world[1]?.links?.component == nil && world[0]?.links?.component === first && first.count == 3)
  }

  @Test("Who loses all children at once leaves the cycle to the others")
  func loss() {
    let world = EdgeWorld(hubs: 4)
    let search = ComponentSearch(graph: world.graph)
    for i in 0..<3 { world.setChildren(of: i, [(i + 1) % 3]) }
    search.resolve()
    if let node = world[1] { world.graph.removeChildren(of: node) }
    search.resolve()
    #expect((0..<3).allSatisfy { world[$0]?.links?.component == nil })
  }

  @Test("Where nothing changed, nothing is searched")
  func nothing() {
    let world = EdgeWorld(hubs: 2)
    let search = ComponentSearch(graph: world.graph)
    world.setChildren(of: 0, [1])
    world.setChildren(of: 1, [0])
    search.resolve()
    #expect(world.graph.restructured.isEmpty)
    let flags = world[0]?.flags
    search.resolve()
    #expect(world[0]?.flags == flags)
  }

  @Test("A cycle, and a chain, of thousands needs no stack")
  func long() {
    let count = 5_000
    let world = EdgeWorld(hubs: count)
    let search = ComponentSearch(graph: world.graph)
    for i in 0..<count - 1 { world.setChildren(of: i, [i + 1]) }
    search.resolve()
    #expect(world.nodes.allSatisfy { $0?.links?.component == nil })
    world.setChildren(of: count - 1, [0])
    search.resolve()
    #expect(world.nodes.allSatisfy { $0?.links?.component?.count == count })
    world.setChildren(of: count / 2, [])
    search.resolve()
    #expect(world.nodes.allSatisfy { $0?.links?.component == nil })
  }

  @Test("Random changes, as a search of the whole graph has it", arguments: 0..<25)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = 9
    let world = EdgeWorld(hubs: count)
    let search = ComponentSearch(graph: world.graph)
    for step in 0..<60 {
      // Several changes between two searches.
      for _ in 0...random.below(3) {
        let i = random.below(count)
        if random.chance(10) {
          if let node = world[i] { world.graph.removeChildren(of: node) }
        } else {
          world.setChildren(of: i, (0..<random.below(3)).map { _ in random.below(count) })
        }
      }
      search.resolve()
      guard agrees(world, count) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }

  /// Whether all that is known of components is as a search of the whole graph has it, and each comes before those that it leads to.
  private func isSound(_ world: EdgeWorld, _ search: ComponentSearch) -> Bool {
    let components = naiveComponents(world)
    let nodes = world.nodes.compactMap { $0 }
    var sizes: [ObjectIdentifier: Int] = [:]
    for node in nodes {
      if let component = node.links?.component { sizes[ObjectIdentifier(component), default: 0] += 1 }
    }
    for node in nodes {
      let component = node.links?.component
      let own = components[ObjectIdentifier(node)]
      if let component {
        guard component.rank.isRanked, component.count == sizes[ObjectIdentifier(component)], node.links?.rank == nil
        else { return false }
      }
      guard knowsPaths(node) else { return false }
      for edge in node.children?.edges ?? [] {
        let isInside = own == components[ObjectIdentifier(edge.child)]
        guard node.isInSameCycle(as: edge.child) == isInside else { return false }
        guard !isInside, edge.child.isInner, let upper = node.rank else { continue }
        guard let lower = edge.child.rank, upper.label < lower.label else { return false }
      }
    }
    let ranks = search.order.all
    let isSorted = zip(ranks, ranks.dropFirst()).allSatisfy { $0.label < $1.label }
    return isSorted
      && Set(ranks.map { ObjectIdentifier($0) }) == Set(nodes.compactMap { $0.rank.map { ObjectIdentifier($0) } })
  }

  /// Whether a node in a component that has a root has paths from and to it.
  private func knowsPaths(_ node: Node) -> Bool {
    guard let component = node.links?.component, component.root != nil else { return true }
    var (from, to) = (node, node)
    for _ in 0..<component.count {
      if !component.isRoot(from) {
        guard let next = from.links?.paths.from?.use({ $0 }), next.links?.component === component,
          next.children?.edges.contains(where: { $0.child === from }) ?? false
        else { return false }
        from = next
      }
      if !component.isRoot(to) {
        guard let next = to.links?.paths.to?.use({ $0 }), next.links?.component === component,
          to.children?.edges.contains(where: { $0.child === next }) ?? false
        else { return false }
        to = next
      }
    }
    return component.isRoot(from) && component.isRoot(to)
  }

  /// A number for each component (Kosaraju).
  private func naiveComponents(_ world: EdgeWorld) -> [ObjectIdentifier: Int] {
    var (order, seen) = ([Node](), Set<ObjectIdentifier>())
    func down(_ node: Node) {
      guard seen.insert(ObjectIdentifier(node)).inserted else { return }
      for edge in node.children?.edges ?? [] { down(edge.child) }
      order.append(node)
    }
    for case let node? in world.nodes { down(node) }
    var numbers: [ObjectIdentifier: Int] = [:]
    func up(_ node: Node, _ number: Int) {
      guard numbers[ObjectIdentifier(node)] == nil else { return }
      numbers[ObjectIdentifier(node)] = number
      for edge in node.parents { up(edge.parent, number) }
    }
    for (number, node) in order.reversed().enumerated() { up(node, number) }
    return numbers
  }

  @Test(
    "Single edges that come and go, sparse and dense, as a search of the whole graph has it", arguments: 0..<12,
    [ComponentSearch.Ranking.cheaper, .anew])
  func edges(seed: UInt64, ranking: ComponentSearch.Ranking) {
    var random = SeededGenerator(seed: seed)
    let count = [6, 20, 60][Int(seed % 3)]
    let world = EdgeWorld(hubs: count)
    let search = ComponentSearch(graph: world.graph)
    search.ranking = ranking
    // So many edges for each node, on average.
    let density = [5, 10, 14, 25][Int(seed / 3)]
    var edges = 0
    for step in 0..<(TestOptions.isLong ? 3_000 : 300) {
      for _ in 0..<(random.chance(20) ? random.below(8) : 1) {
        let i = random.below(count)
        var children = world.children(of: i)
        edges -= children.count
        if random.chance(3) {
          children = []
        } else if random.chance(edges * 10 > count * density ? 35 : 75) {
          children.insert(random.below(count), at: random.below(children.count + 1))
        } else if !children.isEmpty {
          children.remove(at: random.below(children.count))
        }
        edges += children.count
        if children.isEmpty, random.chance(50), let node = world[i] {
          world.graph.removeChildren(of: node)
        } else {
          world.setChildren(of: i, children)
        }
      }
      search.resolve()
      guard isSound(world, search) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }

  @Test("Whole graphs that are rewired in one transaction, as a search of the whole graph has it", arguments: 0..<6)
  func rewiring(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let count = [300, 600][Int(seed % 2)]
    let world = EdgeWorld(hubs: count)
    let search = ComponentSearch(graph: world.graph)
    for step in 0..<(TestOptions.isLong ? 60 : 6) {
      for i in 0..<count where random.chance(90) {
        world.setChildren(of: i, (0..<random.below(4)).map { _ in random.below(count) })
      }
      search.resolve()
      guard isSound(world, search) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
      // Single ones, on top of that.
      for _ in 0..<5 {
        world.setChildren(of: random.below(count), [random.below(count)])
        search.resolve()
      }
      guard isSound(world, search) else {
        Issue.record("seed \(seed), step \(step), single edges")
        return
      }
    }
  }
}
