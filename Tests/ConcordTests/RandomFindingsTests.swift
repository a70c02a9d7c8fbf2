import Concord
import Testing

/// What the random test has found, each as its smallest case.
@Suite("Found by the random test")
struct RandomFindingsTests {
  let store = EntityStore(delivery: .immediate)

  @Test("After removeAll an observer's last value is whole")
  func removeAll() {
    let person = Person(id: 1, name: 3, partner: Person(id: 2, name: 0, slot: .tag(Tag(id: 3, text: 1))))
    let observer = store.store(person)
    store.removeAll()
    #expect(observer.value == person)
  }

  @Test("What stands inside a value that loses counts all the same")
  func insideLoser() {
    let tag = store.store(Tag(id: 5, text: 0))
    store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 0, tag: Tag(id: 5, text: 7)), Person(id: 1, name: 0)]))
    #expect(tag.value.text == 7)
  }

  @Test("In ifPresent what the closure changed beats what it did not, further out or not")
  func ifPresentInner() {
    let observer = store.store(Person(id: 20, name: 0))
    let inner = Person(id: 21, name: 1, friends: [Person(id: 21, name: 1), Person(id: 22, name: 0)])
    store.store(Person(id: 20, name: 0, friends: [inner])) { $0.friends[0].friends[0].name = 3 }
    #expect(observer.value.friends == [Person(id: 21, name: 3)])
  }

  @Test("Of several values of one new entity in a closure's result the last wins", arguments: 0..<3)
  func newInUpdate(way: Int) {
    let new = [1, 0, 1].map { Person(id: 1, name: $0) }
    let observer = store.store(Person(id: 0, name: 0))
    switch way {
    case 0: store.update(Person.self, id: 0) { $0.friends = new }
    case 1:
      // The closure writes too, so that what it was given is not the store's.
      store.update(Person.self, id: 0) { person in
        store.store(Tag(id: 5, text: 0))
        person.friends = new
      }
    default: store.store(Person(id: 0, name: 0)) { $0.friends = new }
    }
    #expect(observer.value.friends.map(\.name) == [1, 1, 1])
    #expect(store.value(Person.self, id: 1)?.name == 1)
  }

  @Test("Also if the closure was given the entity, which is not stored")
  func newAndGiven() {
    let observer = store.store(Person(id: 0, name: 0))
    store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 5)])) { person in
      person.friends = [1, 0, 1].map { Person(id: 1, name: $0) }
    }
    #expect(observer.value.friends.map(\.name) == [1, 1, 1])
  }

  @Test("In ifPresent the outermost of what the closure changed wins")
  func ifPresentOuter() {
    let observer = store.store(Person(id: 0, name: 0))
    store.store(Person(id: 0, name: 0)) { $0.friends = [Person(id: 0, name: 3), Person(id: 2, name: 1)] }
    #expect(observer.value.name == 0)
    #expect(observer.value.friends.map(\.id) == [0, 2])
  }

  @Test("In ifPresent relations are those of the incoming value")
  func ifPresentRelations() {
    let other = store.store(Person(id: 0, name: 2, partner: Person(id: 3, name: 0)))
    let observer = store.store(Person(id: 2, name: 0))
    store.store(Person(id: 2, name: 0, partner: Person(id: 0, name: 1))) { $0.partner?.name = 2 }
    #expect(other.value == Person(id: 0, name: 2))
    #expect(observer.value.partner == Person(id: 0, name: 2))
  }

  @Test("A paused observer of what was changed and removed is told the last value when it resumes")
  func pausedAndRemoved() {
    let log = Log<Int>()
    let observer = store.store(Team(id: 0, name: 0, lead: Person(id: 2, name: 2)))
    let subscription = observer.observe { log.append($0.lead.name) }
    subscription.pause()
    store.update(Person.self, id: 2) { $0.name = 1 }
    store.remove(Team.self, id: 0)
    subscription.resume()
    #expect(log.values == [2, 1])
    subscription.unsubscribe()
  }

  @Test("After a birth that was undone an observer gets its first call")
  func birthUndone() {
    let log = Log<Int?>()
    let waiting = store.observer(Note.self, id: 0)
    try? store.transaction { store in
      store.store(Work(id: 0, title: 0, note: Note(id: 0, text: 0)))
      throw Refused()
    }
    let subscription = waiting.observe { log.append($0?.text) }
    #expect(log.values == [nil])
    store.store(Note(id: 0, text: 1))
    let second = store.find(Note.self, id: 0)?.observe { log.append($0.text) }
    #expect(log.values == [nil, 1, 1])
    subscription.unsubscribe()
    second?.unsubscribe()
  }

  @Test("A collection kept from a transaction that threw can be let go of")
  func collectionUndone() {
    let kept = Kept<EntityObserver<[Tag]>>()
    for _ in 0..<3 {
      try? store.transaction { store in
        kept.value = store.store((0..<3).map { Tag(id: $0, text: $0) }, named: "tags")
        throw Refused()
      }
      kept.value = nil
      #expect(store._checkInvariants().isEmpty)
      #expect(store._statistics().entities == 0)
    }
  }

  @Test("A set or a dictionary that is equal in another order is equal")
  func otherOrder() {
    let log = Log<Work>()
    let tags = (0..<20).map { Tag(id: $0, text: 0) }
    func work(_ tags: [Tag], capacity: Int) -> Work {
      var set = Set<Tag>(minimumCapacity: capacity)
      var dictionary = [String: Tag](minimumCapacity: capacity)
      for tag in tags {
        set.insert(tag)
        dictionary["\(tag.id)"] = tag
      }
      return Work(id: 0, title: 0, tags: set, byKey: dictionary)
    }
    let observer = store.store(work(tags, capacity: 20))
    let subscription = observer.observe { log.append($0) }
    for capacity in [20, 50, 100, 500] { store.store(work(tags.reversed(), capacity: capacity)) }
    #expect(log.count == 1)
    store.update(Tag.self, id: 7) { $0.text = 1 }
    #expect(log.last?.byKey["7"]?.text == 1)
    #expect(log.last?.tags.contains(Tag(id: 7, text: 1)) == true)
    subscription.unsubscribe()
  }

  @Test("An alias pointed at another id leaves the stamp of the one before alone")
  func repointed() {
    struct Renamed: Identifiable, Equatable {
      var id: Int
      var text = 0
    }
    let key: AliasKey<Renamed> = "alias"
    let observer = store.store(Renamed(id: 0), named: key, modifiedAt: 30)
    #expect(store.update(named: key, modifiedAt: 54) { $0.id = 3 })
    #expect(store.update(Renamed.self, id: 0, modifiedAt: 50) { $0.text = 1 })
    #expect(observer.value.text == 1)
  }

  @Test("An update of an alias that changes the id and a child changes that child, and nothing else")
  func repointedWithChild() {
    struct Shelf: Aggregate, Equatable {
      var id: Int
      var first: Tag
      var second: Tag
      var third: Tag
      var person: Person
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
        [.init(\.first), .init(\.second), .init(\.third), .init(\.person)]
      }
    }
    let key: AliasKey<Shelf> = "shelf"
    let tag = Tag(id: 0, text: 3)
    let friends = [Person(id: 1, name: 0, friends: [Person(id: 0, name: 0)])]
    let person = Person(id: 0, name: 0, friends: friends)
    store.store(Shelf(id: 0, first: tag, second: tag, third: tag, person: person), named: key)
    store.update(named: key) { shelf in
      shelf.id = 2
      shelf.first.text = 0
    }
    let shelf = store.find(named: key).value
    #expect(shelf?.id == 2)
    #expect([shelf?.first.text, shelf?.second.text, shelf?.third.text] == [0, 0, 0])
    #expect(shelf?.person == Person(id: 0, name: 0, friends: [Person(id: 1, name: 0)]))
    #expect(store.find(Person.self, id: 1)?.value.friends == [Person(id: 0, name: 0)])
  }

  @Test("A note that was not touched is not told at the end of the transaction it was observed in")
  func untouchedNote() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let note = store.store(Note(id: 0, text: 0))
    store.transaction { store in
      store.update(Note.self, id: 0) { _ in }
      kept.value = note.observe { log.append($0.text) }
    }
    #expect(log.values == [0])
    kept.value?.unsubscribe()
  }

  @Test("Nil and empty are different, in update too")
  func nilAndEmpty() {
    let team = Team(id: 0, name: 0, lead: Person(id: 2, name: 0), mates: nil)
    let observer = store.store(Person(id: 0, name: 0, team: team))
    store.update(Person.self, id: 0) { $0.team?.mates = [] }
    #expect(observer.value.team?.mates == [])
    store.update(Person.self, id: 0) { $0.team?.mates = nil }
    #expect(observer.value.team?.mates == nil)
    let other = store.store(Person(id: 1, name: 0))
    store.update(Person.self, id: 1) {
      $0.team = team
      $0.team?.mates = []
    }
    #expect(other.value.team?.mates == [])
  }

  @Test("An observe inside a transaction shows what was committed, of children too")
  func observeInside() {
    let log = Log<Int?>()
    let kept = Kept<Subscription>()
    let observer = store.store(Person(id: 1, name: 0, partner: Person(id: 2, name: 2)))
    store.transaction { store in
      store.store(Person(id: 2, name: 0))
      kept.value = observer.observe { log.append($0.partner?.name) }
    }
    #expect(log.values == [2, 0])
    kept.value?.unsubscribe()
  }

  @Test("What a call both brings and leaves behind is released")
  func leftBehind() {
    let team = store.store(Team(id: 0, name: 0, lead: Person(id: 2, name: 0, tag: Tag(id: 0, text: 1))))
    store.store(
      Person(
        id: 1, name: 0, friends: [Person(id: 2, name: 0, tag: Tag(id: 2, text: 0))], tag: Tag(id: 0, text: 2),
        team: Team(id: 0, name: 0, lead: Person(id: 2, name: 0))))
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(team.value.lead.tag?.id == 2)
  }

  @Test("removeAll does not tell an alias nil that was nil")
  func removeAllTwice() {
    let log = Log<Tag?>()
    let key: AliasKey<Tag> = "tag"
    let tag = store.store(Tag(id: 0, text: 0), named: key)
    let found = store.find(named: key)
    _ = store.transaction { $0.remove(Tag.self, id: 0) }
    let subscription = found.observe { log.append($0) }
    store.removeAll()
    #expect(log.values == [nil])
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
  }

  @Test("An entity put at a new place as it is keeps its stamp, also with a changed child")
  func newPlaceChangedChild() {
    let first = store.store(
      Person(id: 1, name: 0, team: Team(id: 0, name: 2, lead: Person(id: 2, name: 1))), modifiedAt: 33)
    let second = store.store(Person(id: 0, name: 0), modifiedAt: 33)
    store.update(Person.self, id: 0, modifiedAt: 44) { $0.team = Team(id: 0, name: 2, lead: Person(id: 2, name: 5)) }
    #expect(first.value.team?.lead.name == 5)
    #expect(store.update(Team.self, id: 0, modifiedAt: 44) { $0.name = 3 })
    #expect(!store.update(Person.self, id: 2, modifiedAt: 44) { $0.name = 3 })
    #expect(second.value.team?.name == 3)
  }

  @Test("What moved with a changed child is not written itself")
  func movedWithChangedChild() {
    let observer = store.store(
      Person(
        id: 2, name: 0, friends: [Person(id: 1, name: 0), Person(id: 0, name: 3, tag: Tag(id: 3, text: 1))]),
      modifiedAt: 10)
    store.update(Person.self, id: 2, modifiedAt: 50) { person in
      person.friends.removeFirst()
      person.friends[0].tag?.text = 2
    }
    #expect(observer.value.friends == [Person(id: 0, name: 3, tag: Tag(id: 3, text: 2))])
    #expect(store.update(Person.self, id: 0, modifiedAt: 20) { $0.name = 4 })
    #expect(!store.update(Tag.self, id: 3, modifiedAt: 20) { $0.text = 4 })
  }

  @Test("Two observers of what is born in a transaction are both called at its end")
  func bornTwice() {
    let log = Log<Int>()
    let kept = Kept<[Subscription]>()
    store.transaction { store in
      let observer = store.store(Tag(id: 2, text: 0))
      kept.value = (0..<2).map { number in observer.observe { log.append(number * 100 + $0.text) } }
      #expect(log.values == [])
      store.update(Tag.self, id: 2) { $0.text = 1 }
    }
    #expect(log.values.sorted() == [1, 101])
    kept.value = nil
  }

  @Test("A waiting observer, observed inside a transaction, shows what was committed below it")
  func observeWaitingInside() {
    let log = Log<Int?>()
    let kept = Kept<Subscription>()
    let group = store.store(
      Group(
        id: 0, name: 0, owner: Person(id: 1, name: 0),
        members: [Person(id: 2, name: 0, slot: .tag(Tag(id: 0, text: 0)))]))
    let waiting = store.observer(Person.self, id: 2)
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 2 }
      #expect(waiting.value?.slot.tag?.text == 2)
      kept.value = waiting.observe { log.append($0?.slot.tag?.text) }
    }
    #expect(log.values == [0, 2])
    kept.value?.unsubscribe()
    withExtendedLifetime(group) {}
  }

  @Test("A note that is written again counts as changed, in whatever order its parent stood")
  func noteWrittenAgain() {
    let log = Log<Int>()
    let work = store.store(Work(id: 0, title: 2))
    let subscription = work.observe { log.append($0.title) }
    let tag = Tag(id: 2, text: 1)
    let inner = Meta.Inner(
      tag: Tag(id: 3, text: 2),
      work: Work(
        id: 0, title: 2, tags: [Tag(id: 0, text: 3), Tag(id: 2, text: 3)], byKey: ["1": tag, "2": Tag(id: 3, text: 0)],
        note: Note(id: 0, text: 0)))
    let observer = store.store(Group(id: 0, name: 0, owner: Person(id: 2, name: 3), meta: Meta(inner: inner)))
    store.store(Tag(id: 3, text: 1))
    let before = log.values.count
    var group = observer.value
    store.store(group)
    #expect(log.values.count == before + 1)
    group.meta.inner.work?.byKey["2"]?.text = 3
    store.store(group)
    #expect(log.values.count == before + 2)
    subscription.unsubscribe()
  }

  @Test("A note that was written only in what was undone does not count as written")
  func writtenAndUndone() {
    struct Undo: Error {}
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    let note = store.store(Note(id: 0, text: 0))
    store.transaction { store in
      kept.value = note.observe { log.append($0.text) }
      store.update(Note.self, id: 0) { _ in }
      try? store.transaction { store in
        store.update(Note.self, id: 0) { $0.text = 2 }
        throw Undo()
      }
    }
    #expect(log.values == [0])
    kept.value?.unsubscribe()
  }

  @Test("What was born and removed in one transaction shows its last value, whoever looked meanwhile")
  func bornAndRemoved() {
    let log = Log<Int>()
    let kept = Kept<(EntityObserver<Team>, Subscription)>()
    store.transaction { store in
      let team = store.store(Team(id: 0, name: 3, lead: Person(id: 1, name: 0), mates: [Person(id: 2, name: 0)]))
      store.remove(Person.self, id: 1)
      guard let mate = store.find(Person.self, id: 2) else { return }
      kept.value = (team, mate.observe { _ in })
    }
    let subscription = kept.value?.0.observe { log.append($0.name) }
    #expect(log.values == [3])
    subscription?.unsubscribe()
    kept.value?.1.unsubscribe()
  }

  @Test("An observe inside a transaction does not keep what comes after it from being undone")
  func undoneAfterObserving() {
    let kept = Kept<Subscription>()
    let tag = store.store(Tag(id: 0, text: 0))
    let waiting = store.observer(Tag.self, id: 1)
    try? store.transaction { store in
      kept.value = waiting.observe { _ in }
      store.store(Tag(id: 2, text: 0), named: "two")
      store.update(Tag.self, id: 0) { $0.text = 1 }
      throw Refused()
    }
    #expect(tag.value.text == 0)
    #expect(store.find(Tag.self, id: 2) == nil)
    kept.value?.unsubscribe()
  }

  @Test("An observe inside a transaction does not keep others from being told of what comes after it")
  func toldAfterObserving() {
    let log = Log<Int?>()
    let kept = Kept<Subscription>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let tag = store.store(Tag(id: 1, text: 0))
    let subscription = person.observe { log.append($0.tag?.text) }
    store.transaction { store in
      kept.value = tag.observe { _ in }
      store.store(Work(id: 0, title: 0, byKey: ["1": Tag(id: 0, text: 1)]))
    }
    #expect(log.values == [0, 1])
    subscription.unsubscribe()
    kept.value?.unsubscribe()
  }

  @Test("An optional that waits, observed inside the transaction that brings it up to date, is told at the end")
  func waitingObservedInside() {
    let log = Log<[Int]>()
    let kept = Kept<Subscription>()
    let waiting = store.observer(Work.self, id: 0)
    store.store(Work(id: 0, title: 0, byKey: ["1": Tag(id: 0, text: 0)]))
    store.transaction { store in
      kept.value = waiting.observe { log.append([$0?.title ?? -1, $0?.byKey["1"]?.text ?? -1]) }
      store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 1)), named: "person")
    }
    #expect(log.values == [[0, 0], [0, 1]])
    kept.value?.unsubscribe()
  }

  @Test("An observer is told of what comes back after removeAll inside of something else")
  func backAfterRemoveAll() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    store.removeAll()
    let again = Tag(id: 0, text: 2)
    let group = store.store(
      Group(id: 0, name: 0, owner: Person(id: 0, name: 0), tags: [again], meta: Meta(inner: .init(tag: again))))
    #expect(log.values == [0, 2])
    subscription.unsubscribe()
    withExtendedLifetime(group) {}
  }

  @Test("What an update in a transaction that threw has touched is told of afterwards")
  func toldAfterThrowing() {
    let log = Log<Int>()
    let person = store.store(Person(id: 0, name: 0, slot: .person(Person(id: 1, name: 0))))
    store.store(
      Person(id: 1, name: 0, team: Team(id: 0, name: 0, lead: Person(id: 2, name: 0))), named: "person")
    let subscription = person.observe { log.append($0.slot.person?.name ?? -1) }
    try? store.transaction { store in
      store.update(Team.self, id: 0) { _ in }
      throw Refused()
    }
    store.update(Person.self, id: 1) { $0.name = 1 }
    #expect(log.values == [0, 1])
    #expect(store._checkInvariants().isEmpty)
    subscription.unsubscribe()
  }

  @Test("In ifPresent an entity under two keys is compared key by key")
  func ifPresentUnderTwoKeys() {
    let observer = store.store(Clan(id: 0, name: 0))
    var clan = Clan(id: 0, name: 0)
    clan.byKey = ["1": Clan(id: 1, name: 1), "2": Clan(id: 1, name: 2)]
    clan.row = Row([Clan(id: 1, name: 3)])
    store.store(clan) { $0.name = 1 }
    // None of them was changed, so the last in the order of the relations wins.
    #expect(observer.value.name == 1)
    #expect(observer.value.row.map(\.name) == [3])
    #expect(observer.value.byKey?.values.map(\.name) == [3, 3])
  }

  @Test("An element of a set that changes far below is told of once, whatever is done next")
  func setToldOnce() {
    let log = Log<Int>()
    let tags = (0..<12).map { Tag(id: $0, text: $0 == 1 ? 2 : 0) }
    let work = Work(id: 0, title: 0, tags: Set(tags), note: Note(id: 0, text: 3))
    let group = store.store(Group(id: 0, name: 0, owner: Person(id: 1, name: 0), shelves: ["2": work]))
    let subscription = group.observe { log.append($0.shelves?["2"]?.tags.map(\.text).max() ?? -1) }
    let tag = store.store(Tag(id: 1, text: 1))
    for id in 0..<4 { _ = store.find(Tag.self, id: id)?.value }
    let other = store.store(Tag(id: 2, text: 0))
    #expect(log.values == [2, 1])
    subscription.unsubscribe()
    withExtendedLifetime((tag, other)) {}
  }
}
