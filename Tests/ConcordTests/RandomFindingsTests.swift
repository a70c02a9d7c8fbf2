import Concord
import Testing

/// What the random test has found, each as its smallest case.
@Suite("Found by the random test")
struct RandomFindingsTests {
  let store = EntityStore(delivery: .immediate)

  @Test("A friend of herself, with something else below, is released")
  func selfLoop() {
    store.store(Person(id: 2, name: 0, friends: [Person(id: 2, name: 0)], tag: Tag(id: 0, text: 0)))
    #expect(store.find(Person.self, id: 2) == nil)
    #expect(store.find(Tag.self, id: 0) == nil)
  }

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

  @Test("Several equal old copies before the value that wins are all brought up to date")
  func equalLosers() {
    let group = store.store(
      Group(
        id: 1, name: 0, owner: Person(id: 2, name: 0), tags: [Tag(id: 2, text: 2), Tag(id: 2, text: 2)],
        pair: Pair(first: Tag(id: 2, text: 0), second: Tag(id: 3, text: 1))))
    #expect(group.value.tags?.map(\.text) == [0, 0])
    #expect(group.value.pair?.first.text == 0)
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
    let person = Person(id: 0, name: 0, friends: [Person(id: 1, name: 0, friends: [Person(id: 0, name: 0)])])
    store.store(Shelf(id: 0, first: tag, second: tag, third: tag, person: person), named: key)
    store.update(named: key) { shelf in
      shelf.id = 2
      shelf.first.text = 0
    }
    let shelf = store.find(named: key).value
    #expect(shelf?.id == 2)
    #expect([shelf?.first.text, shelf?.second.text, shelf?.third.text] == [0, 0, 0])
    #expect(shelf?.person == person)
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

  @Test("A changed copy of the target, put below it, counts when the target itself was not changed")
  func belowTarget() {
    let observer = store.store(Person(id: 1, name: 2, team: Team(id: 0, name: 0, lead: Person(id: 2, name: 0))))
    store.update(Person.self, id: 1) { $0.team?.lead = Person(id: 1, name: 3) }
    #expect(observer.value == Person(id: 1, name: 3))
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

  @Test("A person who occurs in herself several times, with other relations each time")
  func severalTimesInHerself() {
    let herself = Person(id: 1, name: 0, slot: .person(Person(id: 2, name: 0)))
    let observer = store.store(
      Person(
        id: 1, name: 1,
        friends: [
          Person(
            id: 1, name: 0, friends: [Person(id: 0, name: 0), Person(id: 0, name: 2)],
            slot: .person(Person(id: 2, name: 1)))
        ],
        tag: Tag(id: 3, text: 1), team: Team(id: 0, name: 1, lead: herself, mates: [herself]),
        slot: .tag(Tag(id: 0, text: 2))))
    let far = Person(id: 1, name: 1, tag: Tag(id: 3, text: 1), slot: .tag(Tag(id: 0, text: 2)))
    #expect(observer.value.friends == [far])
    #expect(observer.value.team == Team(id: 0, name: 1, lead: far, mates: [far]))
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("An edit of a far form leaves the relations of others alone")
  func farEditOfAnother() {
    let observer = store.store(
      Person(
        id: 1, name: 0,
        partner: Person(
          id: 2, name: 0, partner: Person(id: 1, name: 1),
          team: Team(id: 0, name: 2, lead: Person(id: 0, name: 1), mates: [])),
        team: Team(
          id: 0, name: 3, lead: Person(id: 2, name: 1), mates: [Person(id: 2, name: 0), Person(id: 1, name: 1)])))
    let before = observer.value
    store.update(Team.self, id: 0) { $0.lead.name = 1 }
    #expect(observer.value.partner?.id == before.partner?.id)
    #expect(observer.value.team?.id == before.team?.id)
    #expect(store.find(Person.self, id: 2)?.value.name == 1)
  }

  @Test("Somebody who stops being her own neighbour is brought up to date everywhere")
  func endOfSelfLoop() {
    let person = store.observer(Person.self, id: 2)
    store.store([Person(id: 2, name: 2, slot: .person(Person(id: 2, name: 2)))])
    let team = store.observer(Team.self, id: 0)
    let group = store.store(
      Group(
        id: 0, name: 1, owner: Person(id: 0, name: 1),
        members: [Person(id: 0, name: 3, team: Team(id: 0, name: 1, lead: Person(id: 1, name: 2)))],
        item: .work(Work(id: 0, title: 1, tags: [Tag(id: 3, text: 1)]))))
    let last = store.store(
      Person(
        id: 1, name: 1,
        friends: [
          Person(
            id: 1, name: 2, team: Team(id: 0, name: 3, lead: Person(id: 2, name: 0)), slot: .tag(Tag(id: 1, text: 1)))
        ],
        partner: Person(id: 2, name: 0, tag: Tag(id: 1, text: 0)), tag: Tag(id: 3, text: 0)))
    #expect(store.find(Tag.self, id: 1)?.value.text == 0)
    #expect(person.value?.tag?.text == 0)
    #expect(team.value?.lead.tag?.text == 0)
    #expect(group.value.members[0].team?.lead.tag?.text == 0)
    withExtendedLifetime(last) {}
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

  @Test("Under another id the edit of a far form keeps what was left out")
  func farEditUnderAnotherID() {
    struct Circle: Aggregate, Equatable {
      var id: Int
      var people: [Person]
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.people)] }
    }
    let key: AliasKey<Circle> = "circle"
    let friend = Person(id: 1, name: 0, friends: [Person(id: 0, name: 0)])
    store.store(Circle(id: 0, people: [Person(id: 0, name: 0, friends: [friend])]), named: key)
    store.update(named: key) { circle in
      circle.people[0].friends[0].friends[0].name = 7
      circle.id = 1
    }
    #expect(
      store.find(named: key).value?.people == [
        Person(id: 0, name: 7, friends: [Person(id: 1, name: 0, friends: [Person(id: 0, name: 7)])])
      ])
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

  @Test("A person without relations, put far below herself, is what was put")
  func plainBelowHerself() {
    let observer = store.observer(Person.self, id: 2)
    store.store(
      Team(
        id: 0, name: 2,
        lead: Person(
          id: 2, name: 0, friends: [Person(id: 1, name: 2)], team: Team(id: 0, name: 3, lead: Person(id: 2, name: 1)))))
    store.update(Person.self, id: 2) {
      $0.friends[0].team = Team(id: 0, name: 0, lead: Person(id: 2, name: 2), mates: [])
    }
    #expect(observer.value == Person(id: 2, name: 2))
  }

  @Test("A closure that changes nothing changes nothing below a cycle")
  func unchangedAboveCycle() {
    let person = store.observer(Person.self, id: 0)
    let lead = Person(id: 0, name: 3)
    let group = store.store(
      Group(
        id: 1, name: 1,
        owner: Person(id: 2, name: 3, friends: [Person(id: 2, name: 2), Person(id: 0, name: 3)]),
        members: [Person(id: 0, name: 2, team: Team(id: 0, name: 3, lead: lead, mates: []))],
        tags: [Tag(id: 3, text: 0), Tag(id: 0, text: 2)],
        line: [Tag(id: 3, text: 0), Tag(id: 2, text: 0), Tag(id: 3, text: 0)], shelves: [:], item: .plain(2)))
    for id in 0..<3 { _ = store.find(Person.self, id: id)?.value }
    _ = store.find(Team.self, id: 0)?.value
    _ = group.value
    let before = person.value
    #expect(before?.team != nil)
    store.update(Group.self, id: 1) { _ in }
    #expect(person.value == before)
    withExtendedLifetime(group) {}
  }

  @Test("What is edited inside a far form that is edited itself counts, too")
  func insideEditedFarForm() {
    let friend = Person(id: 2, name: 0)
    let observer = store.store(Person(id: 1, name: 0, friends: [Person(id: 1, name: 0), friend]))
    store.update(Person.self, id: 1) { person in
      person.friends[0].name = 1
      person.friends[0].friends = [Person(id: 2, name: 5)]
    }
    let other = Person(id: 2, name: 5)
    #expect(
      observer.value == Person(id: 1, name: 1, friends: [Person(id: 1, name: 1, friends: [other]), other]))
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

  @Test("A friend twice in one list, once with relations that were left out")
  func friendTwice() {
    let observer = store.store(
      Person(id: 0, name: 1, friends: [Person(id: 2, name: 2, friends: [Person(id: 2, name: 1)])]))
    store.update(Person.self, id: 0) {
      $0.friends = [Person(id: 2, name: 1), Person(id: 1, name: 0), Person(id: 2, name: 1)]
    }
    #expect(observer.value.friends[2].friends.map(\.id) == [2])
  }

  @Test("A team without mates, put at a new place, is not taken for one whose mates were left out")
  func nilIsNotEmpty() {
    let observer = store.observer(Person.self, id: 0)
    store.store(
      Team(
        id: 0, name: 1, lead: Person(id: 1, name: 0, team: Team(id: 0, name: 1, lead: Person(id: 1, name: 3))),
        mates: [Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)])]),
      named: "team")
    store.update(Person.self, id: 1) { person in
      person.team?.mates?[0].team = Team(id: 0, name: 0, lead: Person(id: 1, name: 3))
    }
    #expect(store.find(Team.self, id: 0)?.value.mates == nil)
    #expect(observer.value?.team?.mates == nil)
  }

  @Test("A far form changed under another root's id keeps what was left out")
  func farFormUnderAnotherRoot() {
    let key: AliasKey<Person> = "person"
    store.store(Person(id: 2, name: 3), named: key)
    let kept = store.store([
      Person(
        id: 0, name: 2, team: Team(id: 0, name: 2, lead: Person(id: 1, name: 3), mates: []),
        slot: .tag(Tag(id: 3, text: 2))),
      Person(
        id: 2, name: 1, friends: [Person(id: 2, name: 3), Person(id: 0, name: 0)], partner: Person(id: 0, name: 0)),
      Person(id: 1, name: 1, friends: [Person(id: 0, name: 3)]),
    ])
    for id in 0..<3 { _ = store.find(Person.self, id: id)?.value }
    store.update(named: key) {
      $0 = Person(
        id: 1, name: $0.name, friends: [Person(id: 1, name: 2), Person(id: 0, name: 2), Person(id: 2, name: 2)],
        partner: $0.partner)
    }
    #expect(kept.value[0].team?.id == 0)
    #expect(kept.value[0].slot == .empty)
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

  @Test("What moved out of a cycle keeps what was left out, though the call changes the cycle")
  func movedWhileTheCycleChanges() {
    let key: AliasKey<[Person]> = "people"
    let group = store.store(
      Group(
        id: 0, name: 2, owner: Person(id: 1, name: 0), item: .work(Work(id: 0, title: 2, tags: [Tag(id: 3, text: 2)]))))
    store.store(
      [
        Person(id: 0, name: 3, friends: [Person(id: 1, name: 2)]),
        Person(id: 1, name: 1, partner: Person(id: 0, name: 1)),
      ], named: key)
    for id in 0..<2 { _ = store.find(Person.self, id: id)?.value }
    _ = group.value
    let team = Team(id: 0, name: 1, lead: Person(id: 1, name: 3), mates: [])
    store.update(named: key) { $0.append(Person(id: 0, name: 1, tag: Tag(id: 3, text: 3), team: team)) }
    #expect(store.find(Person.self, id: 1)?.value.name == 3)
    #expect(store.find(Person.self, id: 1)?.value.partner?.id == 0)
  }
}
