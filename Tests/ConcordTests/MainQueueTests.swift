import Concord
import Dispatch
import Foundation
import Testing

// On Linux `DispatchQueue.main` is another object each time, and in an `async` program, as a test run is, the main thread has
// ended when tests run: other threads run the main queue.

@MainActor private final class Screen {
  var texts: [Int] = []
}

/// Belongs to no actor.
private func follow(_ observer: EntityObserver<Tag>, _ screen: Screen) -> Subscription {
  let onChange: @MainActor @Sendable (Tag) -> Void = { screen.texts.append($0.text) }
  return observer.observe(onChange: onChange)
}

@Suite("The main queue is one queue, whatever object or thread stands for it")
@MainActor
struct MainQueueTests {
  @Test("Observers of no actor and on the main actor are called in one turn")
  func oneTurn() async {
    for store in [EntityStore(), EntityStore(queue: .main), EntityStore(delivery: .queue(.main))] {
      let seen = Log<Int>()
      let screen = Screen()
      let anyone: @Sendable (Tag) -> Void = { seen.append($0.text) }
      let subscriptions = [
        store.store(Tag(id: 0, text: 0)).observe(onChange: anyone),
        store.store(Tag(id: 1, text: 0)).observe { screen.texts.append($0.text) },
      ]
      store.update(Tag.self, id: 0) { $0.text = 1 }
      let between = Log<[Int?]>()
      DispatchQueue.main.async { MainActor.assumeIsolated { between.append([seen.last, screen.texts.last]) } }
      store.transaction { tx in
        for id in 0...1 { tx.update(Tag.self, id: id) { $0.text = 2 } }
      }
      await store.settled()
      #expect(between.values == [[2, 2]])
      for subscription in subscriptions { subscription.unsubscribe() }
    }
  }

  @Test("They are called in the order of the commits")
  func order() async {
    let store = EntityStore()
    let log = Log<Int>()
    let anyone: @Sendable (Tag) -> Void = { log.append($0.id) }
    var subscriptions: [Subscription] = []
    for id in 0..<6 {
      let tag = store.store(Tag(id: id, text: 0))
      subscriptions.append(
        id % 2 == 0
          ? tag.observe(firstCall: .inTurn, onChange: anyone)
          : tag.observe(firstCall: .inTurn) { log.append($0.id) })
    }
    await store.settled()
    #expect(log.values == Array(0..<6))
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Code of no actor that runs on the main actor gets the first call of a main-actor closure at once")
  func firstCall() async {
    let deliveries: [EntityStore.Delivery] = [.queue(.main), .queue(DispatchQueue(label: "delivery")), .immediate]
    for store in deliveries.map({ EntityStore(delivery: $0) }) {
      let screen = Screen()
      let subscription = follow(store.store(Tag(id: 0, text: 3)), screen)
      #expect(screen.texts == [3])
      subscription.unsubscribe()
    }
  }

  @Test("Elsewhere it comes on the main actor")
  func firstCallElsewhere() async {
    let store = EntityStore(queue: DispatchQueue(label: "delivery"))
    let screen = Screen()
    let tag = store.store(Tag(id: 0, text: 3))
    let subscription = await Task.detached {
      follow(tag, screen)
    }.value
    await store.settled()
    #expect(screen.texts == [3])
    subscription.unsubscribe()
  }
}
