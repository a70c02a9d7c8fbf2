import ConcordConsistency
import Testing

@Suite("Diamonds cost their objects, not their paths")
struct DiamondTests {
  /// Layers of one object, each twice in the one above it: 2^layers paths to the last.
  private func diamond(_ layers: Int, last: String) -> Node {
    (0..<layers).reduce(Node("last", last, [])) { below, layer in Node("\(layer)", "", [below, below]) }
  }

  private func last(_ node: Node) -> String {
    var node = node
    while let next = node.friends.last { node = next }
    return node.name
  }

  @Test("As what is merged")
  func merged() {
    let top = diamond(40, last: "old")
    #expect(last(top.updated(with: Node("last", "new", []))) == "new")
    #expect(last(top.updated(with: Node("unknown", "new", []))) == "old")
  }

  @Test("As what is pushed")
  func pushed() {
    #expect(Node("last", "old", []).updated(with: diamond(40, last: "new")).name == "new")
    let batch = ConsistentBatch([Node("last", "newest", []), diamond(40, last: "new")])
    #expect(last(Node("39", "", []).updated(with: batch)) == "newest")
  }

  @Test("At owners")
  func owners() {
    let manager = ConsistencyManager()
    let owner = Owner(diamond(40, last: "old"))
    manager.register(owner)
    manager.pushUpdatedObject(diamond(40, last: "new"))
    #expect(last(owner.thing) == "new")
    manager.pushUpdatedObject(diamond(40, last: "new"))
    #expect(owner.updates.count == 1)
    manager.pushUpdatedObject(Node("last", "newest", []))
    #expect(last(owner.thing) == "newest")
  }
}
