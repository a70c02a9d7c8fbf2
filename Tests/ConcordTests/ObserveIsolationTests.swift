import Concord
import Dispatch
import Testing

@MainActor private final class Screen {
  var titles: [Int] = []
  var subscription: Subscription?

  func show(_ observer: EntityObserver<Tag>) {
    subscription = observer.observe { [weak self] tag in
      MainActor.assertIsolated()
      self?.titles.append(tag.text)
    }
  }
}

private actor Shelf {
  var titles: [Int] = []
  var subscription: Subscription?

  func follow(_ observer: EntityObserver<Tag>) {
    subscription = observer.observe { tag in
      self.assertIsolated()
      self.titles.append(tag.text)
    }
  }

  func stop() -> Int {
    subscription?.unsubscribe()
    return titles.count
  }
}

/// Reads until it is so.
private func until(_ condition: () async -> Bool) async {
  for _ in 0..<4_000 {
    if await condition() { return }
    try? await Task.sleep(for: .milliseconds(1))
  }
}

@Suite("observe in an actor is called on that actor")
struct ObserveIsolationTests {
  @Test("In a class on the main actor: at once, and then there, whoever writes", arguments: [true, false])
  @MainActor
  func mainActor(isImmediate: Bool) async {
    let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: DispatchQueue(label: "delivery"))
    let tag = store.store(Tag(id: 0, text: 0))
    let screen = Screen()
    screen.show(tag)
    #expect(screen.titles == [0])
    for text in 1...50 {
      await Task.detached { _ = store.update(Tag.self, id: 0) { $0.text = text } }.value
    }
    while screen.titles.last != 50 { await store.settled() }
    #expect(screen.titles.last == 50)
    #expect(screen.titles == screen.titles.sorted())
    screen.subscription?.unsubscribe()
    let count = screen.titles.count
    store.update(Tag.self, id: 0) { $0.text = 51 }
    await Task.yield()
    await store.settled()
    #expect(screen.titles.count == count)
  }

  @Test("In an actor: at once, and then there, whoever writes", arguments: [true, false])
  func actor(isImmediate: Bool) async {
    let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: DispatchQueue(label: "delivery"))
    let tag = store.store(Tag(id: 0, text: 0))
    let shelf = Shelf()
    await shelf.follow(tag)
    #expect(await shelf.titles == [0])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<50 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    await until { await shelf.titles.last == 200 }
    let titles = await shelf.titles
    #expect(titles.last == 200)
    #expect(titles == titles.sorted() && Set(titles).count == titles.count)
    let count = await shelf.stop()
    store.update(Tag.self, id: 0) { $0.text = 500 }
    await store.settled()
    #expect(await shelf.titles.count == count)
  }

  @Test("After unsubscribe on the actor no callback begins, however busy the writer is")
  func unsubscribe() async {
    let store = EntityStore(delivery: .immediate)
    let tag = store.store(Tag(id: 0, text: 0))
    let writer = Task.detached {
      while !Task.isCancelled {
        store.update(Tag.self, id: 0) { $0.text += 1 }
        await Task.yield()
      }
    }
    for _ in 0..<200 {
      let shelf = Shelf()
      await shelf.follow(tag)
      await Task.yield()
      let count = await shelf.stop()
      for _ in 0..<3 { await Task.yield() }
      #expect(await shelf.titles.count == count)
    }
    writer.cancel()
    await writer.value
  }

  @Test("An actor that has unsubscribed goes, also if it keeps the subscription; one that comes in its place is called")
  func actorGoes() async {
    let store = EntityStore(delivery: .immediate)
    let tag = store.store(Tag(id: 0, text: 0))
    var subscriptions: [Subscription] = []
    for text in 1...50 {
      weak var gone: Shelf?
      do {
        let shelf = Shelf()
        gone = shelf
        await shelf.follow(tag)
        store.update(Tag.self, id: 0) { $0.text = text }
        await until { await shelf.titles.last == text }
        #expect(await shelf.titles.last == text)
        if let subscription = await shelf.subscription { subscriptions.append(subscription) }
        _ = await shelf.stop()
      }
      await until { gone == nil }
      #expect(gone == nil)
    }
    store.update(Tag.self, id: 0) { $0.text = 0 }
    await store.settled()
    withExtendedLifetime(subscriptions) {}
  }

  @Test("Each of many actors is told, whichever thread writes, also after others went")
  func manyActors() async {
    let store = EntityStore(delivery: .immediate)
    let tags = (0..<100).map { store.store(Tag(id: $0, text: 0)) }
    var shelves: [Int: Shelf] = [:]
    for text in 1...20 {
      for tag in tags {
        let shelf = Shelf()
        await shelf.follow(tag)
        shelves[tag.value.id] = shelf
      }
      for id in (0..<100) where id % 3 == 0 { _ = await shelves.removeValue(forKey: id)?.stop() }
      await withTaskGroup { group in
        for thread in 0..<4 {
          group.addTask {
            for id in 0..<100 where id % 4 == thread { store.update(Tag.self, id: id) { $0.text = text } }
          }
        }
      }
      // Nothing is waited for but what the updates themselves have begun.
      for shelf in shelves.values {
        await until { await shelf.titles.last == text }
        #expect(await shelf.titles.last == text)
      }
    }
  }

  @Test("A screen that is gone takes its subscription along")
  @MainActor
  func gone() async {
    let store = EntityStore()
    do {
      let screen = Screen()
      screen.show(store.store(Tag(id: 0, text: 0)))
      #expect(store.find(Tag.self, id: 0) != nil)
    }
    await store.settled()
    #expect(store.find(Tag.self, id: 0) == nil)
  }
}
