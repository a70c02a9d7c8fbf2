import Concord
import Dispatch
import Testing

@Suite("The first call in turn")
struct FirstCallInTurnTests {
  private let queue = DispatchQueue(label: "store")

  @Test("It comes on the store's queue, with the newest value of that moment, and once")
  func onQueue() async {
    let store = EntityStore(queue: queue)
    let tag = store.store(Tag(id: 0, text: 0))
    let (log, parts) = (Log<Int>(), Log<Int>())
    queue.suspend()
    let queue = queue
    let subscriptions = [
      tag.observe(firstCall: .inTurn) {
        dispatchPrecondition(condition: .onQueue(queue))
        log.append($0.text)
      },
      tag.observe(\.text, firstCall: .inTurn) {
        dispatchPrecondition(condition: .onQueue(queue))
        parts.append($0)
      },
    ]
    #expect(log.values == [])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    queue.resume()
    await store.settled()
    #expect(log.values == [1])
    #expect(parts.values == [1])
    store.update(Tag.self, id: 0) { $0.text = 2 }
    await store.settled()
    #expect(log.values == [1, 2])
    #expect(parts.values == [1, 2])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("With each state buffered the first is told before the others")
  func buffered() async {
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    queue.suspend()
    let subscription = store.store(Tag(id: 0, text: 0)).observe(buffering: .every, firstCall: .inTurn) {
      log.append($0.text)
    }
    for text in 1...3 { store.update(Tag.self, id: 0) { $0.text = text } }
    #expect(log.values == [])
    queue.resume()
    await store.settled()
    #expect(log.values == [0, 1, 2, 3])
    subscription.unsubscribe()
  }

  @Test("With no queue it comes before observe returns")
  func immediate() {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let subscription = store.store(Tag(id: 0, text: 0)).observe(firstCall: .inTurn) { log.append($0.text) }
    #expect(log.values == [0])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [0, 1])
    subscription.unsubscribe()
  }

  @Test("Ended before its turn, it does not come")
  func ended() async {
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    queue.suspend()
    let subscription = store.store(Tag(id: 0, text: 0)).observe(firstCall: .inTurn) { log.append($0.text) }
    subscription.unsubscribe()
    queue.resume()
    await store.settled()
    #expect(log.values == [])
  }

  @Test("On the main actor it comes in the main queue's turn, also for a caller there")
  @MainActor
  func mainActor() async {
    let store = EntityStore(queue: queue)
    var texts: [Int] = []
    let subscription = store.store(Tag(id: 0, text: 0)).observe(firstCall: .inTurn) { texts.append($0.text) }
    #expect(texts == [])
    await store.settled()
    #expect(texts == [0])
    subscription.unsubscribe()
  }
}
