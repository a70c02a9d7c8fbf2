import Testing

@testable import Concord

@Suite("The trace of what a transaction changes")
struct ChangeTraceTests {
  private func nodes(_ count: Int) -> [Node] {
    let table = AnyTable(valueType: ObjectIdentifier(Int.self), isAggregate: false, isEquatable: false)
    return (0..<count).map { _ in Node(table: table) }
  }

  @Test("However often few nodes change, the trace keeps few notes")
  func bounded() {
    let (trace, nodes) = (ChangeTrace(), nodes(3))
    let first = trace.mark()
    for turn in 0..<100_000 { trace.note(nodes[turn % 2]) }
    #expect(trace.size <= 4_096)
    let second = trace.mark()
    trace.note(nodes[2])
    #expect(Set(trace.nodes(since: first).map { ObjectIdentifier($0) }) == Set(nodes.map { ObjectIdentifier($0) }))
    #expect(trace.nodes(since: second).map { ObjectIdentifier($0) } == [ObjectIdentifier(nodes[2])])
    trace.end()
    #expect(trace.size == 0 && trace.nodes(since: trace.mark()).isEmpty)
  }

  @Test("Since any mark there are the nodes that changed since, as a list of all changes has them", arguments: 0..<20)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let (trace, nodes) = (ChangeTrace(fewest: 16), nodes(400))
    var changes: [ObjectIdentifier] = []
    // Each with the number of changes at that time.
    var marks: [(mark: Int, position: Int)] = []
    var present = 5
    for step in 0..<5_000 {
      if random.chance(1) { present = 1 + random.below(nodes.count) }
      if random.chance(2) {
        marks.append((trace.mark(), changes.count))
      } else {
        let node = nodes[random.below(present)]
        trace.note(node)
        changes.append(ObjectIdentifier(node))
      }
      guard random.chance(3), !marks.isEmpty else { continue }
      let (mark, position) = marks[random.below(marks.count)]
      let found = trace.nodes(since: mark).map { ObjectIdentifier($0) }
      #expect(Set(found) == Set(changes[position...]), "seed \(seed), step \(step)")
      #expect(trace.size <= max(16, 2 * Set(changes).count), "seed \(seed), step \(step)")
    }
  }
}
