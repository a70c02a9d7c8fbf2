import Concord
import Testing

@Suite("Cycles")
struct CycleTests {
  let store = EntityStore(delivery: .immediate)

  @Test("A person shows her friends, and they show none that lead back to her")
  func whole() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 9, friends: [])])]))
    #expect(observer.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)]))
    #expect(store.find(Person.self, id: 1)?.value == Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)]))
  }

  @Test("A cycle closed in a second step shows the same")
  func twoSteps() {
    let first = store.store(Person(id: 0, name: 0))
    let second = store.store(Person(id: 1, name: 1, friends: [first.value]))
    store.update(Person.self, id: 0) { $0.friends = [second.value] }
    #expect(first.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)]))
    #expect(second.value == Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)]))
  }

  @Test("Above a cycle its members are whole")
  func above() {
    let lead = Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)])])
    let team = store.store(Team(id: 0, name: 0, lead: lead, mates: [Person(id: 1, name: 1)]))
    #expect(team.value.lead == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)]))
    store.update(Person.self, id: 0) { $0.name = 5 }
    #expect(team.value.lead.name == 5)
    #expect(team.value.mates?.isEmpty == false)
  }

  @Test("A person who is her own friend and partner")
  func selfCycle() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 0, name: 9)], partner: Person(id: 0, name: 8)))
    let brief = Person(id: 0, name: 0)
    #expect(observer.value == Person(id: 0, name: 0, friends: [brief], partner: brief))
    store.update(Person.self, id: 0) { $0.name = 1 }
    #expect(observer.value.friends == [Person(id: 0, name: 1)])
    #expect(observer.value.partner == Person(id: 0, name: 1))
  }

  @Test("Told of a change in a cycle is who shows it, once, and nobody else")
  func notices() {
    let logs = (0..<3).map { _ in Log<Person>() }
    let third = Person(id: 2, name: 0, friends: [Person(id: 0, name: 0)])
    let first = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 0, friends: [third])]))
    let subscriptions = (0..<3).map { id in
      store.observer(Person.self, id: id).observe { if let person = $0 { logs[id].append(person) } }
    }
    for log in logs { log.clear() }
    store.update(Person.self, id: 1) { $0.name = 7 }
    #expect(logs.map(\.count) == [1, 1, 0])
    #expect(logs[0].last == first.value)
    store.update(Person.self, id: 1) { $0.friends.append(Person(id: 1, name: 7)) }
    #expect(logs[1].count == 2)
    #expect(logs[2].count == 0)
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Reading, changing and storing it again never makes a value grow")
  func neverGrows() {
    func size(_ person: Person) -> Int { person.friends.reduce(1) { $0 + size($1) } }
    // Five persons, all of them friends of all.
    let observer = store.store(Person(id: 0, name: 0))
    let others = (1..<5).map { store.store(Person(id: $0, name: 0)) }
    let all = [observer] + others
    for id in 0..<5 {
      store.update(Person.self, id: id) { person in person.friends = all.map(\.value).filter { $0.id != id } }
    }
    #expect(size(observer.value) == 5)
    for round in 1...20 {
      store.update(Person.self, id: round % 5) { $0.name = round }
      store.update(Person.self, id: 0) { $0.friends[0].name = round }
      #expect(size(observer.value) == 5)
      #expect(observer.value.friends[0].name == round)
      store.store(all[round % 5].value)
      #expect(size(observer.value) == 5)
    }
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("Nothing is lost by storing what was read, also if it stood in another")
  func storedBack() {
    let emma = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)], team: nil)]))
    let harriet = store.observer(Person.self, id: 1)
    var read = emma.value.friends[0]
    read.name = 2
    store.store(read)
    #expect(emma.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 2)]))
    #expect(harriet.value == Person(id: 1, name: 2, friends: [Person(id: 0, name: 0)]))
    // What is really empty is empty.
    store.store(Person(id: 1, name: 3))
    #expect(harriet.value == Person(id: 1, name: 3))
  }

  @Test("Collections of every shape that were left out come back as left out")
  func everyShape() {
    let other = Clan(id: 1, name: 0)
    var clan = Clan(id: 0, name: 0)
    func back(_ change: (inout Clan) -> Void) -> Clan {
      var back = other
      change(&back)
      return back
    }
    clan.badges = [
      .clan(back { $0.inner = [Clan(id: 0, name: 0)] }), .clan(Clan(id: 2, name: 0)), .plain(7),
    ]
    let first = store.store(clan)
    let second = store.observer(Clan.self, id: 1)
    store.update(Clan.self, id: 1) { other in
      guard let zero = other.inner.first else { return }
      other.byKey = ["0": zero]
      other.line = [zero]
      other.badges = [.clan(zero), .plain(1)]
      other.pair = Pair(first: zero, second: Clan(id: 2, name: 0))
      other.badge = .clan(zero)
    }
    let before = second.value
    #expect(before?.inner.count == 1)
    guard case .clan(var read) = first.value.badges[0] else { return }
    #expect(read.inner.isEmpty && read.line?.isEmpty == true && read.byKey?.isEmpty == true && read.badges.isEmpty)
    #expect(read.pair == nil && read.badge == nil)
    read.name = 5
    // Inside the cycle nil says nothing.
    store.update(Clan.self, id: 0) { $0.badges[0] = .clan(read) }
    #expect(second.value?.name == 5)
    #expect(second.value?.badges.count == 2)
    #expect(second.value?.pair?.first.id == 0)
    // By itself it is nil; a collection still says that it was left out.
    store.store(read)
    #expect(second.value?.pair == nil)
    #expect(second.value?.badge == nil)
    #expect(second.value?.inner == before?.inner)
    #expect(second.value?.byKey == before?.byKey)
    #expect(second.value?.line == before?.line)
  }

  @Test("An edit of a brief form changes the entity's own fields, and one of what it does not show is refused")
  func briefEdit() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)])]))
    store.update(Person.self, id: 0) { $0.friends[0].name = 7 }
    #expect(observer.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 7)]))
    store.update(Person.self, id: 0) {
      $0.friends[0].name = 8
      $0.friends[0].friends = [Person(id: 2, name: 0)]
    }
    #expect(store.find(Person.self, id: 1)?.value == Person(id: 1, name: 8, friends: [Person(id: 0, name: 0)]))
  }

  @Test("What moved within an update, brief or whole, is not written")
  func moved() {
    let inside = [Person(id: 0, name: 0)]
    let observer = store.store(
      Person(
        id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: inside), Person(id: 2, name: 2, friends: inside)]),
      modifiedAt: 1)
    store.update(Person.self, id: 0, modifiedAt: 5) { $0.friends.reverse() }
    #expect(observer.value.friends == [Person(id: 2, name: 2), Person(id: 1, name: 1)])
    #expect(store.update(Person.self, id: 1, modifiedAt: 2) { $0.name = 3 })
    #expect(store.find(Person.self, id: 1)?.value.friends == inside)
  }

  @Test("Opening a cycle shows all relations again")
  func opened() {
    let observer = store.store(
      Person(
        id: 0, name: 0,
        friends: [Person(id: 1, name: 1, friends: [Person(id: 2, name: 2, friends: [Person(id: 0, name: 0)])])]))
    store.update(Person.self, id: 2) { $0.friends = [] }
    #expect(
      observer.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 2, name: 2)])]))
    store.update(Person.self, id: 0) { $0.friends.append(Person(id: 2, name: 2)) }
    #expect(
      observer.value.friends == [Person(id: 1, name: 1, friends: [Person(id: 2, name: 2)]), Person(id: 2, name: 2)])
  }

  @Test("Storing what was read changes nothing, also when a person stands at two places")
  func storedAgain() {
    let log = Log<Group>()
    let person = Person(id: 0, name: 0, friends: [Person(id: 0, name: 0)])
    let observer = store.store(Group(id: 0, name: 0, owner: person, members: [person]))
    let subscription = observer.observe { log.append($0) }
    store.store(observer.value)
    #expect(log.count == 1)
    #expect(observer.value.members == [person])
    #expect(observer.value.owner == person)
    subscription.unsubscribe()
  }

  @Test("What leads out of a cycle is shown in brief forms, too")
  func outOfCycle() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 0, name: 0)], tag: Tag(id: 0, text: 5)))
    #expect(observer.value.friends == [Person(id: 0, name: 0, tag: Tag(id: 0, text: 5))])
  }

  @Test("A required relation in a cycle is shown, brief")
  func required() {
    let observer = store.store(
      Person(
        id: 0, name: 0,
        team: Team(
          id: 0, name: 0, lead: Person(id: 1, name: 1, team: Team(id: 0, name: 9, lead: Person(id: 1, name: 9))))))
    // Team 0 and person 1 are in a cycle; person 0 is not.
    let team = Team(id: 0, name: 0, lead: Person(id: 1, name: 1))
    #expect(observer.value == Person(id: 0, name: 0, team: team))
    #expect(store.find(Person.self, id: 1)?.value == Person(id: 1, name: 1, team: team))
  }

  @Test("Whoever requires herself, by way of another or alone, is stored without harm")
  func requiresHerself() {
    let alone = store.store(Person(id: 0, name: 1, slot: .person(Person(id: 0, name: 2))))
    let pair = store.store(
      Person(id: 1, name: 1, slot: .person(Person(id: 2, name: 2, slot: .person(Person(id: 1, name: 3))))))
    store.update(Person.self, id: 0) { $0.name = 5 }
    store.update(Person.self, id: 2) { $0.name = 6 }
    #expect(alone.value.name == 5)
    #expect(pair.value.slot.person?.name == 6)
    #expect(store._checkInvariants().isEmpty)
    store.remove(Person.self, id: 2)
    #expect(pair.value.slot == .empty)
  }

  @Test("A long cycle")
  func long() {
    let count = 300
    var person = Person(id: count - 1, name: 0, friends: [Person(id: 0, name: 0)])
    for id in (0..<count - 1).reversed() { person = Person(id: id, name: 0, friends: [person]) }
    var observer: EntityObserver<Person>? = store.store(person)
    store.update(Person.self, id: count / 2) { $0.name = 7 }
    for id in 0..<count {
      let value = store.find(Person.self, id: id)?.value
      #expect(value?.friends == [Person(id: (id + 1) % count, name: (id + 1) % count == count / 2 ? 7 : 0)])
    }
    #expect(observer?.value.id == 0)
    #expect(store._checkInvariants().isEmpty)
    observer = nil
    #expect(store._statistics().entities == 0)
  }
}
