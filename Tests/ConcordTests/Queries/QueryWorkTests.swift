import Concord
import Foundation
import Testing

@Suite("What queries cost")
struct QueryWorkTests {
  private let store = EntityStore(delivery: .immediate)

  private struct Item: Identifiable, Equatable {
    let id: Int
    var number: Int
    var owner: Int
  }

  @Test("Nothing is evaluated again that did not change")
  func evaluations() {
    let kept = (0..<1_000).map { store.store(Item(id: $0, number: $0, owner: 0)) }
    let evaluations = Counter()
    let even = store.query(
      Item.self,
      where: {
        evaluations.increment()
        return $0.number % 2 == 0
      }, sortBy: [SortDescriptor(\.number)], limit: 10)
    let subscriptions = (0..<3).map { _ in even.observe { _ in } } + [even.count.observe { _ in }]
    #expect(even.value.count == 10)
    #expect(evaluations.value == 1_000)
    store.update(Item.self, id: 500) { $0.number = -2 }
    #expect(even.value.first?.id == 500)
    #expect(evaluations.value == 1_001)
    store.transaction { tx in for id in 0..<5 { tx.update(Item.self, id: id) { $0.number += 1 } } }
    store.remove(Item.self, id: 7)
    #expect(evaluations.value == 1_006)
    // Many at once.
    store.transaction { tx in for id in 100..<700 { tx.update(Item.self, id: id) { $0.number += 2 } } }
    _ = even.value
    #expect(evaluations.value == 1_606)
    let inside = store.transaction { tx in
      tx.update(Item.self, id: 999) { $0.number = -100 }
      return [even.value.first?.id, even.value.first?.id]
    }
    #expect(inside == [999, 999])
    // Once for the transaction's own thread, once for all.
    #expect(evaluations.value == 1_608)
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A query that nobody reads evaluates nothing, and catches up with the newest values alone")
  func unread() {
    let kept = (0..<100).map { store.store(Item(id: $0, number: $0, owner: 0)) }
    let evaluations = Counter()
    let all = store.query(
      Item.self,
      where: { _ in
        evaluations.increment()
        return true
      })
    #expect(evaluations.value == 0)
    #expect(all.value.count == 100)
    for number in 0..<50 { store.update(Item.self, id: 3) { $0.number = 1_000 + number } }
    #expect(evaluations.value == 100)
    #expect(all.value[3].number == 1_049)
    #expect(evaluations.value == 101)
    withExtendedLifetime(kept) {}
  }

  @Test("Of a thousand queries that demand a value, a change concerns those of the value before and of the value now")
  func concerned() {
    let kept = (0..<100).map { store.store(Item(id: $0, number: $0, owner: $0)) }
    let told = Log<Int>()
    let calls = Counter()
    let subscriptions = (0..<1_000).map { owner in
      store.query(Item.self, where: #Predicate { $0.owner == owner && $0.number >= 0 })
        .map {
          calls.increment()
          return $0.map(\.id)
        }
        .observe { _ in told.append(owner) }
    }
    told.clear()
    let before = calls.value
    store.update(Item.self, id: 5) { $0.number = 50 }
    #expect(calls.value == before + 1)
    store.update(Item.self, id: 5) { $0.owner = 900 }
    #expect(told.values.sorted() == [5, 900])
    #expect(calls.value == before + 3)
    store.remove(Item.self, id: 5)
    #expect(told.values.sorted() == [5, 900, 900])
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("Sections, sums and joins look at what changed")
  func operators() {
    let reads = Counter()
    struct Counted: Identifiable, Equatable {
      let id: Int
      var stored: Int
      let reads: Reads
      var number: Int {
        reads.counter.increment()
        return stored
      }
    }
    struct Reads: Equatable {
      let counter: Counter
      static func == (a: Self, b: Self) -> Bool { true }
    }
    let kept = (0..<500).map { store.store(Counted(id: $0, stored: $0 % 10, reads: Reads(counter: reads))) }
    let all = store.query(Counted.self)
    let (sections, sum, least) = (all.sections(by: \.number), all.sum(\.number), all.min(\.number))
    let pairs = all.joined(with: Counted.self) { $0.number == $1.id }
    #expect((sections.value.count, sum.value, least.value, pairs.value.count) == (10, 2_250, 0, 500))
    let before = reads.value
    store.update(Counted.self, id: 3) { $0.stored = 4 }
    #expect((sections.value.count, sum.value, least.value, pairs.value.count) == (10, 2_251, 0, 500))
    // Each operator reads the former value and the new one.
    #expect(reads.value - before <= 8)
    withExtendedLifetime(kept) {}
  }
}
