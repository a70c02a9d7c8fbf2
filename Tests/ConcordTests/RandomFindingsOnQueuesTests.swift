import Concord
import Dispatch
import Testing

/// What the random test has found with delivery on a queue, each as its smallest case.
@Suite("Found by the random test on queues")
struct RandomFindingsOnQueuesTests {
  private let queue = DispatchQueue(label: "delivery")
  private let store: EntityStore

  init() { store = EntityStore(delivery: .queue(queue)) }

  @Test("An element of a set that changes is told of once, whatever is read next")
  func setToldOnce() async {
    let log = Log<[Int]>()
    let texts: @Sendable (Work) -> [Int] = { $0.tags.map(\.text).sorted() }
    let work = store.store(Work(id: 0, title: 0, tags: Set((0..<12).map { Tag(id: $0, text: 0) })))
    let subscription = work.observe { log.append(texts($0)) }
    let tag = store.store(Tag(id: 1, text: 1))
    await store.settled()
    for _ in 0..<4 {
      _ = store.find(Tag.self, id: 0)?.value
      await store.settled()
    }
    #expect(log.values.suffix(2) == [Array(repeating: 0, count: 12), Array(repeating: 0, count: 11) + [1]])
    #expect(log.count == 2)
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
  }

  @Test("Whoever contains something with a set is told of each change that it has time for")
  func aboveSet() async {
    let log = Log<Int>()
    let work = Work(id: 0, title: 0, tags: Set((0..<12).map { Tag(id: $0, text: 0) }))
    let group = store.store(Group(id: 0, name: 0, owner: Person(id: 0, name: 0), item: .work(work)))
    let subscription = group.observe { log.append($0.item.work?.tags.map(\.text).max() ?? -1) }
    for text in 1...5 {
      store.update(Tag.self, id: 1) { $0.text = text }
      _ = store.find(Work.self, id: 0)?.value
      await store.settled()
      _ = store.find(Tag.self, id: 1)?.value
    }
    #expect(log.values == [0, 1, 2, 3, 4, 5])
    subscription.unsubscribe()
  }

  @Test("removeAll in a transaction that throws drops no notice")
  func removeAllUndone() async {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(buffering: .every) { log.append($0.text) }
    await store.settled()
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    try? store.transaction { store in
      store.removeAll()
      throw Refused()
    }
    queue.resume()
    await store.settled()
    #expect(log.values == [0, 1])
    subscription.unsubscribe()
  }

  @Test("What was committed shows each element of a set as committed, while a transaction is open")
  func setWhileTransactionIsOpen() {
    let tags = (0..<12).map { Tag(id: $0, text: 0) }
    let work = store.store(Work(id: 0, title: 0, tags: Set(tags), byKey: ["1": tags[1]]))
    for text in 1...20 {
      store.update(Tag.self, id: text % 12) { $0.text = text }
      store.transaction { store in
        store.update(Tag.self, id: (text + 1) % 12) { $0.text = 100 }
        let committed = Log<Work>()
        #expect(ends { committed.append(work.value) })
        #expect(committed.last?.tags.map(\.text).max() == text)
        #expect(committed.last?.byKey["1"]?.text == committed.last?.tags.first { $0.id == 1 }?.text)
        store.update(Tag.self, id: (text + 1) % 12) { $0.text = 0 }
      }
    }
  }

  @Test("Who was called while a transaction was open is not told the same when it has ended")
  func toldWhileTransactionIsOpen() async {
    let log = Log<Person>()
    let first = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 0)]))
    let second = store.store(Person(id: 1, name: 0, friends: [first.value]))
    let third = store.store(Person(id: 2, name: 0, friends: [Person(id: 3, name: 0), second.value]))
    let fourth = store.store(Person(id: 3, name: 0, friends: [third.value]))
    let person = store.store(Person(id: 4, name: 0, partner: first.value))
    let subscription = person.observe { log.append($0) }
    await store.settled()
    queue.suspend()
    store.update(Person.self, id: 0) { $0.name = 1 }
    store.transaction { store in
      queue.resume()
      queue.sync {}
      #expect(log.last?.partner?.name == 1)
      // Two cycles become one. What the person shows of the first one's members does not change.
      store.update(Person.self, id: 1) { $0.friends.append(third.value) }
    }
    await store.settled()
    #expect(log.values.map(\.partner?.name) == [0, 1])
    withExtendedLifetime(fourth) {}
    subscription.unsubscribe()
  }
}
