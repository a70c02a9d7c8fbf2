import Concord

extension Row {
  /// A leaf, layers of two nodes that both contain the whole layer below, and a root: 2 to the power of `layers` paths
  /// lead from the root to the leaf, through 2 × `layers` nodes.
  private struct Diamond {
    let layers = 14
    let leaf = Node(id: 0, name: "A leaf at the bottom of it all", children: [])
    let rootID = 1_000

    /// The nodes from the bottom up; each layer shares the values of the one below.
    var root: Node {
      var below = [leaf]
      for layer in 1...layers {
        let children = below
        below = (0..<2).map { Node(id: layer * 2 + $0, name: "A node in layer \(layer)", children: children) }
      }
      return Node(id: rootID, name: "The root on top of it all", children: below)
    }

    /// The name of the leaf at the end of one of the paths.
    func leafName(in root: Node?) -> String? {
      var node = root
      while let next = node?.children.last { node = next }
      return node?.name
    }
  }

  static var diamond: Row {
    Row(
      "diamond 14 layers deep, update the leaf, root observed", goal: .microseconds(20), was: "17.1 µs",
      earlier: .cohesionKit(33e6, "exponential"),
      floor: "builds the 29 values above the leaf anew, each layer with the layer below, and calls a closure"
    ) { stopwatch in
      let diamond = Diamond()
      let count = 100
      let store = EntityStore(delivery: .immediate)
      let screen = Screen<Node>()
      let subscription = store.store(diamond.root).observe { screen.show($0) }

      var plain = (
        root: diamond.root,
        nodes: (1...diamond.layers).map { layer in
          (0..<2).map { Node(id: layer * 2 + $0, name: "A node in layer \(layer)", children: []) }
        }
      )
      let floorScreen = Screen<Node>()
      let observers = Observers<Node>()
      observers.observe(diamond.rootID) { floorScreen.show($0) }

      return Sides {
        let calls = screen.calls
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count { store.update(Node.self, id: diamond.leaf.id) { $0.name = Titles[index] } }
        }
        try expect(screen.calls - calls, is: count, "calls of the observer")
        try expect(diamond.leafName(in: screen.value), is: Titles[count - 1], "the leaf in what the observer saw")
        return withExtendedLifetime(subscription) { time }
      } floor: {
        let calls = floorScreen.calls
        let time = stopwatch.nanoseconds(per: count, on: &plain) { plain in
          for index in 0..<count {
            var leaf = diamond.leaf
            leaf.name = Titles[index]
            var below = [leaf]
            for layer in plain.nodes.indices {
              for node in plain.nodes[layer].indices { plain.nodes[layer][node].children = below }
              below = plain.nodes[layer]
            }
            plain.root.children = below
            observers.notify(diamond.rootID, plain.root)
          }
        }
        try expect(floorScreen.calls - calls, is: count, "calls of the closure")
        try expect(diamond.leafName(in: floorScreen.value), is: Titles[count - 1], "the leaf in what the closure saw")
        return time
      }
    }
  }
}
