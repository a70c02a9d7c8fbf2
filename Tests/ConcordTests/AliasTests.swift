import Concord
import Testing

extension AliasKey where T == Tag {
  fileprivate static let current = AliasKey("current")
}

extension AliasKey where T == [Tag] {
  fileprivate static let favourites = AliasKey("current")
}

@Suite("Aliases")
struct AliasTests {
  let store = EntityStore(delivery: .immediate)

  @Test("An alias can be observed before anything was stored")
  func before() {
    let log = Log<Tag?>()
    let found = store.find(named: .current)
    let subscription = found.observe { log.append($0) }
    store.store(Tag(id: 0, text: 0), named: .current)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.store(Tag(id: 1, text: 5), named: .current)
    store.removeAlias(named: .current)
    #expect(log.values == [nil, Tag(id: 0, text: 0), Tag(id: 0, text: 1), Tag(id: 1, text: 5), nil])
    #expect(found.value == nil)
    subscription.unsubscribe()
  }

  @Test("Keys with one name and two types are two keys")
  func types() {
    store.store(Tag(id: 0, text: 0), named: .current)
    store.store([Tag(id: 1, text: 1)], named: .favourites)
    let other: AliasKey<Note> = "current"
    store.store(Note(id: 2, text: 2), named: other)
    #expect(store.find(named: .current).value == Tag(id: 0, text: 0))
    #expect(store.find(named: .favourites).value == [Tag(id: 1, text: 1)])
    #expect(store.find(named: other).value?.id == 2)
    store.removeAlias(named: .current)
    #expect(store.find(named: .favourites).value == [Tag(id: 1, text: 1)])
  }

  @Test("An alias is re-pointed only by a newer call, and shows the store's value in any case")
  func freshness() {
    store.store(Tag(id: 0, text: 0), named: .current, modifiedAt: 10)
    let kept = store.store(Tag(id: 1, text: 1), named: .current, modifiedAt: 5)
    #expect(store.find(named: .current).value == Tag(id: 0, text: 0))
    store.store(Tag(id: 0, text: 5), modifiedAt: 20)
    #expect(store.find(named: .current).value == Tag(id: 0, text: 5))
    store.store(Tag(id: 1, text: 1), named: .current, modifiedAt: 15)
    #expect(store.find(named: .current).value == Tag(id: 1, text: 1))
    withExtendedLifetime(kept) {}
  }

  @Test("A stale value may be pointed at by a newer alias call")
  func staleEntity() {
    let kept = store.store(Tag(id: 0, text: 0), modifiedAt: 10)
    store.store(Tag(id: 0, text: 9), named: .current, modifiedAt: 5)
    #expect(store.find(named: .current).value == Tag(id: 0, text: 0))
    withExtendedLifetime(kept) {}
  }

  @Test("update(named:) changes the entity, or points at another id")
  func updateNamed() {
    struct Renamed: Identifiable, Equatable {
      var id: Int
      var text: Int
    }
    let key: AliasKey<Renamed> = "key"
    #expect(!store.update(named: key) { $0.text = 1 })
    store.store(Renamed(id: 0, text: 0), named: key)
    #expect(store.update(named: key) { $0.text = 1 })
    #expect(store.find(Renamed.self, id: 0)?.value.text == 1)
    #expect(store.update(named: key) { $0 = Renamed(id: 1, text: 2) })
    #expect(store.find(named: key).value == Renamed(id: 1, text: 2))
    #expect(store.find(Renamed.self, id: 0) == nil)
  }

  @Test("update(named:) of a collection adds, moves and takes out")
  func updateCollection() {
    let log = Log<[Tag]?>()
    let subscription = store.find(named: .favourites).observe { log.append($0) }
    #expect(!store.update(named: .favourites) { $0.append(Tag(id: 0, text: 0)) })
    store.store([Tag(id: 0, text: 0)], named: .favourites)
    #expect(store.update(named: .favourites) { $0.append(Tag(id: 1, text: 1)) })
    #expect(store.update(named: .favourites) { $0.reverse() })
    #expect(store.update(named: .favourites) { $0[0].text = 5 })
    #expect(store.find(Tag.self, id: 1)?.value.text == 5)
    #expect(store.update(named: .favourites) { $0.removeLast() })
    #expect(store.find(Tag.self, id: 0) == nil)
    let a = Tag(id: 0, text: 0)
    let b = Tag(id: 1, text: 1)
    #expect(log.values == [nil, [a], [a, b], [b, a], [Tag(id: 1, text: 5), a], [Tag(id: 1, text: 5)]])
    subscription.unsubscribe()
  }

  @Test("A stale update of a collection does not call its closure")
  func staleCollection() {
    store.store([Tag(id: 0, text: 0)], named: .favourites, modifiedAt: 10)
    var calls = 0
    #expect(!store.update(named: .favourites, modifiedAt: 10) { _ in calls += 1 })
    #expect(calls == 0)
  }

  @Test("A collection in an alias may be stored again, shorter, longer, stale")
  func storedAgain() {
    store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 0)], named: .favourites, modifiedAt: 5)
    store.store([Tag(id: 2, text: 0)], named: .favourites, modifiedAt: 4)
    #expect(store.find(named: .favourites).value?.map(\.id) == [0, 1])
    #expect(store.find(Tag.self, id: 2) == nil)
    store.store([Tag(id: 1, text: 1), Tag(id: 2, text: 0), Tag(id: 1, text: 1)], named: .favourites, modifiedAt: 6)
    #expect(store.find(named: .favourites).value?.map(\.id) == [1, 2, 1])
    #expect(store.find(Tag.self, id: 0) == nil)
  }

  @Test("Other collections can have an alias")
  func otherCollections() {
    let key: AliasKey<ContiguousArray<Tag>> = "line"
    store.store([Tag(id: 0, text: 0)] as ContiguousArray, named: key)
    store.update(named: key) { $0.append(Tag(id: 1, text: 1)) }
    store.update(Tag.self, id: 0) { $0.text = 5 }
    #expect(store.find(named: key).value == [Tag(id: 0, text: 5), Tag(id: 1, text: 1)])
  }

  @Test("An alias of a removed entity reads nil, and can be pointed again, with any stamp")
  func removed() {
    let log = Log<Tag?>()
    store.store(Tag(id: 0, text: 0), named: .current, modifiedAt: 10)
    let subscription = store.find(named: .current).observe { log.append($0) }
    store.remove(Tag.self, id: 0)
    #expect(store.find(named: .current).value == nil)
    store.store(Tag(id: 0, text: 1), modifiedAt: 1)
    #expect(store.find(named: .current).value == nil)
    store.store(Tag(id: 0, text: 2), named: .current, modifiedAt: 2)
    #expect(log.values == [Tag(id: 0, text: 0), nil, Tag(id: 0, text: 2)])
    subscription.unsubscribe()
  }

  @Test("removeAllAlias lets go of entities and collections")
  func removeAllAlias() {
    let log = Log<Int>()
    store.store(Tag(id: 0, text: 0), named: .current)
    store.store([Tag(id: 1, text: 0)], named: .favourites)
    let subscription = store.find(named: .favourites).observe { log.append($0?.count ?? -1) }
    store.removeAllAlias()
    #expect(store.find(named: .current).value == nil)
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store.find(Tag.self, id: 1) == nil)
    #expect(log.values == [1, -1])
    subscription.unsubscribe()
  }

  @Test("An alias that was first looked for in a transaction that threw works as any other", arguments: [false, true])
  func foundInVain(isKept: Bool) {
    let log = Log<Tag?>()
    let kept = Kept<EntityObserver<Tag?>>()
    let list = Kept<EntityObserver<[Tag]?>>()
    store.transaction { tx in
      try? tx.transaction { tx in
        kept.value = tx.find(named: .current)
        list.value = tx.find(named: .favourites)
        throw Refused()
      }
      if !isKept { (kept.value, list.value) = (nil, nil) }
      tx.store(Tag(id: 0, text: 0), named: .current)
      tx.store([Tag(id: 1, text: 0)], named: .favourites)
      #expect(tx.find(named: .current).value == Tag(id: 0, text: 0))
    }
    let subscription = (kept.value ?? store.find(named: .current)).observe { log.append($0) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.removeAlias(named: .current)
    #expect(log.values == [Tag(id: 0, text: 0), Tag(id: 0, text: 1), nil])
    #expect((list.value ?? store.find(named: .favourites)).value == [Tag(id: 1, text: 0)])
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("An alias that is observed since a transaction that threw is told when it is named")
  func observedInVain() {
    let log = Log<Tag?>()
    let kept = Kept<EntityObserver<Tag?>>()
    try? store.transaction { tx in
      kept.value = tx.find(named: .current)
      throw Refused()
    }
    let subscription = kept.value?.observe { log.append($0) }
    store.store(Tag(id: 0, text: 0), named: .current)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.values == [nil, Tag(id: 0, text: 0), Tag(id: 0, text: 1)])
    subscription?.unsubscribe()
  }

  @Test("An alias that names nothing before and after a transaction tells nobody, whatever it named meanwhile")
  func namedInVain() {
    let (log, list) = (Log<Tag?>(), Log<[Tag]?>())
    let subscription = store.find(named: .current).observe { log.append($0) }
    let other = store.find(named: .favourites).observe { list.append($0) }
    store.store(Tag(id: 3, text: 3), named: .current)
    store.remove(Tag.self, id: 3)
    let before = log.values
    for _ in 0..<2 {
      store.transaction { tx in
        tx.store(Tag(id: 1, text: 1), named: .current)
        tx.store([Tag(id: 1, text: 1)], named: .favourites)
        tx.removeAlias(named: .current)
        tx.removeAlias(named: .favourites)
      }
    }
    #expect(before == [nil, Tag(id: 3, text: 3), nil])
    #expect(log.values == before)
    #expect(list.values == [nil])
    subscription.unsubscribe()
    other.unsubscribe()
  }

  @Test("An alias that is first looked for, and observed, in a transaction tells once that it names nothing")
  func observedInside() {
    let (log, list) = (Log<Tag?>(), Log<[Tag]?>())
    let kept = Kept<[Subscription]>()
    store.transaction { tx in
      kept.value = [
        tx.find(named: .current).observe { log.append($0) }, tx.find(named: .favourites).observe { list.append($0) },
      ]
    }
    #expect(log.values == [nil])
    #expect(list.values == [nil])
    try? store.transaction { tx in
      tx.store(Tag(id: 0, text: 0), named: .current)
      throw Refused()
    }
    #expect(log.values == [nil])
    store.store(Tag(id: 0, text: 0), named: .current)
    store.store([Tag(id: 0, text: 0)], named: .favourites)
    #expect(log.values == [nil, Tag(id: 0, text: 0)])
    #expect(list.values == [nil, [Tag(id: 0, text: 0)]])
    for subscription in kept.value ?? [] { subscription.unsubscribe() }
  }
}
