import Concord
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("Queries that are made late, rest, wait or end")
struct QueryLifeTests {
  private struct Item: Identifiable, Equatable {
    let id: Int
    var number: Int
    var owner = 0
  }

  /// An entity that keeps a guest alive.
  private struct Mortal: Identifiable {
    let id: Int
    var guest: Guest
  }

  private final class Guest: Sendable {
    private let ended: Counter
    init(_ ended: Counter) { self.ended = ended }
    deinit { ended.increment() }
  }

  @Test("The first query of a type, made inside a transaction, shows what that has stored")
  func firstInside() {
    let store = EntityStore(delivery: .immediate)
    let kept = store.store(Item(id: 9, number: 9))
    try? store.transaction { tx in
      let more = [tx.store(Item(id: 1, number: 1)), tx.store(Item(id: 2, number: 5, owner: 1))]
      tx.update(Item.self, id: 9) { $0.number = 10 }
      #expect(store.query(Item.self).value.map(\.id) == [1, 2, 9])
      #expect(store.query(Item.self, where: #Predicate { $0.number > 4 }).value.map(\.number) == [5, 10])
      #expect(store.query(Item.self).sum(\.number).value == 16)
      let pairs = store.query(Item.self).joined(with: Item.self) { $0.owner == $1.id }
      #expect(pairs.value.map(\.left.id) == [2])
      withExtendedLifetime(more) {}
      throw Refused()
    }
    withExtendedLifetime(kept) {}
  }

  @Test("What an inner transaction has stored before the first query, and takes back, is not shown afterwards")
  func undoneBefore() {
    let store = EntityStore(delivery: .immediate)
    store.transaction { tx in
      let kept = tx.store(Item(id: 1, number: 1))
      var query: EntityObserver<EntityResults<Item>>?
      try? store.transaction { tx in
        let undone = tx.store(Item(id: 2, number: 2))
        query = store.query(Item.self)
        #expect(query?.value.map(\.id) == [1, 2])
        withExtendedLifetime(undone) {}
        throw Refused()
      }
      #expect(query?.value.map(\.id) == [1])
      withExtendedLifetime(kept) {}
    }
  }

  @Test("While an observer of a query is paused nothing is kept or evaluated, and one state when it goes on")
  func pausing() {
    let store = EntityStore(delivery: .immediate)
    let (evaluations, ended, told) = (Counter(), Counter(), Counter())
    let kept = store.store(Mortal(id: 0, guest: Guest(ended)))
    let query = store.query(
      Mortal.self,
      where: { _ in
        evaluations.increment()
        return true
      })
    let subscription = query.observe { _ in told.increment() }
    subscription.pause()
    let before = evaluations.value
    for _ in 0..<50 { store.update(Mortal.self, id: 0) { $0.guest = Guest(ended) } }
    // The one that was shown may be kept, and the present one is.
    #expect(ended.value >= 49)
    #expect(evaluations.value == before)
    subscription.resume()
    #expect(evaluations.value == before + 1 && told.value == 2)
    subscription.unsubscribe()
    withExtendedLifetime(kept) {}
  }

  @Test("Behind a busy queue no more states are kept than asked for, and they are the newest", arguments: [1, 2, 16])
  func buffers(count: Int) {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(delivery: .queue(queue))
    let (ended, log) = (Counter(), Log<[Int]>())
    let kept = (0..<3).map { store.store(Mortal(id: $0, guest: Guest(ended))) }
    let subscription = store.query(Mortal.self).observe(buffering: .newest(count)) { log.append($0.map(\.id)) }
    queue.sync {}
    queue.suspend()
    for turn in 0..<2_000 { store.update(Mortal.self, id: turn % 3) { $0.guest = Guest(ended) } }
    #expect(ended.value >= 1_800)
    log.clear()
    queue.resume()
    queue.sync {}
    queue.sync {}
    #expect(log.count <= count + 1 && log.last == [0, 1, 2])
    subscription.unsubscribe()
    withExtendedLifetime(kept) {}
  }

  @Test("After everything was removed no earlier result arrives")
  func removing() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(delivery: .queue(queue))
    let (log, pairs) = (Log<[Int]>(), Log<Int>())
    let query = store.query(Item.self)
    let subscriptions = [
      query.observe(buffering: .every) { log.append($0.map(\.id)) },
      query.joined(with: Item.self) { $0.owner == $1.owner }.observe(buffering: .every) { pairs.append($0.count) },
    ]
    queue.sync {}
    queue.suspend()
    log.clear()
    pairs.clear()
    let kept = [store.store(Item(id: 1, number: 1)), store.store(Item(id: 2, number: 2))]
    store.removeAll()
    queue.resume()
    queue.sync {}
    queue.sync {}
    #expect(log.values.allSatisfy(\.isEmpty) && pairs.values.allSatisfy { $0 == 0 })
    _ = store.store(Item(id: 3, number: 3))
    withExtendedLifetime((kept, subscriptions)) {}
  }

  @Test("A query that ends inside of a transaction leaves nothing behind")
  func ending() {
    let store = EntityStore(delivery: .immediate)
    let ended = Counter()
    var kept: EntityObserver<Mortal>? = store.store(Mortal(id: 0, guest: Guest(ended)))
    var query: EntityObserver<EntityResults<Mortal>>? = store.query(Mortal.self)
    #expect(query?.value.count == 1)
    store.transaction { tx in
      tx.update(Mortal.self, id: 0) { $0.guest = Guest(ended) }
      query = nil
    }
    #expect(ended.value == 1)
    kept = nil
    #expect(ended.value == 2)
    withExtendedLifetime((kept, query)) {}
  }

  /// Held by the condition of a query, and asks the store when it goes.
  private final class Asker: Sendable {
    private let store: EntityStore
    private let counts: Log<Int>
    init(_ store: EntityStore, _ counts: Log<Int>) { (self.store, self.counts) = (store, counts) }
    deinit { counts.append(store.count(Item.self)) }
  }

  @Test(
    "What the condition of a query holds may use the store when it goes, where the query ends inside of a transaction, too",
    arguments: [false, true])
  func endingCondition(hasLayer: Bool) throws {
    let counts = Log<Int>()
    try #require(
      ends {
        let store = EntityStore(delivery: .immediate)
        let kept = store.store(Item(id: 1, number: 1))
        let layer = hasLayer ? store.optimistically { tx in tx.update(Item.self, id: 1) { $0.number += 1 } } : nil
        store.transaction { tx in
          var asker: Asker? = Asker(store, counts)
          var query: EntityObserver<EntityResults<Item>>? = store.query(
            Item.self, where: { [asker] _ in asker != nil })
          #expect(query?.value.count == 1)
          asker = nil
          query = nil
          tx.update(Item.self, id: 1) { $0.number = 5 }
        }
        layer?.rollBack()
        withExtendedLifetime(kept) {}
      })
    #expect(counts.values == [1])
  }

  @Test(
    "A query that a transaction makes shows a layer, which is replayed at its end, nothing that has gone since",
    arguments: [false, true], [false, true])
  func replayedLayer(isRemoved: Bool, isRead: Bool) {
    let store = EntityStore(delivery: .immediate)
    let (query, seen) = (Kept<EntityObserver<EntityResults<Item>>>(), Log<[Int]>())
    let stays = store.store(Item(id: 1, number: 1))
    var goes: EntityObserver<Item>? = store.store(Item(id: 2, number: 2))
    let layer = store.optimistically { tx in
      tx.update(Item.self, id: 1) { $0.number += 1 }
      if let query = query.value { seen.append(query.value.map(\.id)) }
    }
    store.transaction { tx in
      query.value = store.query(Item.self)
      if isRead { #expect(query.value?.value.map(\.id) == [1, 2]) }
      goes = nil
      if isRemoved { tx.remove(Item.self, id: 2) }
      tx.update(Item.self, id: 1) { $0.number = 10 }
    }
    #expect(seen.count > 0 && seen.values.allSatisfy { $0 == [1] }, "\(seen.values)")
    #expect(query.value?.value.map(\.number) == [11] && goes == nil && store._checkInvariants() == [])
    layer.rollBack()
    query.value = nil
    withExtendedLifetime(stays) {}
  }

  /// A value whose comparison waits once.
  private struct Slow: Comparable {
    let number: Int
    static let gate = DispatchSemaphore(value: 0)
    static let begun = DispatchSemaphore(value: 0)
    static let mustWait = Mutex(false)

    static func < (a: Self, b: Self) -> Bool {
      let waits = mustWait.withLock { mustWait in
        defer { mustWait = false }
        return mustWait
      }
      if waits {
        begun.signal()
        gate.wait()
      }
      return a.number < b.number
    }
  }

  private struct Ranked: Identifiable, Equatable {
    let id: Int
    var rank: Slow
  }

  @Test("A sort that takes long holds up nobody who writes, or reads something else")
  func slowSort() throws {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(delivery: .queue(queue))
    let kept = (0..<20).map { store.store(Ranked(id: $0, rank: Slow(number: $0 % 7))) }
    let query = store.query(Ranked.self, sortBy: [SortDescriptor(\.rank)])
    let subscription = query.observe(buffering: .every) { _ in }
    let item = store.store(Item(id: 1, number: 1))
    queue.sync {}
    queue.suspend()
    store.update(Ranked.self, id: 5) { $0.rank = Slow(number: 3) }
    Slow.mustWait.withLock { $0 = true }
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      _ = query.value
      done.signal()
    }
    Slow.begun.wait()
    let isFree = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      for _ in 0..<3 { store.update(Ranked.self, id: 3) { $0.rank = Slow(number: $0.rank.number + 1) } }
      store.update(Item.self, id: 1) { $0.number += 1 }
      #expect(item.value.number == 2)
      isFree.signal()
    }
    #expect(isFree.wait(timeout: .now() + 20) == .success)
    Slow.gate.signal()
    done.wait()
    queue.resume()
    #expect(query.value.map(\.rank.number) == query.value.map(\.rank.number).sorted())
    subscription.unsubscribe()
    withExtendedLifetime(kept) {}
  }
}
