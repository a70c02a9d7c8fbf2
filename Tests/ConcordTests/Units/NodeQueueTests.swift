import ConcordTestHeap
import Testing

@testable import Concord

@Suite("The queues of nodes")
struct NodeQueueTests {
  private func nodes(_ count: Int) -> [Node] {
    let table = AnyTable(valueType: ObjectIdentifier(Int.self), isAggregate: false, isEquatable: false)
    return (0..<count).map { _ in Node(table: table) }
  }

  @Test("Each waits once, the last comes first, and whoever came may wait again")
  func once() {
    let queue = NodeQueue(.notified, Backlog())
    let nodes = nodes(3)
    for node in nodes + nodes { queue.insert(node) }
    #expect(nodes.allSatisfy { $0.flags.contains(.notified) } && !queue.isEmpty)
    #expect(queue.popLast() === nodes[2] && !nodes[2].flags.contains(.notified))
    queue.insert(nodes[2])
    #expect(
      (0..<3).map { _ in queue.popLast().map { ObjectIdentifier($0) } } == nodes.reversed().map { ObjectIdentifier($0) }
    )
    #expect(queue.isEmpty && queue.popLast() == nil && queue.takeAll().isEmpty)
  }

  @Test("All that wait are taken at once, in order, and wait no longer; other queues keep theirs")
  func takeAll() {
    let (queue, other) = (NodeQueue(.unexamined, Backlog()), NodeQueue(.restructured, Backlog()))
    let nodes = nodes(3)
    for node in nodes {
      queue.insert(node)
      other.insert(node)
    }
    #expect(queue.takeAll().map { ObjectIdentifier($0) } == nodes.map { ObjectIdentifier($0) })
    #expect(queue.isEmpty && !other.isEmpty)
    #expect(nodes.allSatisfy { !$0.flags.contains(.unexamined) && $0.flags.contains(.restructured) })
  }

  @Test("After a peak a queue gives its room back, however it is emptied")
  func room() async {
    await #expect(processExitsWith: .success) {
      let table = AnyTable(valueType: ObjectIdentifier(Int.self), isAggregate: false, isEquatable: false)
      let nodes = (0..<100_000).map { _ in Node(table: table) }
      let queue = NodeQueue(.unexamined, Backlog())
      let before = heapInUse()
      for takesAll in [true, false] {
        for node in nodes { queue.insert(node) }
        if takesAll { _ = queue.takeAll() } else { while queue.popLast() != nil {} }
        let more = heapInUse() - before
        #expect(more < 50_000 && queue.isEmpty, "\(more) bytes")
      }
    }
  }

  @Test("What was written is listed only while somebody wants to know")
  func written() {
    let written = WrittenNodes(Backlog())
    let nodes = nodes(2)
    written.append(nodes[0])
    #expect(written.takeAll().isEmpty)
    written.isFollowed = true
    for node in [nodes[0], nodes[1], nodes[0]] { written.append(node) }
    #expect(written.takeAll().count == 3 && written.takeAll().isEmpty)
  }
}
