import Concord
import Dispatch
import Foundation
import Testing

@Suite("The first call comes where observe is called; none comes of what was before removeAll")
struct FirstCallTests {
  @Test("On the calling thread, before observe returns", arguments: [true, false])
  func callingThread(isImmediate: Bool) {
    let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: DispatchQueue(label: "delivery"))
    let tag = store.store(Tag(id: 0, text: 0))
    let threads = Log<ObjectIdentifier>()
    let own = ObjectIdentifier(Thread.current)
    let subscriptions = [
      tag.observe { _ in threads.append(ObjectIdentifier(Thread.current)) },
      tag.observe(\.text) { _ in threads.append(ObjectIdentifier(Thread.current)) },
      store.observer(Tag.self, id: 7).observe { _ in threads.append(ObjectIdentifier(Thread.current)) },
      store.store([Tag(id: 3, text: 0)]).observe { _ in threads.append(ObjectIdentifier(Thread.current)) },
    ]
    #expect(threads.values == Array(repeating: own, count: 4))
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("After removeAll no queued notice of before arrives")
  func afterRemoveAll() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let optional = Log<Int?>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscriptions = [
      tag.observe { log.append($0.text) }, store.observer(Tag.self, id: 0).observe { optional.append($0?.text) },
    ]
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.removeAll()
    queue.resume()
    for _ in 0..<3 { queue.sync {} }
    #expect(log.values == [0])
    #expect(optional.values == [0, nil])
    store.store(Tag(id: 0, text: 2))
    for _ in 0..<3 { queue.sync {} }
    #expect(log.values == [0, 2])
    #expect(optional.values == [0, nil, 2])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Nor one of an entity that was removed while it waited")
  func afterRemove() {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    queue.suspend()
    for text in 1...5 { store.update(Tag.self, id: 0) { $0.text = text } }
    store.remove(Tag.self, id: 0)
    queue.resume()
    for _ in 0..<3 { queue.sync {} }
    #expect(log.values == [0])
    subscription.unsubscribe()
  }

  @Test("One that is called while it observes is told of its own writes afterwards")
  func writesInFirstCall() {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { tag in
      log.append(tag.text)
      if tag.text < 3 { store.update(Tag.self, id: 0) { $0.text += 1 } }
    }
    #expect(log.values == [0, 1, 2, 3])
    subscription.unsubscribe()
  }

  @Test("A pause inside the first call holds, and resume catches up")
  func pauseInFirstCall() {
    for isImmediate in [true, false] {
      let queue = DispatchQueue(label: "delivery")
      let store = isImmediate ? EntityStore(delivery: .immediate) : EntityStore(queue: queue)
      let log = Log<Int>()
      let tag = store.store(Tag(id: 0, text: 0))
      let other = Kept<Subscription>()
      // Who observes cannot have the subscription yet: another one's first call pauses it.
      let subscription = tag.observe { log.append($0.text) }
      let pauser = tag.observe { _ in subscription.pause() }
      other.value = pauser
      store.update(Tag.self, id: 0) { $0.text = 1 }
      queue.sync {}
      pauser.unsubscribe()
      #expect(log.values == [0])
      store.update(Tag.self, id: 0) { $0.text = 2 }
      subscription.resume()
      for _ in 0..<3 { queue.sync {} }
      #expect(log.values == [0, 2])
      subscription.unsubscribe()
    }
  }

  @Test("One that is paused while its entity is removed and stored again follows it when resumed")
  func pausedAndRemoved() {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let optional = Log<Int?>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    let waiting = store.observer(Tag.self, id: 0).observe { optional.append($0?.text) }
    subscription.pause()
    waiting.pause()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.remove(Tag.self, id: 0)
    waiting.resume()
    #expect(optional.values == [0, nil])
    waiting.pause()
    store.store(Tag(id: 0, text: 2))
    subscription.resume()
    waiting.resume()
    #expect(log.values == [0, 2])
    #expect(optional.values == [0, nil, 2])
    subscription.pause()
    store.remove(Tag.self, id: 0)
    subscription.resume()
    #expect(log.values == [0, 2])
    store.store(Tag(id: 0, text: 3))
    #expect(log.values == [0, 2, 3])
    subscription.unsubscribe()
    waiting.unsubscribe()
  }
}
