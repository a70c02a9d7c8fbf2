import Testing

@testable import Concord

@Suite("Where an entity occurs")
struct ParentListTests {
  private let nodes = (0..<4).map { _ in Node(table: Table<Tag>()) }

  private func edge(_ node: Int, _ ordinal: Int32) -> ParentEdge { ParentEdge(parent: nodes[node], ordinal: ordinal) }

  private func append(_ edge: ParentEdge, to list: inout ParentList) {
    _ = list.append(edge.parent, ordinal: edge.ordinal) { _, _ in }
  }
  private func remove(_ index: Int, from list: inout ParentList) { list.remove(at: index) { _, _ in } }

  private func isSame(_ a: ParentEdge, _ b: ParentEdge) -> Bool { a.parent === b.parent && a.ordinal == b.ordinal }

  @Test("One takes no memory of the list's own, unless its ordinal is large; then it is kept all the same")
  func one() {
    for ordinal in [0, 1, 65_535, 65_536, .max] as [Int32] {
      var list = ParentList()
      append(edge(0, ordinal), to: &list)
      #expect(list.count == 1 && !list.isEmpty && isSame(list[0], edge(0, ordinal)))
      #expect((list.capacity == 0) == (ordinal <= 65_535))
      append(edge(1, 7), to: &list)
      #expect(list.count == 2 && isSame(list[0], edge(0, ordinal)) && isSame(list[1], edge(1, 7)))
      remove(0, from: &list)
      #expect(list.count == 1 && isSame(list[0], edge(1, 7)))
      remove(0, from: &list)
      #expect(list.isEmpty && list.capacity == 0)
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
          for node in nodes { append(ParentEdge(parent: node, ordinal: 1), to: &list) }
        }
        #expect(gone != nil)
        remove(index, from: &list)
        #expect(gone == nil && list.count == count - 1)
      }
    }
  }

  /// What a list is to hold, and where each edge is, as the list tells.
  private struct Expected {
    /// By the edge's ordinal, which is another one for each.
    var indices: [Int32: Int] = [:]
    var marked: Set<Int32> = []
  }

  @Test("Random edges come, go and are marked, and each is where it was told to be", arguments: 0..<20)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = ParentList()
    var expected = Expected()
    var last: Int32 = 65_000
    for step in 0..<2_000 {
      func didMove(_ edge: ParentEdge, _ index: Int) { expected.indices[edge.ordinal] = index }
      let ordinal = expected.indices.keys.sorted().randomElement(using: &random)
      // At first it grows, later it shrinks, down to nothing and up again.
      let chance = Int.random(in: 0..<100, using: &random)
      if chance < (step / 250 % 2 == 0 ? 40 : 20) {
        last += Int32.random(in: 1...9, using: &random)
        let parent = nodes[Int.random(in: 0..<4, using: &random)]
        expected.indices[last] = list.append(parent, ordinal: last, didMove: didMove)
      } else if let ordinal, let index = expected.indices[ordinal], chance < 60 {
        (expected.indices[ordinal], _) = (nil, expected.marked.remove(ordinal))
        list.remove(at: index, didMove: didMove)
      } else if let ordinal, let index = expected.indices[ordinal], chance < 80 {
        list.unmark(at: index, didMove: didMove)
        expected.marked.remove(ordinal)
      } else if chance < 95 {
        if list.capacity > 0 { expected.marked = Set(expected.indices.keys) }
        list.markAll()
      } else if chance < 97 {
        list.unmarkAll()
        expected.marked = []
      } else if chance < 98 {
        list.removeAll()
        expected = Expected()
      }
      let isRight =
        list.count == expected.indices.count && list.isEmpty == expected.indices.isEmpty
        && expected.indices.allSatisfy {
          list[$1].ordinal == $0 && list.isMarked(at: $1) == expected.marked.contains($0)
        }
      var visited: Set<Int32> = []
      list.forEachUnmarked { visited.insert($1) }
      guard isRight, visited == Set(expected.indices.keys).subtracting(expected.marked) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }
}
