import Concord
import Dispatch
import Testing

@Suite("Whole transactions")
struct WholeTransactionsTests {
  let store = EntityStore(delivery: .immediate)

  @Test("An observer is called once a transaction, with its values")
  func once() {
    let log = Log<Person>()
    let observer = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = observer.observe { log.append($0) }
    log.clear()
    store.transaction { store in
      store.update(Person.self, id: 0) { $0.name = 1 }
      store.update(Tag.self, id: 0) { $0.text = 1 }
      store.update(Tag.self, id: 0) { $0.text = 2 }
      #expect(log.count == 0)
    }
    #expect(log.values == [Person(id: 0, name: 1, tag: Tag(id: 0, text: 2))])
    subscription.unsubscribe()
  }

  @Test("One call that changes several entities is one transaction")
  func oneCall() {
    let log = Log<Person>()
    let observer = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 0)], tag: Tag(id: 0, text: 0)))
    let subscription = observer.observe { log.append($0) }
    log.clear()
    let new = Person(id: 0, name: 1, friends: [Person(id: 1, name: 1)], tag: Tag(id: 0, text: 1))
    store.store(new)
    #expect(log.values == [new])
    subscription.unsubscribe()
  }

  @Test("A transaction that throws leaves no trace")
  func rollback() {
    let log = Log<Int>()
    let alias: AliasKey<Tag> = "alias"
    let list: AliasKey<[Tag]> = "list"
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 10)
    let kept = store.store(Tag(id: 3, text: 3), named: alias, modifiedAt: 10)
    store.store([Tag(id: 4, text: 4)], named: list, modifiedAt: 10)
    let subscriptions = [
      person.observe { _ in log.append(0) }, kept.observe { _ in log.append(1) },
      store.find(named: alias).observe { _ in log.append(2) }, store.find(named: list).observe { _ in log.append(3) },
      store.observer(Tag.self, id: 9).observe { _ in log.append(4) },
    ]
    log.clear()
    #expect(throws: Refused.self) {
      try store.transaction { store in
        store.update(Person.self, id: 0, modifiedAt: 100) {
          $0.name = 1; $0.tag = nil
        }
        store.remove(Tag.self, id: 3)
        store.store([Tag(id: 5, text: 5)], named: list, modifiedAt: 100)
        store.store(Tag(id: 9, text: 9))
        store.removeAllAlias()
        throw Refused()
      }
    }
    #expect(log.count == 0)
    #expect(person.value == Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    #expect(store.find(named: alias).value == Tag(id: 3, text: 3))
    #expect(store.find(named: list).value == [Tag(id: 4, text: 4)])
    #expect(store.find(Tag.self, id: 9) == nil)
    #expect(store.find(Tag.self, id: 5) == nil)
    // Neither is a stamp left behind.
    #expect(store.update(Person.self, id: 0, modifiedAt: 11) { $0.name = 2 })
    #expect(store.update(Tag.self, id: 3, modifiedAt: 11) { $0.text = 2 })
    #expect(store.update(named: list, modifiedAt: 11) { $0 = [] })
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("An inner transaction that throws undoes itself alone")
  func innerRollback() {
    let tag = store.store(Tag(id: 0, text: 0))
    let other = store.store(Tag(id: 1, text: 0))
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      try? store.transaction { store in
        store.update(Tag.self, id: 0) { $0.text = 2 }
        store.update(Tag.self, id: 1) { $0.text = 2 }
        throw Refused()
      }
      #expect(tag.value.text == 1)
      #expect(other.value.text == 0)
      store.update(Tag.self, id: 1) { $0.text = 5 }
    }
    #expect(tag.value.text == 1)
    #expect(other.value.text == 5)
  }

  @Test("An outer transaction that throws undoes what inner ones had finished")
  func outerRollback() {
    let tag = store.store(Tag(id: 0, text: 0))
    try? store.transaction { store in
      store.transaction { $0.update(Tag.self, id: 0) { $0.text = 1 } }
      #expect(tag.value.text == 1)
      throw Refused()
    }
    #expect(tag.value.text == 0)
  }

  @Test("A transaction reads its own writes, also what nobody keeps yet")
  func readsItsOwnWrites() {
    store.transaction { store in
      store.store(Tag(id: 0, text: 1))
      #expect(store.find(Tag.self, id: 0)?.value.text == 1)
      store.update(Tag.self, id: 0) { $0.text = 2 }
      #expect(store.find(Tag.self, id: 0)?.value.text == 2)
      store.remove(Tag.self, id: 0)
      #expect(store.find(Tag.self, id: 0) == nil)
      store.store(Tag(id: 0, text: 3))
      #expect(store.find(Tag.self, id: 0)?.value.text == 3)
    }
    #expect(store.find(Tag.self, id: 0) == nil)
  }

  @Test("A transaction gives back what its body gives, or throws what it throws")
  func result() throws {
    let five = store.transaction { _ in 5 }
    #expect(five == 5)
    #expect(throws: Refused.self) { try store.transaction { _ in throw Refused() } }
  }

  @Test("Other threads read the last committed state while a transaction is open")
  func otherThreads() throws {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let seen = Log<Int>()
    let hasRead = store.transaction { tx in
      tx.update(Tag.self, id: 0) { $0.text = 1 }
      return ends {
        seen.append(tag.value.text)
        seen.append(store.find(Tag.self, id: 0)?.value.text ?? -1)
      }
    }
    try #require(hasRead)
    #expect(seen.values == [0, 0])
    #expect(tag.value.text == 1)
  }

  @Test("Queued transactions each deliver their own values, in order")
  func queued() async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(buffering: .every) { log.append($0.text) }
    queue.suspend()
    for text in 1...5 { store.update(Tag.self, id: 0) { $0.text = text } }
    queue.resume()
    queue.sync {}
    await settle(queue) { log.count == 6 }
    #expect(log.values == [0, 1, 2, 3, 4, 5])
    subscription.unsubscribe()
  }

  @Test("An observer never sees half of a transaction")
  func neverHalf() {
    let log = Log<Bool>()
    let people = store.store([Person(id: 0, name: 0), Person(id: 1, name: 0)])
    let subscription = people.observe { log.append($0[0].name == $0[1].name) }
    for name in 1...100 {
      store.transaction { store in
        store.update(Person.self, id: 0) { $0.name = name }
        store.update(Person.self, id: 1) { $0.name = name }
      }
    }
    #expect(log.count == 101)
    #expect(log.values.allSatisfy { $0 })
    subscription.unsubscribe()
  }

  @Test("A first observe on an entity born in the transaction calls back at commit")
  func born() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    store.transaction { store in
      let observer = store.store(Tag(id: 0, text: 1))
      kept.value = observer.observe { log.append($0.text) }
      #expect(log.count == 0)
      store.update(Tag.self, id: 0) { $0.text = 2 }
    }
    #expect(log.values == [2])
    kept.value?.unsubscribe()
  }

  @Test("An observe inside a transaction shows what was committed, then what the transaction makes")
  func observeInside() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let observer = store.store(Tag(id: 0, text: 1))
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 2 }
      kept.value = observer.observe { log.append($0.text) }
      #expect(log.values == [1])
    }
    #expect(log.values == [1, 2])
    kept.value?.unsubscribe()
  }

  @Test("A write made inside a callback is the next transaction, and its callbacks come after the current ones")
  func writesInCallbacks() {
    let log = Log<String>()
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let other = store.store(Tag(id: 1, text: 0))
    let first = tag.observe { tag in
      log.append("a\(tag.text)")
      if tag.text == 1 { store.update(Tag.self, id: 1) { $0.text = 1 } }
      log.append("A\(tag.text)")
    }
    let second = other.observe { log.append("b\($0.text)") }
    let third = tag.observe { log.append("c\($0.text)") }
    log.clear()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values.count == 4)
    #expect(log.values.last == "b1")
    #expect(Set(log.values.dropLast()) == ["a1", "A1", "c1"])
    for subscription in [first, second, third] { subscription.unsubscribe() }
  }
}

/// Waits until what a queue was given has had its effect.
func settle(_ queue: DispatchQueue, _ condition: () -> Bool) async {
  for _ in 0..<2_000 where !condition() {
    queue.sync {}
    try? await Task.sleep(for: .milliseconds(1))
  }
}
