import Concord
import Dispatch
import Testing

@Suite("No notice is missed, whoever reads or observes at the wrong moment")
struct MissedNoticesTests {
  private let queue = DispatchQueue(label: "delivery")

  @Test("A queue has its turn while an update's closure runs: what the closure changes is told")
  func turnInsideUpdate() async {
    let store = EntityStore(delivery: .queue(queue))
    let (told, other) = (Log<Int>(), Log<Int>())
    let tags = store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 0)])
    let named = store.store(Tag(id: 0, text: 0), named: "tag")
    let list = Log<[Int]>()
    let alias = Log<Int?>()
    let subscriptions = [
      store.find(Tag.self, id: 0)?.observe { told.append($0.text) },
      store.find(Tag.self, id: 1)?.observe { other.append($0.text) },
      tags.observe { list.append($0.map(\.text)) },
      store.find(named: AliasKey<Tag>("tag")).observe { alias.append($0?.text) },
    ]
    await store.settled()
    queue.suspend()
    store.update(Tag.self, id: 1) { $0.text = 1 }
    store.update(Tag.self, id: 0) { tag in
      queue.resume()
      queue.sync {}
      tag.text = 1
    }
    await store.settled()
    #expect(told.values == [0, 1])
    #expect(other.values == [0, 1])
    #expect(list.values == [[0, 0], [0, 1], [1, 1]])
    #expect(alias.values == [0, 1])
    for subscription in subscriptions { subscription?.unsubscribe() }
    withExtendedLifetime(named) {}
  }

  @Test("Somebody begins to observe while an update's closure runs: what the closure changes is told to all, once")
  func observeInsideUpdate() throws {
    let store = EntityStore(delivery: .immediate)
    let (told, new, other) = (Log<Int>(), Log<Int>(), Log<Int>())
    let (tag, second) = (store.store(Tag(id: 0, text: 0)), store.store(Tag(id: 1, text: 0)))
    let subscriptions = [tag.observe { told.append($0.text) }, second.observe { other.append($0.text) }]
    let late = Kept<Subscription>()
    var ended = false
    store.update(Tag.self, id: 0) { value in
      ended = ends { late.value = tag.observe { new.append($0.text) } }
      value.text = 1
    }
    try #require(ended)
    #expect(told.values == [0, 1])
    #expect(new.values == [0, 1])
    #expect(other.values == [0])
    for subscription in subscriptions { subscription.unsubscribe() }
    late.value?.unsubscribe()
  }

  @Test("The same in the closure of ifPresent, of an aggregate, and of an alias", arguments: 0..<3)
  func otherClosures(way: Int) throws {
    let store = EntityStore(delivery: .immediate)
    let log = Log<[Int]>()
    let value = Work(id: 0, title: 0, tags: [Tag(id: 0, text: 0)])
    let work = store.store(value, named: "work")
    let other = store.store(Tag(id: 9, text: 0))
    let subscription = work.observe { log.append([$0.title] + $0.tags.map(\.text)) }
    let late = Kept<Subscription>()
    var ended = false
    func change(_ work: inout Work) {
      ended = ends { late.value = other.observe { _ in } }
      work.title = 1
      work.tags = [Tag(id: 0, text: 1)]
    }
    switch way {
    case 0: store.store(value, ifPresent: change)
    case 1: store.update(Work.self, id: 0, update: change)
    default: store.update(named: "work", update: change)
    }
    try #require(ended)
    #expect(log.values == [[0, 0], [1, 1]])
    subscription.unsubscribe()
    late.value?.unsubscribe()
  }

  @Test("Whoever is paused by another callback of the same turn is told when it resumes")
  func pausedInTurn() async {
    let store = EntityStore(delivery: .queue(queue))
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let kept = Kept<Subscription>()
    let first = tag.observe { if $0.text == 1 { kept.value?.pause() } }
    kept.value = tag.observe { log.append($0.text) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    await store.settled()
    #expect(log.values == [0])
    kept.value?.resume()
    await store.settled()
    #expect(log.values == [0, 1])
    kept.value?.unsubscribe()
    first.unsubscribe()
  }

  @Test("The first call on another actor comes also if the entity is removed before", arguments: [false, true])
  func firstCallElsewhere(isRemovedBefore: Bool) async {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 5))
    if isRemovedBefore { store.remove(Tag.self, id: 0) }
    await MainActor.run {
      // The main actor has no turn meanwhile.
      let hasEnded = ends {
        kept.value = tag.observe { @MainActor in log.append($0.text) }
        if !isRemovedBefore { store.remove(Tag.self, id: 0) }
      }
      #expect(hasEnded)
      #expect(log.values == [])
    }
    await store.settled()
    #expect(log.values == [5])
    store.store(Tag(id: 0, text: 6))
    await store.settled()
    #expect(log.values == [5, 6])
    kept.value?.unsubscribe()
  }

  @Test("After removeAll no first call of before comes on another actor")
  func firstCallAfterRemoveAll() async {
    let store = EntityStore(delivery: .immediate)
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 5))
    await MainActor.run {
      let hasEnded = ends {
        kept.value = tag.observe { @MainActor in log.append($0.text) }
        store.removeAll()
      }
      #expect(hasEnded)
    }
    await store.settled()
    #expect(log.values == [])
    store.store(Tag(id: 0, text: 6))
    await store.settled()
    #expect(log.values == [6])
    kept.value?.unsubscribe()
  }
}
