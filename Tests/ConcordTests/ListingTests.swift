import Concord
import Dispatch
import Foundation
import Testing

@Suite("All entities of a type")
struct ListingTests {
  private let store = EntityStore(delivery: .immediate)

  private func ids(_ tags: [Tag]) -> [Int] { tags.map(\.id).sorted() }

  @Test("They are listed and counted, with a condition, too, and nobody is kept alive by it")
  func values() {
    #expect(store.all(Tag.self) == [])
    #expect(store.count(Tag.self) == 0)
    let tags = (0..<100).map { store.store(Tag(id: $0, text: $0 % 3)) }
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 100, text: 0)))
    #expect(ids(store.all(Tag.self)) == Array(0...100))
    #expect(store.count(Tag.self) == 101)
    #expect(ids(store.all(Tag.self) { $0.text == 1 }) == Array(stride(from: 1, to: 100, by: 3)))
    #expect(store.count(Tag.self) { $0.text == 1 } == 33)
    #expect(store.all(Person.self).map(\.id) == [0])
    #expect(store.count(Note.self) == 0)
    let all = store.all(Tag.self)
    withExtendedLifetime((tags, person)) {}
    store.removeAll()
    #expect(all.count == 101)
    #expect(store.count(Tag.self) == 0)
  }

  @Test("They show the newest of what they contain")
  func newest() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(store.all(Person.self).first?.tag?.text == 1)
    #expect(store.observer(all: Person.self).value.first?.tag?.text == 1)
    withExtendedLifetime(person) {}
  }

  @Test("A condition may use the store, throw, and is not asked under the lock")
  func conditions() {
    let store = store
    let tags = (0..<3).map { store.store(Tag(id: $0, text: $0)) }
    #expect(store.count(Tag.self) { store.value(Tag.self, id: $0.id)?.text == $0.text } == 3)
    #expect(throws: Refused.self) { try store.all(Tag.self) { _ in throw Refused() } }
    let observer = store.observer(all: Tag.self) { store.value(Tag.self, id: $0.id)?.text != 1 }
    let log = Log<[Int]>()
    let subscription = observer.observe { log.append($0.map(\.id).sorted()) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [[0, 2], [2]])
    #expect(observer.value.map(\.id) == [2])
    withExtendedLifetime(tags) {}
    subscription.unsubscribe()
  }

  @Test("A live list tells who comes, changes and goes, once a transaction, in the order in which they came")
  func live() {
    let log = Log<[[Int]]>()
    let subscription = store.observer(all: Tag.self).observe { log.append($0.map { [$0.id, $0.text] }) }
    var five: EntityObserver<Tag>? = store.store(Tag(id: 5, text: 0))
    let one = store.store(Tag(id: 1, text: 0))
    store.update(Tag.self, id: 5) { $0.text = 1 }
    store.transaction { store in
      store.store(Tag(id: 9, text: 0), named: "tag")
      store.update(Tag.self, id: 5) { $0.text = 2 }
      store.update(Tag.self, id: 1) { $0.text = 2 }
    }
    #expect(five != nil)
    five = nil
    store.remove(Tag.self, id: 9)
    store.store(Tag(id: 7, text: 0))
    store.removeAll()
    #expect(
      log.values == [
        [], [[5, 0]], [[5, 0], [1, 0]], [[5, 1], [1, 0]], [[5, 2], [1, 2], [9, 0]], [[1, 2], [9, 0]], [[1, 2]],
        [[1, 2], [7, 0]], [[1, 2]], [],
      ])
    withExtendedLifetime(one) {}
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("It keeps nobody alive, and leaves nothing behind")
  func weak() {
    var list: EntityObserver<[Tag]>? = store.observer(all: Tag.self)
    var subscription = list?.observe { _ in }
    var tag: EntityObserver<Tag>? = store.store(Tag(id: 0, text: 0))
    #expect(list?.value.count == 1)
    #expect(tag != nil)
    tag = nil
    #expect(list?.value == [])
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(subscription != nil)
    subscription = nil
    list = nil
    let before = store._statistics().nodes
    let other = store.store(Tag(id: 1, text: 0))
    #expect(store._statistics().nodes == before + 1)
    let again = store.observer(all: Tag.self)
    store.update(Tag.self, id: 1) { $0.text = 1 }
    #expect(again.value.map(\.text) == [1])
    withExtendedLifetime(other) {}
    #expect(store._checkInvariants() == [])
  }

  @Test("A list of aggregates is told of what changes inside them, again and again")
  func inside() {
    let log = Log<[Int]>()
    let people = (0..<3).map { store.store(Person(id: $0, name: 0, tag: Tag(id: $0, text: 0))) }
    let subscription = store.observer(all: Person.self).observe {
      log.append($0.map { $0.tag?.text ?? -1 }.sorted())
    }
    for text in 1...3 { store.update(Tag.self, id: 1) { $0.text = text } }
    #expect(log.values == [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]])
    withExtendedLifetime(people) {}
    subscription.unsubscribe()
  }

  @Test(
    "Nobody is told of what makes no difference: equal values, other types, others than those asked for, what is undone"
  )
  func needless() {
    let tags = (0..<3).map { store.store(Tag(id: $0, text: $0)) }
    let (all, some, counts, notes) = (Log<Int>(), Log<[Int]>(), Log<Int>(), Log<Int>())
    let subscriptions = [
      store.observer(all: Tag.self).observe { all.append($0.count) },
      store.observer(all: Tag.self) { $0.text > 0 }.observe { some.append($0.map(\.text).sorted()) },
      store.observer(all: Tag.self).map(\.count).observe { counts.append($0) },
      store.observer(all: Note.self) { $0.id > 0 }.observe { notes.append($0.count) },
    ]
    store.store(Tag(id: 0, text: 0))
    store.store(Note(id: 0, text: 0), named: "note")
    store.store(Person(id: 0, name: 0), named: "person")
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 9 }
      store.update(Tag.self, id: 0) { $0.text = 0 }
    }
    try? store.transaction { store in
      store.store(Tag(id: 9, text: 9), named: "tag")
      store.remove(Tag.self, id: 1)
      throw Refused()
    }
    #expect(all.values == [3])
    #expect(notes.values == [0])
    store.update(Tag.self, id: 0) { $0.text = -1 }
    #expect(all.values == [3, 3])
    #expect(some.values == [[1, 2]])
    #expect(counts.values == [3])
    store.update(Tag.self, id: 0) { $0.text = 5 }
    #expect(some.values == [[1, 2], [1, 2, 5]])
    withExtendedLifetime(tags) {}
    for subscription in subscriptions { subscription.unsubscribe() }
    #expect(store._checkInvariants() == [])
  }

  @Test("Inside a transaction its thread lists its own writes, others what was committed")
  func transactions() {
    let store = store
    let tags = (0..<2).map { store.store(Tag(id: $0, text: 0)) }
    let list = store.observer(all: Tag.self)
    let others = Log<[[Int]]>()
    let late = Kept<Subscription>()
    let told = Log<[Int]>()
    store.transaction { tx in
      tx.remove(Tag.self, id: 0)
      tx.update(Tag.self, id: 1) { $0.text = 1 }
      tx.store(Tag(id: 2, text: 1), named: "tag")
      #expect(list.value.map { [$0.id, $0.text] } == [[1, 1], [2, 1]])
      #expect(Set(tx.all(Tag.self).map(\.id)) == [1, 2])
      #expect(tx.count(Tag.self) == 2)
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        others.append(list.value.map { [$0.id, $0.text] }.sorted { $0[0] < $1[0] })
        others.append(store.all(Tag.self).map { [$0.id, $0.text] }.sorted { $0[0] < $1[0] })
        others.append([[store.count(Tag.self)]])
        done.signal()
      }
      done.wait()
      late.value = store.observer(all: Tag.self).observe { told.append($0.map(\.id).sorted()) }
      tx.store(Tag(id: 3, text: 1), named: "other")
    }
    #expect(others.values == [[[0, 0], [1, 0]], [[0, 0], [1, 0]], [[2]]])
    #expect(told.values == [[0, 1], [1, 2, 3]])
    #expect(list.value.map(\.id) == [1, 2, 3])
    late.value = nil
    withExtendedLifetime(tags) {}
    #expect(store._checkInvariants() == [])
  }

  @Test("A list that is made inside a transaction hears of what the transaction wrote before")
  func madeInside() {
    let log = Log<[Int]>()
    let kept = Kept<Subscription>()
    store.transaction { store in
      store.store(Tag(id: 0, text: 0), named: "tag")
      kept.value = store.observer(all: Tag.self).observe { log.append($0.map(\.id)) }
    }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [[], [0], [0]])
    kept.value = nil
    #expect(store._checkInvariants() == [])
  }

  @Test("On a queue only the newest list is told")
  func onQueue() async {
    let queue = DispatchQueue(label: "store")
    let store = EntityStore(queue: queue)
    let log = Log<[Int]>()
    let subscription = store.observer(all: Tag.self).observe { log.append($0.map(\.id)) }
    queue.suspend()
    let tags = (0..<3).map { store.store(Tag(id: $0, text: 0)) }
    queue.resume()
    await store.settled()
    #expect(log.values == [[], [0, 1, 2]])
    withExtendedLifetime(tags) {}
    subscription.unsubscribe()
  }

  @Test("Threads that store and release while others list leave nothing out")
  func threads() async {
    let store = store
    let last = Log<Int>()
    let subscription = store.observer(all: Tag.self).observe { last.append($0.count) }
    let kept = Log<EntityObserver<Tag>>()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<200 {
        let tag = store.store(Tag(id: thread * 1_000 + round, text: round))
        if round % 10 == 0 { kept.append(tag) }
        if round % 50 == 0 { _ = store.observer(all: Tag.self).value }
      }
    }
    await store.settled()
    #expect(store.count(Tag.self) == 80)
    #expect(last.last == 80)
    kept.clear()
    await store.settled()
    #expect(last.last == 0)
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }
}
