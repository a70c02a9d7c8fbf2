import Testing

@testable import Concord

@Suite("A topological order")
struct TopologicalOrderTests {
  private func isSame(_ order: TopologicalOrder, _ expected: [Rank]) -> Bool {
    let all = order.all
    return all.elementsEqual(expected) { $0 === $1 } && zip(all, all.dropFirst()).allSatisfy { $0.label < $1.label }
  }

  @Test("Ranks come, go and move as in an array", arguments: 0..<10)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let order = TopologicalOrder()
    var expected: [Rank] = []
    for step in 0..<400 {
      let rank = Rank()
      if expected.isEmpty || random.chance(20) {
        order.append(rank)
        expected.append(rank)
      } else if random.chance(20) {
        order.prepend(rank)
        expected.insert(rank, at: 0)
      } else {
        let (i, j) = (random.below(expected.count), random.below(expected.count))
        let other = expected[i]
        if random.chance(20) {
          order.remove(other)
          expected.remove(at: i)
        } else if random.chance(40), i != j {
          let moved = expected.remove(at: j)
          let index = expected.firstIndex { $0 === other } ?? 0
          if random.chance(50) {
            order.move(moved, after: other)
            expected.insert(moved, at: index + 1)
          } else {
            order.move(moved, before: other)
            expected.insert(moved, at: index)
          }
        } else {
          order.insert(rank, after: other)
          expected.insert(rank, at: i + 1)
        }
      }
      guard isSame(order, expected) else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }

  @Test("Thousands fit between two neighbours")
  func between() {
    let order = TopologicalOrder()
    let (first, last) = (Rank(), Rank())
    order.append(first)
    order.append(last)
    var ranks: [Rank] = []
    for _ in 0..<5_000 {
      let rank = Rank()
      order.insert(rank, after: first)
      ranks.append(rank)
    }
    #expect(isSame(order, [first] + ranks.reversed() + [last]))
    for rank in ranks { order.remove(rank) }
    #expect(isSame(order, [first, last]))
  }
}
