import Concord
import Dispatch
import Testing

@Suite("Pausing")
struct PauseTests {
  let store = EntityStore(delivery: .immediate)

  @Test("Whoever pauses in the first call hears no more until resuming, and then the newest")
  func insideFirstCall() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    // The first call comes at the commit, because the entity is born in the transaction.
    store.transaction { store in
      kept.value = store.store(Tag(id: 0, text: 0)).observe { tag in
        if log.count == 0 {
          kept.value?.pause()
          // Comes while the first call is running, and after it paused.
          store.update(Tag.self, id: 0) { $0.text = 1 }
        }
        log.append(tag.text)
      }
    }
    #expect(log.values == [0])
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.values == [0])
    kept.value?.resume()
    #expect(log.values == [0, 2])
    store.update(Tag.self, id: 0) { $0.text = 3 }
    #expect(log.values == [0, 2, 3])
    kept.value?.unsubscribe()
  }

  @Test("Pausing and resuming in the first call loses nothing and repeats nothing")
  func resumedInsideFirstCall() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    store.transaction { store in
      kept.value = store.store(Tag(id: 0, text: 0)).observe { tag in
        if log.count == 0 {
          kept.value?.pause()
          kept.value?.resume()
          store.update(Tag.self, id: 0) { $0.text = 1 }
        }
        log.append(tag.text)
      }
    }
    #expect(log.values == [0, 1])
    kept.value?.unsubscribe()
  }

  @Test("Paused before the first call, it comes when resuming")
  func beforeFirstCall() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    store.transaction { store in
      kept.value = store.store(Tag(id: 0, text: 0)).observe { log.append($0.text) }
      kept.value?.pause()
    }
    #expect(log.values == [])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    kept.value?.resume()
    #expect(log.values == [1])
    kept.value?.unsubscribe()
  }

  @Test("A paused observer of an entity that was removed hears nothing, and of one that is back the new value")
  func removed() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    subscription.pause()
    store.remove(Tag.self, id: 0)
    subscription.resume()
    #expect(log.values == [0])
    #expect(tag.value.text == 0)
    subscription.pause()
    store.store(Tag(id: 0, text: 1))
    store.remove(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 2))
    #expect(log.values == [0])
    subscription.resume()
    subscription.resume()
    #expect(log.values == [0, 2])
    subscription.unsubscribe()
  }

  @Test("A paused observer of what may be absent hears that it is")
  func removedOptional() {
    let log = Log<Int?>()
    let waiting = store.observer(Tag.self, id: 0)
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = waiting.observe { log.append($0?.text) }
    subscription.pause()
    store.remove(Tag.self, id: 0)
    #expect(log.values == [0])
    subscription.resume()
    #expect(log.values == [0, nil])
    subscription.pause()
    store.store(Tag(id: 0, text: 1))
    store.remove(Tag.self, id: 0)
    subscription.resume()
    #expect(log.values.count <= 3 && log.last == .some(nil))
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
  }

  @Test("A paused observer of what was changed and then removed with all others is told nothing when it resumes")
  func removedAll() {
    let (log, absences) = (Log<Int>(), Log<Int?>())
    let tag = store.store(Tag(id: 0, text: 0))
    let subscriptions = [
      tag.observe { log.append($0.text) }, store.observer(Tag.self, id: 0).observe { absences.append($0?.text) },
    ]
    for subscription in subscriptions { subscription.pause() }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.removeAll()
    for subscription in subscriptions { subscription.resume() }
    #expect(log.values == [0])
    #expect(absences.values == [0, nil])
    store.store(Tag(id: 0, text: 2))
    #expect(log.values == [0, 2])
    #expect(absences.values == [0, nil, 2])
    for subscription in subscriptions { subscription.unsubscribe() }
    withExtendedLifetime(tag) {}
  }

  @Test("On a queue a paused observer of what was changed and removed is told the last value when it resumes")
  func removedOnQueue() async {
    let queue = DispatchQueue(label: "delivery")
    let store = EntityStore(queue: queue)
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    subscription.pause()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.remove(Tag.self, id: 0)
    subscription.resume()
    await settle(queue) { log.count == 2 }
    #expect(log.values == [0, 1])
    subscription.pause()
    store.store(Tag(id: 0, text: 2))
    subscription.resume()
    await settle(queue) { log.count == 3 }
    #expect(log.values == [0, 1, 2])
    subscription.unsubscribe()
  }
}
