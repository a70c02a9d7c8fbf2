import Concord
import Dispatch
import Foundation
import Testing

/// An entity that holds what follows another one, and so ends it when it goes.
private struct Cell: Identifiable, Equatable {
  let id: Int
  var number = 0
  var subscription: Subscription?

  static func == (a: Cell, b: Cell) -> Bool { a.id == b.id && a.number == b.number }
}

private struct Cells: Aggregate, Equatable {
  let id: Int
  var cells: [Cell]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.cells)] }
}

/// An entity that keeps the next one alive.
private struct Link: Identifiable {
  let id: Int
  /// An observer, or a subscription, whichever.
  var next: (any Sendable)?
}

@Suite("Observers and subscriptions may be held by an entity, and go with it")
struct HeldByEntitiesTests {
  /// A cell with a subscription of its own, and with no copy outside of the store.
  private static func store(_ number: Int, _ store: EntityStore, _ tag: EntityObserver<Tag>) {
    store.update(Cell.self, id: 0) { cell in
      cell.number = number
      cell.subscription = tag.observe { _ in }
    }
  }

  @Test("When an observer on a queue is told what contains the entity")
  func toldOnQueue() throws {
    try #require(
      ends {
        let queue = DispatchQueue(label: "store")
        let store = EntityStore(queue: queue)
        let tag = store.store(Tag(id: 0, text: 0))
        let row = store.store(Cells(id: 0, cells: [Cell(id: 0)]))
        let log = Log<Int>()
        let subscription = row.observe { log.append($0.cells[0].number) }
        for number in 1...3 {
          Self.store(number, store, tag)
          for _ in 0..<3 { queue.sync {} }
        }
        #expect(log.values == [0, 1, 2, 3])
        subscription.unsubscribe()
      })
  }

  @Test("When a paused observer resumes, by immediate delivery and on a queue")
  func resumed() throws {
    for isImmediate in [true, false] {
      try #require(
        ends {
          let queue = DispatchQueue(label: "store")
          let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: queue)
          let tag = store.store(Tag(id: 0, text: 0))
          let cell = store.store(Cell(id: 0))
          Self.store(1, store, tag)
          let log = Log<Int>()
          let subscription = cell.observe { log.append($0.number) }
          subscription.pause()
          Self.store(2, store, tag)
          subscription.resume()
          for _ in 0..<3 { queue.sync {} }
          #expect(log.values == [1, 2])
          subscription.unsubscribe()
        })
    }
  }

  @Test("When values that waited are replaced by the newest")
  func dropped() throws {
    try #require(
      ends {
        let queue = DispatchQueue(label: "store")
        let store = EntityStore(queue: queue)
        let tag = store.store(Tag(id: 0, text: 0))
        let cell = store.store(Cell(id: 0))
        let log = Log<Int>()
        let subscription = cell.observe(buffering: .every) { log.append($0.number) }
        queue.suspend()
        Self.store(1, store, tag)
        subscription.pause()
        Self.store(2, store, tag)
        subscription.resume()
        queue.resume()
        for _ in 0..<4 { queue.sync {} }
        #expect(log.last == 2)
        subscription.unsubscribe()
      })
  }

  @Test("When everything goes: updates, removals, transactions that throw, and the store itself")
  func gone() throws {
    try #require(
      ends {
        var store: EntityStore? = EntityStore(delivery: .immediate)
        let log = Log<Int>()
        if let store {
          let tag = store.store(Tag(id: 0, text: 0))
          let row = store.store(Cells(id: 0, cells: [Cell(id: 0)]))
          let subscription = row.observe { log.append($0.cells.first?.number ?? -1) }
          Self.store(1, store, tag)
          try? store.transaction { tx in
            Self.store(2, tx, tag)
            throw Refused()
          }
          store.remove(Cell.self, id: 0)
          store.update(Cells.self, id: 0) { $0.cells = [Cell(id: 0, number: 3, subscription: tag.observe { _ in })] }
          store.removeAll()
          subscription.unsubscribe()
          #expect(store._checkInvariants() == [])
        }
        store = nil
        #expect(log.values == [0, 1, -1, 3])
      })
  }

  @Test("When a transaction ends that replaced it, and observers that are told use the store")
  func replaced() throws {
    try #require(
      ends {
        let store = EntityStore(delivery: .immediate)
        let tag = store.store(Tag(id: 0, text: 0))
        let cell = store.store(Cell(id: 0))
        Self.store(1, store, tag)
        let log = Log<Int>()
        let subscriptions = (0..<2).map { _ in
          cell.observe { cell in
            store.update(Tag.self, id: 0) { $0.text = cell.number }
            log.append(cell.number)
          }
        }
        store.transaction { Self.store(2, $0, tag) }
        #expect(log.values == [1, 1, 2, 2])
        #expect(tag.value.text == 2)
        for subscription in subscriptions { subscription.unsubscribe() }
      })
  }

  @Test("A long chain of entities that each hold an observer of the next, or a subscription", arguments: [false, true])
  func chain(isObserved: Bool) throws {
    try #require(
      ends {
        let store = EntityStore(delivery: .immediate)
        var last: EntityObserver<Link>?
        for id in 0..<100_000 {
          let next: (any Sendable)? = if isObserved { last?.observe { _ in } } else { last }
          last = store.store(Link(id: id, next: next))
        }
        #expect(store.count(Link.self) == 100_000)
        last = nil
        #expect(store.count(Link.self) == 0)
      })
  }
}
