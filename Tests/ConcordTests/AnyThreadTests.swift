import Concord
import Dispatch
import Testing

@Suite("Any thread")
struct AnyThreadTests {
  let store = EntityStore(delivery: .immediate)

  @Test("Every type is Sendable")
  func sendable() {
    func check(_: (some Sendable).Type) {}
    check(EntityStore.self)
    check(EntityObserver<Tag>.self)
    check(Subscription.self)
    check(AliasKey<Tag>.self)
    check(EntityStore.Delivery.self)
    check(EntityStore.Stamping.self)
    // An alias key is Sendable whatever it names.
    final class Anything {}
    check(AliasKey<Anything>.self)
  }

  @Test("All calls may come from inside a callback")
  func insideCallback() {
    let store = store
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 0))
    let key: AliasKey<Tag> = "key"
    let subscription = tag.observe { tag in
      guard tag.text == 1 else { return }
      let new = store.store(Tag(id: 1, text: 1), named: key)
      log.append(store.find(Tag.self, id: 1)?.value.text ?? -1)
      store.update(Tag.self, id: 1) { $0.text = 2 }
      kept.value = new.observe { log.append($0.text * 10) }
      kept.value?.pause()
      kept.value?.resume()
      kept.value?.unsubscribe()
      store.transaction { $0.update(named: key) { $0.text = 3 } }
      log.append(store.find(named: key).value?.text ?? -1)
      store.remove(Tag.self, id: 1)
      store.removeAlias(named: key)
      log.append(store.find(Tag.self, id: 1) == nil ? 100 : -1)
    }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [1, 20, 3, 100])
    subscription.unsubscribe()
  }

  @Test("All calls may come from inside an update closure, and join its transaction")
  func insideUpdate() {
    let store = store
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 0))
    let other = store.store(Tag(id: 1, text: 0))
    let subscription = other.observe { log.append($0.text) }
    store.update(Tag.self, id: 0) { tag in
      store.update(Tag.self, id: 1) { $0.text = 1 }
      #expect(log.values == [0])
      #expect(store.find(Tag.self, id: 1)?.value.text == 1)
      kept.value = store.store(Tag(id: 2, text: 2)).observe { log.append($0.text * 10) }
      #expect(store.find(Tag.self, id: 0)?.value.text == 0)
      store.transaction { $0.update(Tag.self, id: 2) { $0.text = 3 } }
      tag.text = 1
    }
    #expect(tag.value.text == 1)
    #expect(Set(log.values) == [0, 1, 30])
    #expect(log.count == 3)
    subscription.unsubscribe()
    kept.value?.unsubscribe()
  }

  @Test("All calls may come from inside ifPresent")
  func insideIfPresent() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let other = store.store(Tag(id: 1, text: 0))
    store.store(Tag(id: 0, text: 1)) { tag in
      store.update(Tag.self, id: 1) { $0.text = 5 }
      tag.text += store.find(Tag.self, id: 1)?.value.text ?? 0
    }
    #expect(tag.value.text == 6)
    #expect(other.value.text == 5)
  }

  @Test("An update inside an update of the same entity does not trap")
  func updateInUpdate() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    store.update(Tag.self, id: 0) { tag in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      tag.text = 2
    }
    #expect([1, 2].contains(tag.value.text))
    store.update(Tag.self, id: 0) { tag in
      store.remove(Tag.self, id: 0)
      tag.text = 3
    }
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("After unsubscribe has returned no callback begins, whatever was queued")
  func unsubscribed() async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Tag.self, id: 0) { $0.text = 2 }
    subscription.unsubscribe()
    queue.resume()
    queue.sync {}
    try? await Task.sleep(for: .milliseconds(20))
    queue.sync {}
    #expect(log.values == [0])
  }

  @Test("A callback may unsubscribe itself")
  func unsubscribesItself() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 0))
    kept.value = tag.observe { tag in
      log.append(tag.text)
      if tag.text == 1 {
        kept.value?.unsubscribe()
        kept.value = nil
      }
    }
    for text in 1...3 { store.update(Tag.self, id: 0) { $0.text = text } }
    #expect(log.values == [0, 1])
  }

  @Test("One writer, an observer on another queue: every value arrives, in order")
  func otherQueue() async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let people = store.store((0..<100).map { Person(id: $0, name: 0) })
    let subscription = people.observe(buffering: .every) { log.append($0.reduce(0) { $0 + $1.name }) }
    for step in 1...500 { store.update(Person.self, id: step % 100) { $0.name += 1 } }
    await settle(queue) { log.count == 501 }
    #expect(log.values == Array(0...500))
    subscription.unsubscribe()
  }

  @Test("With immediate delivery each state of several writers is told, in commit order")
  func immediateFromThreads() async {
    let store = store
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<250 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    #expect(tag.value.text == 1_000)
    // What was committed while another one was telling is told by a thread of the store's.
    await store.settled()
    #expect(log.values == Array(0...1_000))
    subscription.unsubscribe()
  }

  @Test("Callbacks of one observer never overlap")
  func noOverlap() async {
    let store = store
    let running = Counter()
    let overlaps = Counter()
    let left = Counter()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { _ in
      if running.increment() - left.value > 1 { overlaps.increment() }
      for _ in 0..<20 { _ = store.find(Tag.self, id: 0)?.value }
      left.increment()
    }
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<100 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    await store.settled()
    #expect(overlaps.value == 0)
    #expect(running.value == 401)
    subscription.unsubscribe()
  }

  @Test("The initial call is not overtaken by a later value")
  func initialFirst() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let isWriting = Kept<Bool>()
    isWriting.value = true
    let done = DispatchGroup()
    DispatchQueue.global().async(group: done) {
      while isWriting.value == true { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    for _ in 0..<200 {
      let log = Log<Int>()
      let subscription = tag.observe { log.append($0.text) }
      #expect(log.count >= 1)
      subscription.unsubscribe()
      let values = log.values
      #expect(values == values.sorted())
      #expect(Set(values).count == values.count)
    }
    isWriting.value = false
    done.wait()
  }

  @Test("No value between the initial one and the newest is missed")
  func nothingMissed() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let log = Log<Int>()
    let done = DispatchGroup()
    DispatchQueue.global().async(group: done) {
      for _ in 0..<500 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    let subscription = tag.observe { log.append($0.text) }
    done.wait()
    let values = log.values
    #expect(values == Array((values.first ?? 0)...500))
    subscription.unsubscribe()
  }

  @Test("Releasing an observer does not wait for a transaction of another thread")
  func releaseNeverWaits() throws {
    let store = store
    let kept = Kept<EntityObserver<Tag>>()
    kept.value = store.store(Tag(id: 0, text: 0))
    let isReleased = store.transaction { _ in ends { kept.value = nil } }
    try #require(isReleased)
    #expect(store.find(Tag.self, id: 0) == nil)
  }

  @Test("Unsubscribing does not wait, not for a transaction and not for a running callback")
  func unsubscribeNeverWaits() throws {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let started = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let subscription = tag.observe { tag in
      if tag.text == 1 {
        started.signal()
        goOn.wait()
      }
    }
    let done = DispatchGroup()
    DispatchQueue.global().async(group: done) { store.update(Tag.self, id: 0) { $0.text = 1 } }
    try #require(started.wait(timeout: .now() + 60) == .success)
    let hasReturned = ends { subscription.unsubscribe() }
    goOn.signal()
    try #require(hasReturned)
    done.wait()
    let other = tag.observe { _ in }
    let isUnsubscribed = store.transaction { _ in ends { other.unsubscribe() } }
    #expect(isUnsubscribed)
  }
}
