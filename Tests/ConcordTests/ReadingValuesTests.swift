import Concord
import Dispatch
import Testing

@Suite("A value is read without an observer")
struct ReadingValuesTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("The value, or nil")
  func value() {
    #expect(store.value(Tag.self, id: 0) == nil)
    let tag = store.store(Tag(id: 0, text: 1))
    #expect(store.value(Tag.self, id: 0) == Tag(id: 0, text: 1))
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(store.value(Tag.self, id: 0)?.text == 2)
    store.remove(Tag.self, id: 0)
    #expect(store.value(Tag.self, id: 0) == nil)
    withExtendedLifetime(tag) {}
  }

  @Test("Of an aggregate, with what is newest below it")
  func aggregate() {
    let person = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 0)], tag: Tag(id: 0, text: 0)))
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Person.self, id: 1) { $0.name = 2 }
    #expect(store.value(Person.self, id: 0) == person.value)
    #expect(store.value(Person.self, id: 0)?.friends.first?.name == 2)
  }

  @Test("It keeps nothing alive, and wakes nobody who waits")
  func keepsNothing() {
    let waiting = store.observer(Tag.self, id: 0)
    #expect(store.value(Tag.self, id: 0) == nil)
    do {
      let tag = store.store(Tag(id: 1, text: 0))
      #expect(store.value(Tag.self, id: 1) == tag.value)
    }
    #expect(store.value(Tag.self, id: 1) == nil)
    #expect(store._statistics().entities == 0)
    withExtendedLifetime(waiting) {}
  }

  @Test("Inside a transaction its thread reads its own writes, others what was committed")
  func transaction() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let seen = Log<Int?>()
    store.transaction { tx in
      tx.update(Tag.self, id: 0) { $0.text = 1 }
      #expect(tx.value(Tag.self, id: 0)?.text == 1)
      #expect(ends { seen.append(store.value(Tag.self, id: 0)?.text) })
    }
    #expect(seen.values == [0])
    #expect(store.value(Tag.self, id: 0)?.text == 1)
    withExtendedLifetime(tag) {}
  }

  @Test("An observer knows whether its entity was removed")
  func isRemoved() {
    let tag = store.store(Tag(id: 0, text: 0))
    let waiting = store.observer(Tag.self, id: 0)
    #expect(!tag.isRemoved)
    #expect(!waiting.isRemoved)
    store.remove(Tag.self, id: 0)
    #expect(tag.isRemoved)
    #expect(tag.value == Tag(id: 0, text: 0))
    store.store(Tag(id: 0, text: 1))
    #expect(!tag.isRemoved)
    store.removeAll()
    #expect(tag.isRemoved)
    try? store.transaction { store in
      store.store(Tag(id: 0, text: 2))
      #expect(!tag.isRemoved)
      throw Refused()
    }
    #expect(tag.isRemoved)
  }

  @Test("Once settled, all that was enqueued is delivered")
  func settled() async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    for text in 1...100 { store.update(Tag.self, id: 0) { $0.text = text } }
    await store.settled()
    #expect(log.last == 100)
    await store.settled()
    subscription.unsubscribe()
  }

  @Test("Also on the main actor")
  @MainActor
  func settledOnMain() async {
    let store = EntityStore()
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    await store.settled()
    #expect(log.values == [0, 1])
    subscription.unsubscribe()
  }
}
