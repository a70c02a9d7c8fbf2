import ConcordTestHeap
import Testing

@testable import Concord

@Suite("The table of a type")
struct TableTests {
  /// All of them have the same hash.
  private struct Same: Hashable, Sendable {
    let number: Int
    func hash(into hasher: inout Hasher) {}
  }

  private struct Collision: Identifiable, Sendable { let id: Same }
  private struct Nested<T>: Identifiable, Sendable { let id: Int }

  private let graph = Graph()

  private func insert<T: Identifiable & Sendable>(_ value: T, _ known: EntityNode<T>? = nil) -> EntityNode<T> {
    graph.table(T.self).insert(value, id: value.id, hash: IDHash.hash(value.id), known: known, in: graph).use { $0 }
  }

  @Test("An entity is found by its id, once it is there and until it leaves")
  func finding() {
    let table = graph.table(Tag.self)
    #expect(table.find(1) == nil && table.allNodes().isEmpty)
    let node = insert(Tag(id: 1, text: 7))
    #expect(table.find(1) === node && node.exists && !node.flags.contains(.uncommitted))
    // Known already: the same node gets the value.
    #expect(insert(Tag(id: 1, text: 8), node) === node && node.value?.text == 8 && table.index.count == 1)
    table.remove(node)
    #expect(table.find(1) == nil && !node.isIndexed)
    table.remove(node)
    #expect(table.allNodes().isEmpty)
  }

  @Test("Ids that share one hash are told apart by the id")
  func collisions() {
    let table = graph.table(Collision.self)
    let nodes = (0..<50).map { insert(Collision(id: Same(number: $0))) }
    for i in 0..<50 { #expect(table.find(Same(number: i)) === nodes[i]) }
    #expect(table.find(Same(number: 50)) == nil)
    for i in stride(from: 0, to: 50, by: 2) { table.remove(nodes[i]) }
    for i in 0..<50 { #expect(table.find(Same(number: i)) === (i % 2 == 0 ? nil : nodes[i])) }
  }

  @Test("Entities whose id is NaN have different hashes, since each would be compared with all others")
  func notEqualToItself() {
    struct Mark: Identifiable, Sendable { let id: Double }
    let nodes = (0..<50).map { _ in insert(Mark(id: .nan)) }
    #expect(Set(nodes.map(\.hash)).count > 40)
    let mark = insert(Mark(id: 1))
    #expect(graph.table(Mark.self).find(1) === mark && graph.table(Mark.self).find(.nan) == nil)
    for node in nodes { graph.table(Mark.self).remove(node) }
    #expect(graph.table(Mark.self).allNodes().count == 1)
  }

  @Test("A node that waits for an entity is the one that gets it")
  func awaited() {
    let table = graph.table(Tag.self)
    let waiting = table.nodeAwaiting(1)
    #expect(table.nodeAwaiting(1) === waiting && table.find(1) == nil && table.isAwaiting)
    #expect(!waiting.exists && waiting.flags.contains(.uncommitted) && table.allNodes().count == 1)
    #expect(insert(Tag(id: 1, text: 7)) === waiting && waiting.value?.text == 7)
    #expect(!table.isAwaiting && table.find(1) === waiting && table.nodeAwaiting(1) === waiting)
    #expect(table.allNodes().count == 1 && table.takeAwaited(1) == nil)
  }

  @Test("A node that waits in vain is forgotten when it leaves, and another waits in its place")
  func awaitedInVain() {
    let table = graph.table(Tag.self)
    let waiting = table.nodeAwaiting(1)
    let other = table.nodeAwaiting(2)
    table.remove(waiting)
    #expect(table.allNodes().count == 1 && table.isAwaiting)
    let again = table.nodeAwaiting(1)
    #expect(again !== waiting)
    // What is gone does not take the new one along.
    table.remove(waiting)
    #expect(table.nodeAwaiting(1) === again && table.nodeAwaiting(2) === other)
  }

  @Test("After a peak of those that wait nothing stays, whether they got their entity or left")
  func awaitedPeak() async {
    await #expect(processExitsWith: .success) {
      let graph = Graph()
      let table = graph.table(Tag.self)
      let before = heapInUse()
      for takes in [true, false] {
        let nodes = (0..<20_000).map { table.nodeAwaiting($0) }
        for (id, node) in nodes.enumerated() { if takes { _ = table.takeAwaited(id) } else { table.remove(node) } }
      }
      let more = heapInUse() - before
      #expect(more < 100_000 && !table.isAwaiting, "\(more) bytes")
    }
  }

  @Test("Each type has a table of its own, also when more types than the cache has room for are used by turns")
  func manyTypes() {
    func visit<T>(_ type: T.Type, _ depth: Int, _ body: (AnyTable, ObjectIdentifier) -> Void) {
      body(graph.table(Nested<T>.self), ObjectIdentifier(Nested<T>.self))
      if depth > 0 { visit(Nested<T>.self, depth - 1, body) }
    }
    var known: [ObjectIdentifier: AnyTable] = [:]
    for _ in 0..<3 {
      visit(Int.self, 99) { table, type in
        #expect(table.valueType == type && (known[type] ?? table) === table)
        known[type] = table
      }
    }
    #expect(known.count == 100 && graph.allTables.count == 100)
    #expect(graph.table(Tag.self).typed(Note.self) == nil && graph.knownTable(Note.self) == nil)
  }

  @Test("A node is what it is, and is taken for no other type")
  func typed() {
    let node: Node = insert(Tag(id: 1, text: 7))
    #expect(node.typed(Tag.self) === node && node.typed(Note.self) == nil)
    #expect(graph.table(Note.self).entity(of: node) == nil && graph.table(Tag.self).id(of: node) == AnyHashable(1))
  }
}
