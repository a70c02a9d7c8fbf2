import Concord
import Testing

/// What the random test has found in cycles, each as its smallest case.
@Suite("Found by the random test in cycles")
struct RandomFindingsInCyclesTests {
  let store = EntityStore(delivery: .immediate)

  @Test("In ifPresent what stands in an entity that the closure brought in is an edit, too")
  func broughtIn() {
    let keep = store.store(Team(id: 0, name: 0, lead: Person(id: 1, name: 0)))
    let given = Team(
      id: 0, name: 0, lead: Person(id: 1, name: 0), mates: [Person(id: 0, name: 1, tag: Tag(id: 0, text: 1))])
    store.store(given) { team in
      team.lead = Person(id: 2, name: 2, partner: Person(id: 3, name: 3, friends: [Person(id: 0, name: 7)]))
    }
    #expect(store.value(Person.self, id: 0)?.name == 7)
    #expect(store.value(Person.self, id: 0)?.tag == nil)
    #expect(keep.value.mates?.map(\.name) == [7])
  }

  @Test(
    "In ifPresent what moved and got other friends is compared with what it was, not with another value of its entity")
  func movedWithOtherFriends() {
    let keep = store.store(Person(id: 2, name: 1, friends: [Person(id: 1, name: 1)]))
    var brief = Person(id: 2, name: 0)
    brief.friends = omitted()
    let given = Team(
      id: 0, name: 0, lead: Person(id: 0, name: 0, friends: [brief]), mates: [Person(id: 2, name: 1)])
    let team = store.store(Team(id: 0, name: 1, lead: Person(id: 1, name: 1)))
    store.store(given) { team in
      // Its friends were not shown: that edit is refused, and the name is as it was given.
      team.mates = [
        Person(id: 3, name: 3, friends: [Person(id: 2, name: 2)]),
        Person(id: 2, name: 0, friends: [Person(id: 3, name: 3)]),
      ]
    }
    #expect(keep.value.name == 2)
    #expect(keep.value.friends.isEmpty)
    #expect(team.value.mates?.map(\.name) == [3, 2])
  }

  @Test("A friend of herself, with something else below, is released")
  func selfLoop() {
    store.store(Person(id: 2, name: 0, friends: [Person(id: 2, name: 0)], tag: Tag(id: 0, text: 0)))
    #expect(store.find(Person.self, id: 2) == nil)
    #expect(store.find(Tag.self, id: 0) == nil)
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

  @Test("A changed copy of the target, put below it, counts when the target itself was not changed")
  func belowTarget() {
    let observer = store.store(Person(id: 1, name: 2, team: Team(id: 0, name: 0, lead: Person(id: 2, name: 0))))
    store.update(Person.self, id: 1) { $0.team?.lead = Person(id: 1, name: 3) }
    #expect(observer.value == Person(id: 1, name: 3))
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
    let brief = Person(id: 1, name: 1, tag: Tag(id: 3, text: 1), slot: .tag(Tag(id: 0, text: 2)))
    #expect(observer.value.friends == [brief])
    #expect(observer.value.team == Team(id: 0, name: 1, lead: brief, mates: []))
    #expect(store.find(Team.self, id: 0)?.value == Team(id: 0, name: 1, lead: brief, mates: [brief]))
    #expect(store._checkInvariants().isEmpty)
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

  @Test("A person without relations, put into her own team below herself, keeps the team, and has no friends")
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
    let lead = Person(id: 2, name: 2)
    #expect(observer.value == Person(id: 2, name: 2, team: Team(id: 0, name: 0, lead: lead, mates: [])))
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

  @Test("What stands inside an edit that is refused is refused with it")
  func insideRefusedEdit() {
    let friend = Person(id: 2, name: 0)
    let observer = store.store(Person(id: 1, name: 0, friends: [Person(id: 1, name: 0), friend]))
    store.update(Person.self, id: 1) { person in
      person.friends[0].name = 1
      person.friends[0].friends = [Person(id: 2, name: 5)]
    }
    #expect(observer.value == Person(id: 1, name: 1, friends: [Person(id: 1, name: 1), friend]))
  }

  @Test("A friend twice in one list, both times with no friends, has none")
  func friendTwice() {
    let observer = store.store(
      Person(id: 0, name: 1, friends: [Person(id: 2, name: 2, friends: [Person(id: 2, name: 1)])]))
    store.update(Person.self, id: 0) {
      $0.friends = [Person(id: 2, name: 1), Person(id: 1, name: 0), Person(id: 2, name: 1)]
    }
    #expect(observer.value.friends == [Person(id: 2, name: 1), Person(id: 1, name: 0), Person(id: 2, name: 1)])
  }

  @Test("Nil at a place that leads into a cycle only from now on is nil")
  func nilOutsideOfTheCycle() {
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
    #expect(store.find(Person.self, id: 1)?.value.partner == nil)
    #expect(store.find(Person.self, id: 0)?.value.team?.lead == Person(id: 1, name: 3))
  }

  @Test("A cycle that grows is told to those only whose values change", arguments: [false, true])
  func cycleGrows(inTransaction: Bool) {
    let log = Log<Team>()
    let lead = Person(id: 0, name: 0)
    let person = store.store(
      Person(
        id: 0, name: 0, friends: [lead, Person(id: 1, name: 0)], team: Team(id: 0, name: 0, lead: lead, mates: [])))
    let other = store.store(Person(id: 2, name: 0, friends: [person.value]))
    let friends = Log<[Person]>()
    let team = store.find(Team.self, id: 0)?.observe { log.append($0) }
    let subscription = other.observe { friends.append($0.friends) }
    let change = { _ = store.update(Person.self, id: 1) { $0.partner = other.value } }
    if inTransaction { store.transaction { _ in change() } } else { change() }
    #expect(log.count == 1)
    #expect(log.last == store.find(Team.self, id: 0)?.value)
    // Until now the friend was shown whole, with her own friends.
    #expect(friends.count == 2)
    #expect(friends.last?.map(\.friends.isEmpty) == [true])
    #expect(person.value.friends.map(\.id) == [0, 1])
    team?.unsubscribe()
    subscription.unsubscribe()
  }

  @Test("A wrapper that was shown, in another of the same cycle, can be edited")
  func wrapperThatWasShown() {
    let tag = store.store(Tag(id: 2, text: 0))
    let observer = store.store(
      Person(
        id: 0, name: 0, friends: [Person(id: 1, name: 0, friends: [Person(id: 0, name: 0)])],
        slot: .person(Person(id: 1, name: 0))))
    store.update(Person.self, id: 0) { $0.friends.append(Person(id: 0, name: 1, slot: .tag(Tag(id: 2, text: 1)))) }
    #expect(tag.value.text == 1)
    #expect(observer.value.id == 0)
    let other = store.observer(Person.self, id: 0)
    store.update(Person.self, id: 0) { $0.slot = .person(Person(id: 0, name: 3, slot: .tag(Tag(id: 2, text: 2)))) }
    #expect(tag.value.text == 2)
    withExtendedLifetime(other) {}
  }

  @Test("Inside a transaction somebody who left a cycle shows others whole")
  func leftTheCycle() {
    let observer = store.store(
      Team(
        id: 0, name: 0,
        lead: Person(
          id: 1, name: 0,
          partner: Person(
            id: 0, name: 0, partner: Person(id: 2, name: 0, team: Team(id: 0, name: 0, lead: Person(id: 1, name: 0)))))
      ))
    let kept = store.find(Person.self, id: 1)
    #expect(kept?.value.partner?.partner == nil)
    store.transaction { store in
      let lead = store.find(Person.self, id: 0)?.value ?? Person(id: 0, name: 0)
      store.store(Team(id: 0, name: 1, lead: lead))
      #expect(kept?.value.partner?.partner?.id == 2)
    }
    #expect(observer.value.lead.id == 0)
  }

  @Test("What a derived relation shows once something else is removed is the newest")
  func shownAfterRemoval() {
    let pod = store.store(
      Pod(
        id: 0, mode: .showsTop, main: Leaf(id: 1, text: 0), list: [Leaf(id: 0, text: 9), Leaf(id: 1, text: 0)],
        slots: []))
    store.update(Leaf.self, id: 1) { $0.text = 5 }
    #expect(pod.value.top == Leaf(id: 0, text: 9))
    store.remove(Leaf.self, id: 0)
    #expect(pod.value.main == Leaf(id: 1, text: 5))
    #expect(pod.value.top == Leaf(id: 1, text: 5))
  }

  @Test("A refused edit raises no stamp")
  func refusedEditHasNoStamp() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let lead = Person(id: 0, name: 0)
    let observer = store.store(
      Person(
        id: 1, name: 0, friends: [Person(id: 0, name: 0, partner: Person(id: 1, name: 0))],
        team: Team(id: 0, name: 0, lead: lead)))
    store.update(Person.self, id: 1, modifiedAt: 7) { $0.team?.lead.partner = Person(id: 1, name: 0) }
    store.store(Person(id: 0, name: 1), modifiedAt: 1)
    #expect(observer.value.friends.map(\.name) == [1])
  }

  @Test("A setter is not called where nothing is newer")
  func setterIsNotCalled() {
    let pod = Pod(
      id: 0, mode: [.sorts, .showsTop], main: Leaf(id: 3, text: 0), list: [Leaf(id: 0, text: 9), Leaf(id: 1, text: 2)],
      slots: [])
    let observer = store.store(pod)
    try? store.transaction { store in
      store.update(Leaf.self, id: 0) { $0.text = 8 }
      throw Refused()
    }
    #expect(observer.value == pod)
    store.store(observer.value)
    #expect(observer.value == pod)
  }

  @Test("Inside itself an entity shows the newest of whom it cannot leave out")
  func newestOfRequired() {
    var friend = Clan(id: 2, name: 3)
    friend.inner = [Clan(id: 0, name: 2)]
    var clan = Clan(id: 0, name: 3)
    clan.badge = .clan(Clan(id: 0, name: 1))
    clan.setStubborn(friend)
    let observer = store.store(clan)
    #expect(observer.value.stubborn.map { isOmitted($0.inner) } == true)
    #expect(observer.value.badge?.clan?.stubborn.map { isOmitted($0.inner) } == true)
  }

  @Test("A cycle that was opened and closed again in one transaction tells nobody")
  func openedAndClosed() {
    let log = Log<[Person]>()
    let person = Person(
      id: 1, name: 1, friends: [Person(id: 2, name: 1), Person(id: 1, name: 1)])
    let observer = store.store([person])
    let subscription = observer.observe { log.append($0) }
    let (stored, count) = (observer.value, log.count)
    store.transaction { store in
      store.store(Person(id: 2, name: 2, partner: Person(id: 1, name: 2)))
      store.store(person)
    }
    #expect(observer.value == stored)
    #expect(log.count == count)
    subscription.unsubscribe()
  }

  @Test(
    "What a closure leaves as it was in another entity of the cycle stays, though it makes another one of what it was given"
  )
  func leftOutOfRenamed() {
    let inner = Person(id: 1, name: 0, partner: Person(id: 0, name: 2))
    let given = store.store(Person(id: 0, name: 1, friends: [inner]), named: "person")
    store.update(named: AliasKey<Person>("person")) { person in
      #expect(person.friends[0].partner == nil)
      person.friends[0].slot = .tag(Tag(id: 2, text: 1))
      person = Person(id: 2, name: person.name, friends: person.friends)
    }
    #expect(store.value(Person.self, id: 1)?.slot.tag?.text == 1)
    #expect(store.value(Person.self, id: 1)?.partner?.id == 0)
    #expect(store.find(named: AliasKey<Person>("person")).value?.id == 2)
    #expect(given.value.friends.map(\.id) == [1])
  }

  @Test(
    "What goes because of a setter that refuses keeps its last value whole, also where another place gave way",
    arguments: [false, true])
  func refusedAfterGivingWay(isFirst: Bool) {
    var middle = Clan(id: 2, name: 2)
    middle.setStubborn(Clan(id: 0, name: 0))
    var top = Clan(id: 1, name: 1)
    top.badges = [.plain(1), .clan(Clan(id: 0, name: 0))]
    // Which of the two is a parent of the removed one first.
    let first = isFirst ? store.store(middle) : nil
    let observer = store.store(top)
    store.update(Clan.self, id: 1) { $0.setStubborn(middle) }
    let (log, last) = (Log<Clan>(), observer.value)
    let subscription = observer.observe { log.append($0) }
    store.remove(Clan.self, id: 0)
    #expect(observer.isRemoved)
    #expect(observer.value == last)
    #expect(log.count == 1)
    #expect(store.count(Clan.self) == 0)
    withExtendedLifetime(first) {}
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }
}
