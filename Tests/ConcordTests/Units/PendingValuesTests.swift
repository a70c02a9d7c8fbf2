import Testing

@testable import Concord

@Suite("Pending values and occurrences")
struct PendingValuesTests {
  private let graph = Graph()
  private var table: Table<Tag> { graph.table(Tag.self) }

  private func insert(_ tag: Tag) -> EntityNode<Tag> {
    table.insert(tag, id: tag.id, hash: IDHash.hash(tag.id), known: nil, in: graph).use { $0 }
  }

  @Test("A value waits at the slot it was given, and changes places with the node's")
  func swapping() {
    let node = insert(Tag(id: 1, text: 0))
    let slots = (1...3).map { table.addPending(Tag(id: 1, text: $0)) }
    #expect(slots == [0, 1, 2])
    table.swapPending(1, with: node)
    #expect(node.value?.text == 2 && table.pendingValues.map(\.text) == [1, 0, 3])
    table.swapPending(1, with: node)
    #expect(node.value?.text == 0 && table.pendingValues.map(\.text) == [1, 2, 3])
    #expect(table.value(.pending(2))?.text == 3 && table.value(.own(node))?.text == 0)
  }

  @Test("A slot that is not there, a node without a value, and one of another type change nothing")
  func limits() {
    let node = insert(Tag(id: 1, text: 7))
    table.swapPending(0, with: node)
    _ = table.addPending(Tag(id: 1, text: 8))
    table.swapPending(1, with: node)
    table.swapPending(-1, with: node)
    #expect(node.value?.text == 7)
    let empty = EntityNode<Tag>(table: table)
    table.swapPending(0, with: empty)
    #expect(empty.value == nil && table.pendingValues.map(\.text) == [8])
    let stranger = EntityNode<EdgeWorld.Leaf>(table: graph.table(EdgeWorld.Leaf.self), value: .init(id: 1))
    table.swapPending(0, with: stranger)
    #expect(table.pendingValues.map(\.text) == [8])
    #expect(table.addPending(empty, isBrief: false) == -1 && table.addPending(stranger, isBrief: false) == -1)
    #expect(table.value(.pending(9)) == nil && table.value(.pending(-1)) == nil && table.value(.own(stranger)) == nil)
  }

  @Test("What a node has can be added, to compare with")
  func copies() {
    let node = insert(Tag(id: 1, text: 7))
    #expect(table.addPending(node, isBrief: false) == 0 && table.addPending(node, isBrief: true) == 1)
    #expect(table.haveSameBits(.own(node), .pending(0)) && table.isSame(.pending(0), .pending(1)))
    _ = table.addPending(Tag(id: 2, text: 7))
    #expect(!table.isSame(.own(node), .pending(2)) && !table.haveSameID(.own(node), .pending(2)))
    #expect(!table.isSame(.own(node), .pending(3)))
  }

  @Test("Room for pending values is kept up to a thousand, and given back beyond", arguments: [1_023, 1_024, 5_000])
  func room(count: Int) {
    for i in 0..<count { _ = table.addPending(Tag(id: i, text: 0)) }
    table.removePending()
    #expect(table.pending.count == 0 && (table.pending.capacity > 0) == (count < 1_024))
  }

  @Test("A pending value stays where it is while thousands are added")
  func addresses() throws {
    var places: [UnsafeMutableRawPointer] = []
    for i in 0..<5_000 {
      let slot = table.addPending(Tag(id: i, text: i))
      try places.append(#require(table.address(of: .pending(slot))))
    }
    #expect(Set(places).count == 5_000)
    for (slot, place) in places.enumerated() {
      #expect(table.address(of: .pending(Int32(slot))) == place && table.value(.pending(Int32(slot)))?.text == slot)
    }
    #expect(table.address(of: .pending(5_000)) == nil && table.address(of: .pending(-1)) == nil)
  }

  @Test("Values are looked at where they lie, whatever their alignment; a node of another type has none there")
  func inPlace() {
    struct Wide: Identifiable, Equatable {
      // In this order there is no padding between them, whose bits may be anything.
      var numbers: SIMD16<Double>
      let id: Int
    }
    let wide = graph.table(Wide.self)
    let value = Wide(numbers: .init(repeating: 3), id: 1)
    let node = EntityNode<Wide>(table: wide, value: value)
    for _ in 0..<9 { _ = wide.addPending(value) }
    #expect((0..<9).allSatisfy { wide.isSame(.own(node), .pending($0)) && wide.haveSameBits(.pending($0), .own(node)) })
    _ = wide.addPending(Wide(numbers: .init(repeating: 4), id: 1))
    #expect(!wide.isSame(.own(node), .pending(9)) && !wide.haveSameBits(.own(node), .pending(9)))
    let other = insert(Tag(id: 1, text: 0))
    #expect(wide.address(of: .own(other)) == nil && table.address(of: .own(node)) == nil)
    #expect(wide.address(of: .own(EntityNode<Wide>(table: wide))) == nil)
    wide.removePending()
  }

  @Test("What a value that goes adds in its deinit is there afterwards, and nothing is destroyed twice")
  func addedWhileRemoved() {
    final class Late: Sendable {
      let done: @Sendable () -> Void
      init(_ done: @escaping @Sendable () -> Void) { self.done = done }
      deinit { done() }
    }
    struct Held: Identifiable {
      let id: Int
      var late: Late?
    }
    let held = graph.table(Held.self)
    nonisolated(unsafe) let adding = held
    let destroyed = Locked(0)
    for i in 0..<10 {
      let late = Late {
        destroyed.withLock { $0 += 1 }
        _ = adding.addPending(Held(id: 100 + i, late: nil))
      }
      _ = held.addPending(Held(id: i, late: late))
    }
    held.removePending()
    #expect(destroyed.withLock { $0 } == 10)
    #expect(held.pendingValues.map(\.id) == (100..<110).map { $0 })
    held.removePending()
    #expect(held.pending.count == 0)
  }

  @Test("A list of occurrences that ends a call leaves nothing in nodes and tables")
  func removeAll() {
    let list = OccurrenceList()
    let hub = EdgeWorld.Hub(id: 1)
    let hubs = graph.table(EdgeWorld.Hub.self)
    let node = insert(Tag(id: 1, text: 0))
    list.append(node, pending: table.addPending(Tag(id: 1, text: 1)))
    list.append(node, pending: table.addPending(Tag(id: 1, text: 2)))
    let fresh = hubs.insert(hub, id: 1, hash: IDHash.hash(1), known: nil, in: graph).use { $0 }
    list.parent = 0
    list.level = 1
    list.appendNew(fresh)
    #expect(list.addPending(fresh, isBrief: false) == 0 && hubs.pending.count == 1)
    #expect(list.items.map(\.parent) == [-1, -1, 0] && list.items.map(\.level) == [0, 0, 1])
    #expect(list.items.map { $0.state.contains(.isNew) } == [false, false, true])
    // Neither is an aggregate, so there is nothing to visit inside.
    #expect(list.items.allSatisfy { $0.state.contains(.isClosed) })
    list.relations.append(VisitedRelation())
    for (i, item) in list.items.enumerated() { item.node.occurrence = Int32(i) }
    list.removeAll()
    #expect(list.items.isEmpty && list.relations.isEmpty && list.parent == -1 && list.level == 0)
    #expect(node.occurrence == -1 && fresh.occurrence == -1)
    #expect(table.pending.count == 0 && hubs.pending.count == 0)
    // The tables are known to have pending values once more.
    list.append(node, pending: table.addPending(Tag(id: 1, text: 3)))
    list.removeAll()
    #expect(table.pending.count == 0)
  }

  @Test("A table whose first pending value was not listed is emptied when it is said to be used")
  func use() {
    let list = OccurrenceList()
    let node = insert(Tag(id: 1, text: 0))
    _ = table.addPending(Tag(id: 1, text: 1))
    list.append(node, pending: table.addPending(Tag(id: 1, text: 2)))
    list.use(table)
    list.removeAll()
    #expect(table.pending.count == 0)
  }

  @Test("Room for occurrences at least doubles, and is given back after a peak")
  func reserving() {
    let list = OccurrenceList()
    let node = insert(Tag(id: 1, text: 0))
    var growths = 0
    var capacity = list.items.capacity
    for _ in 0..<1_000 {
      list.reserve(2)
      list.appendNew(node)
      list.appendNew(node)
      if list.items.capacity != capacity { growths += 1 }
      capacity = list.items.capacity
    }
    #expect(list.items.count == 2_000 && growths < 15)
    list.removeAll()
    #expect(list.items.capacity == 0)
    list.appendNew(node)
    list.removeAll()
    #expect(list.items.capacity > 0)
  }
}

extension Table {
  fileprivate var pendingValues: [T] { (0..<pending.count).compactMap { value(.pending(Int32($0))) } }
}
