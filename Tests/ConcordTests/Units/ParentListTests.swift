import Testing

@testable import Concord

@Suite("Where an entity occurs")
struct ParentListTests {
  private let nodes = (0..<4).map { _ in Node(table: Table<Tag>()) }

  private func edge(_ node: Int, _ ordinal: Int32) -> ParentEdge { ParentEdge(parent: nodes[node], ordinal: ordinal) }

  private func isSame(_ a: ParentEdge, _ b: ParentEdge) -> Bool { a.parent === b.parent && a.ordinal == b.ordinal }

  @Test("One takes no memory of the list's own, unless its ordinal is large; then it is kept all the same")
  func one() {
    for ordinal in [0, 1, 65_535, 65_536, .max] as [Int32] {
      var list = ParentList()
      list.append(edge(0, ordinal))
      #expect(list.count == 1 && !list.isEmpty && isSame(list[0], edge(0, ordinal)))
      #expect((list.capacity == 0) == (ordinal <= 65_535))
      list.append(edge(1, 7))
      #expect(list.count == 2 && isSame(list[0], edge(0, ordinal)) && isSame(list[1], edge(1, 7)))
      let moved = list.remove(at: 0)
      #expect(moved.map { isSame($0, edge(1, 7)) } == true && list.count == 1 && isSame(list[0], edge(1, 7)))
      #expect(list.remove(at: 0) == nil && list.isEmpty && list.capacity == 0)
    }
  }

  @Test("An edge that goes is held no longer, wherever it was")
  func releases() {
    for count in 1...3 {
      for index in 0..<count {
        var list = ParentList()
        weak var gone: Node?
        do {
          let nodes = (0..<count).map { _ in Node(table: Table<Tag>()) }
          gone = nodes[index]
          for node in nodes { list.append(ParentEdge(parent: node, ordinal: 1)) }
        }
        #expect(gone != nil)
        _ = list.remove(at: index)
        #expect(gone == nil && list.count == count - 1)
      }
    }
  }

  @Test("Random edges come and go as in an array whose last takes the place of the one removed", arguments: 0..<20)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = ParentList()
    var expected: [ParentEdge] = []
    for step in 0..<2_000 {
      // At first it grows, later it shrinks, down to nothing and up again.
      if expected.isEmpty || Int.random(in: 0..<100, using: &random) < (step / 250 % 2 == 0 ? 60 : 40) {
        let ordinals: [Int32] = [0, 5, 65_535, 65_536, 1_000_000]
        let new = edge(Int.random(in: 0..<4, using: &random), ordinals.randomElement(using: &random) ?? 0)
        list.append(new)
        expected.append(new)
      } else if Int.random(in: 0..<200, using: &random) == 0 {
        list.removeAll()
        expected = []
      } else {
        let index = Int.random(in: expected.indices, using: &random)
        expected.swapAt(index, expected.count - 1)
        expected.removeLast()
        let moved = list.remove(at: index)
        #expect(moved.map { isSame($0, expected[index]) } ?? (index == expected.count))
      }
      #expect(list.count == expected.count && list.isEmpty == expected.isEmpty)
      #expect(zip(list, expected).allSatisfy(isSame))
      var visited: [ParentEdge] = []
      list.forEach { visited.append(ParentEdge(parent: $0, ordinal: $1)) }
      #expect(visited.count == expected.count && zip(visited, expected).allSatisfy(isSame))
    }
  }
}
