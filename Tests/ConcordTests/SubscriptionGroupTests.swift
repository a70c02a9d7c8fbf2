import Concord
import Dispatch
import Observation
import Testing

@Suite("Pausing a screen")
struct SubscriptionGroupTests {
  private let store = EntityStore(delivery: .immediate)
  private let log = Log<String>()
  private let group = SubscriptionGroup()

  private func screen() -> [EntityObserver<Tag>] {
    let log = log
    let tags = (0..<2).map { store.store(Tag(id: $0, text: 0)) }
    for tag in tags { tag.observe { log.append("\($0.id): \($0.text)") }.store(in: group) }
    store.observe(tags[0], tags[1]) { log.append("\($0.text), \($1.text)") }.store(in: group)
    log.clear()
    return tags
  }

  @Test("All are paused and resumed at once, and told the newest")
  func all() {
    let tags = screen()
    group.pause()
    for text in 1...3 { store.update(Tag.self, id: 0) { $0.text = text } }
    #expect(log.values == [])
    group.resume()
    #expect(Set(log.values) == ["0: 3", "3, 0"])
    #expect(log.count == 2)
    store.update(Tag.self, id: 1) { $0.text = 4 }
    #expect(Set(log.values) == ["0: 3", "3, 0", "1: 4", "3, 4"])
    withExtendedLifetime(tags) {}
  }

  @Test("Changes that cancel each other out tell nobody")
  func cancelled() {
    let tags = screen()
    let alias = Log<Int?>()
    store.find(named: AliasKey<Tag>("tag")).observe { alias.append($0?.text) }.store(in: group)
    store.observer(all: Tag.self).observe { alias.append($0.count) }.store(in: group)
    group.pause()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.store(Tag(id: 5, text: 5), named: "tag")
    store.update(Tag.self, id: 0) { $0.text = 0 }
    store.removeAlias(named: AliasKey<Tag>("tag"))
    group.resume()
    #expect(log.values == [])
    #expect(alias.values == [nil, 2])
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(Set(log.values) == ["0: 1", "1, 0"])
    withExtendedLifetime(tags) {}
  }

  @Test("On a queue, too; what waited when it was paused is told when it resumes, though it did not change again")
  func onQueue() async {
    let queue = DispatchQueue(label: "store")
    let store = EntityStore(queue: queue)
    let log = log
    let tag = store.store(Tag(id: 0, text: 0))
    tag.observe { log.append("newest \($0.text)") }.store(in: group)
    tag.observe(buffering: .every) { log.append("every \($0.text)") }.store(in: group)
    queue.suspend()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    group.pause()
    queue.resume()
    await store.settled()
    #expect(log.values == ["newest 0", "every 0"])
    group.resume()
    await store.settled()
    #expect(log.values == ["newest 0", "every 0", "newest 1", "every 1"])
    group.pause()
    for text in [2, 1] { store.update(Tag.self, id: 0) { $0.text = text } }
    group.resume()
    await store.settled()
    #expect(log.count == 4)
  }

  @Test("One that is paused by another's callback in the same turn is told when it resumes")
  func sameTurn() async {
    let queue = DispatchQueue(label: "store")
    let store = EntityStore(queue: queue)
    let log = log
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 0))
    let first = tag.observe { _ in kept.value?.pause() }
    kept.value = tag.observe { log.append("\($0.text)") }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    await store.settled()
    #expect(log.values == ["0"])
    first.unsubscribe()
    kept.value?.resume()
    await store.settled()
    #expect(log.values == ["0", "1"])
    kept.value = nil
  }

  @Test("What cannot be compared, a removed entity, one that is stored again")
  func special() {
    let log = log
    let note = store.store(Note(id: 0, text: 0))
    note.observe { log.append("note \($0.text)") }.store(in: group)
    store.observer(Tag.self, id: 0).observe { log.append("tag \($0?.text ?? -1)") }.store(in: group)
    log.clear()
    group.pause()
    store.update(Note.self, id: 0) { $0.text = 1 }
    store.store(Tag(id: 0, text: 0), named: "tag")
    group.resume()
    #expect(Set(log.values) == ["note 1", "tag 0"])
    log.clear()
    group.pause()
    store.remove(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 0), named: "tag")
    group.resume()
    #expect(log.values == [])
    group.pause()
    store.remove(Tag.self, id: 0)
    group.resume()
    #expect(log.values == ["tag -1"])
    withExtendedLifetime(note) {}
    #expect(store._checkInvariants() == [])
  }

  @Test("What is inserted into a paused group is paused, in an unsubscribed one kept no longer")
  func inserted() {
    let log = log
    group.pause()
    store.store(Tag(id: 0, text: 0)).observe { log.append("\($0.text)") }.store(in: group)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == ["0"])
    group.resume()
    #expect(log.values == ["0", "1"])
    group.unsubscribe()
    #expect(store.find(Tag.self, id: 0) == nil)
  }

  @Test("A group that is released ends its subscriptions")
  func released() {
    var group: SubscriptionGroup? = SubscriptionGroup()
    group.map { store.store(Tag(id: 0, text: 0)).observe { _ in }.store(in: $0) }
    #expect(store.find(Tag.self, id: 0) != nil)
    group = nil
    #expect(store.find(Tag.self, id: 0) == nil)
  }

  @Test("Observable objects can be paused")
  func observed() {
    let log = log
    let observed = store.store(Tag(id: 0, text: 0)).observed
    group.insert(observed)
    group.pause()
    withObservationTracking {
      _ = observed.text
    } onChange: {
      log.append("changed")
    }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [])
    group.resume()
    #expect(log.values == ["changed"])
    #expect(observed.text == 1)
  }

  @Test("In an open transaction nothing that is not committed counts")
  func transactions() {
    let tags = screen()
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      group.pause()
    }
    #expect(log.values == [])
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 2 }
      group.resume()
    }
    #expect(log.values.contains("0: 2"))
    #expect(log.last == "2, 0")
    withExtendedLifetime(tags) {}
    #expect(store._checkInvariants() == [])
  }

  /// Another thread calls the group just before the subscription is asked for.
  private struct Overtaken: Pausable {
    let subscription: Subscription
    let calls = Kept<@Sendable () -> Void>()
    var pausedSubscriptions: [Subscription] {
      let call = calls.value
      calls.value = nil
      call?()
      return [subscription]
    }
  }

  @Test("Whoever is overtaken by another thread leaves all as the group is", arguments: 0..<3)
  func overtaken(way: Int) {
    let (log, group) = (log, group)
    let tag = store.store(Tag(id: 0, text: 0))
    let member = Overtaken(subscription: tag.observe { log.append("\($0.text)") })
    let isPaused = way == 2
    if way == 0 { group.pause() } else { group.insert(member) }
    if isPaused { group.pause() }
    member.calls.value = { if isPaused { group.pause() } else { group.resume() } }
    switch way {
    case 0: group.insert(member)
    case 1: group.pause()
    default: group.resume()
    }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == (isPaused ? ["0"] : ["0", "1"]))
    group.resume()
    #expect(log.values == ["0", "1"])
  }
}
