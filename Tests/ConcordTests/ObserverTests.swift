import Concord
import Dispatch
import Testing

@Suite("Observers")
struct ObserverTests {
  let store = EntityStore(delivery: .immediate)

  @Test("observe calls back once before it returns, then for each change")
  func observe() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    #expect(log.values == [0])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [0, 1])
    subscription.unsubscribe()
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.values == [0, 1])
    #expect(tag.value.text == 2)
    subscription.unsubscribe()
  }

  @Test("Those who stay are called, whoever leaves", arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]])
  func leaving(order: [Int]) {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscriptions = (0..<3).map { number in tag.observe { _ in log.append(number) } }
    var staying: Set<Int> = [0, 1, 2]
    for (text, leaver) in order.enumerated() {
      subscriptions[leaver].unsubscribe()
      staying.remove(leaver)
      let before = log.values.count
      store.update(Tag.self, id: 0) { $0.text = text + 1 }
      #expect(log.values.dropFirst(before).sorted() == staying.sorted())
    }
  }

  @Test("observe of a part is called when that part changes")
  func part() {
    let log = Log<Int>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = person.observe(\.name) { log.append($0) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Person.self, id: 0) { $0.name = 1 }
    store.update(Person.self, id: 0) { $0.tag = nil }
    store.update(Person.self, id: 0) { $0.name = 2 }
    #expect(log.values == [0, 1, 2])
    subscription.unsubscribe()
  }

  @Test("A part may lie in a child")
  func partOfChild() {
    let log = Log<Int?>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = person.observe(\.tag?.text) { log.append($0) }
    store.update(Person.self, id: 0) { $0.name = 1 }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.remove(Tag.self, id: 0)
    #expect(log.values == [0, 1, nil])
    subscription.unsubscribe()
  }

  @Test("While paused nothing is called; resume catches up with the newest value")
  func pause() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    subscription.pause()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.values == [0])
    subscription.resume()
    #expect(log.values == [0, 2])
    store.update(Tag.self, id: 0) { $0.text = 3 }
    subscription.pause()
    subscription.pause()
    subscription.resume()
    subscription.resume()
    #expect(log.values == [0, 2, 3])
    subscription.unsubscribe()
    subscription.resume()
    #expect(log.values == [0, 2, 3])
  }

  @Test("A part that is paused catches up too")
  func pausedPart() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(\.text) { log.append($0) }
    subscription.pause()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    subscription.resume()
    #expect(log.values == [0, 1])
    subscription.unsubscribe()
  }

  @Test("On a queue: the first call is synchronous, the others come on the queue, in order")
  func queue() async {
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "delivery")
    queue.setSpecific(key: key, value: true)
    let store = EntityStore(queue: queue)
    let log = Log<(text: Int, isOnQueue: Bool)>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(buffering: .every) {
      log.append(($0.text, DispatchQueue.getSpecific(key: key) == true))
    }
    #expect(log.count == 1)
    for text in 1...20 { store.update(Tag.self, id: 0) { $0.text = text } }
    await settle(queue) { log.count == 21 }
    #expect(log.values.map(\.text) == Array(0...20))
    #expect(Set(log.values.dropFirst().map(\.isOnQueue)) == [true])
    subscription.unsubscribe()
  }

  @Test("On a concurrent queue callbacks do not overlap and keep their order")
  func concurrentQueue() async {
    let queue = DispatchQueue(label: "delivery", attributes: .concurrent)
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let running = Counter()
    let left = Counter()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(buffering: .every) {
      if running.increment() - left.value > 1 { log.append(-1) }
      log.append($0.text)
      left.increment()
    }
    for text in 1...200 { store.update(Tag.self, id: 0) { $0.text = text } }
    await settle(queue) { log.last == 200 }
    #expect(log.values == Array(0...200))
    subscription.unsubscribe()
  }

  @Test("Every other value is a snapshot of its transaction, not the live value at delivery")
  func snapshots() async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<[Int?]>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = person.observe(buffering: .every) { log.append([$0.name, $0.tag?.text]) }
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Person.self, id: 0) { $0.name = 1 }
    store.remove(Tag.self, id: 0)
    queue.resume()
    await settle(queue) { log.count == 4 }
    #expect(log.values == [[0, 0], [0, 1], [1, 1], [1, nil]])
    subscription.unsubscribe()
  }

  @Test("A closure on the main actor may touch its state, and runs there")
  @MainActor
  func mainActor() async {
    let store = EntityStore()
    let screen = Screen()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe(on: MainActor.shared) { screen.texts.append($0.text) }
    #expect(screen.texts == [0])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    for _ in 0..<2_000 where screen.texts.count < 2 { try? await Task.sleep(for: .milliseconds(1)) }
    #expect(screen.texts == [0, 1])
    subscription.unsubscribe()
  }

  @Test("A closure on the main actor is called there also when another thread writes")
  func mainActorFromElsewhere() async {
    let screen = Screen()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = await tag.observe(on: MainActor.shared, buffering: .every) { screen.texts.append($0.text) }
    for text in 1...10 { store.update(Tag.self, id: 0) { $0.text = text } }
    for _ in 0..<2_000 {
      if await screen.texts.last == 10 { break }
      try? await Task.sleep(for: .milliseconds(1))
    }
    let texts = await screen.texts
    #expect(texts == Array(0...10))
    subscription.unsubscribe()
  }

  @Test("The values sequence starts with the current value and goes on with the newest ones")
  func values() async {
    let tag = store.store(Tag(id: 0, text: 0))
    var iterator = tag.values.makeAsyncIterator()
    #expect(await iterator.next(isolation: nil)?.text == 0)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(await iterator.next(isolation: nil)?.text == 1)
    // Nobody reads meanwhile: the newest is kept.
    for text in 2...9 { store.update(Tag.self, id: 0) { $0.text = text } }
    #expect(await iterator.next(isolation: nil)?.text == 9)
  }

  @Test("A values sequence that is read while it is written ends on the newest value, and never goes back")
  func valuesWhileWriting() async {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let reader = Task {
      var seen: [Int] = []
      for await value in tag.values {
        seen.append(value.text)
        if value.text == 500 { break }
      }
      return seen
    }
    for text in 1...500 {
      store.update(Tag.self, id: 0) { $0.text = text }
      if text % 50 == 0 { await Task.yield() }
    }
    let seen = await reader.value
    #expect(seen.last == 500)
    #expect(seen == seen.sorted())
    #expect(Set(seen).count == seen.count)
  }

  @Test("A task that is cancelled leaves the sequence")
  func cancelled() async {
    let tag = store.store(Tag(id: 0, text: 0))
    let reader = Task {
      var count = 0
      for await _ in tag.values { count += 1 }
      return count
    }
    try? await Task.sleep(for: .milliseconds(5))
    reader.cancel()
    #expect(await reader.value <= 1)
  }

  @Test("Two sequences of one observer are independent")
  func twoSequences() async {
    let tag = store.store(Tag(id: 0, text: 0))
    var first = tag.values.makeAsyncIterator()
    var second = tag.values.makeAsyncIterator()
    #expect(await first.next(isolation: nil)?.text == 0)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(await first.next(isolation: nil)?.text == 1)
    #expect([0, 1].contains(await second.next(isolation: nil)?.text))
  }

  @Test("An optional observer waits, an observer of a collection shows it")
  func kinds() {
    let log = Log<Tag?>()
    let waiting = store.observer(Tag.self, id: 0)
    #expect(waiting.value == nil)
    let subscription = waiting.observe { log.append($0) }
    let list = store.store([Tag(id: 0, text: 1), Tag(id: 1, text: 1)])
    #expect(list.value.map(\.id) == [0, 1])
    #expect(log.values == [nil, Tag(id: 0, text: 1)])
    subscription.unsubscribe()
  }

  @Test("Many observers of one entity are all told")
  func many() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    var subscriptions = (0..<100).map { _ in tag.observe { log.append($0.text) } }
    log.clear()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.count == 100)
    subscriptions.removeFirst(50)
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.count == 150)
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("An observer subscribed in a callback is told of what comes next")
  func observeInCallback() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { value in
      if value.text == 1 { kept.value = tag.observe { log.append($0.text) } }
    }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [1])
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.values == [1, 2])
    subscription.unsubscribe()
    kept.value?.unsubscribe()
  }
}

@MainActor
private final class Screen {
  var texts: [Int] = []
}
