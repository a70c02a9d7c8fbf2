import Testing

@testable import Concord

/// What only runs of ten million random steps found.
@Suite("Findings of long random runs")
struct RandomFindingsAtLengthTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("An entity that is removed and comes back as it was in one transaction tells nobody of its cycle")
  func removedAndBack() {
    let log = Log<Team?>()
    let guest = Person(id: 2, name: 0)
    let team = Team(id: 0, name: 2, lead: Person(id: 0, name: 3), mates: [])
    let observer = store.store(
      Person(
        id: 0, name: 3, partner: Person(id: 1, name: 1, team: team), team: team, slot: .person(guest)))
    let subscription = store.observer(Team.self, id: 0).observe { log.append($0) }
    let (stored, count) = (store.value(Team.self, id: 0), log.count)
    #expect(stored?.lead.slot.person == guest)
    store.transaction { store in
      store.remove(Person.self, id: 2)
      store.store(Person(id: 1, name: 2, partner: Person(id: 0, name: 3, slot: .person(guest))))
    }
    #expect(store.value(Team.self, id: 0) == stored)
    #expect(observer.value.slot.person == guest)
    #expect(log.count == count)
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("An edit of what was left out is refused also where all around it is new, and looks the same")
  func hiddenEditInsideNew() throws {
    let friend = Person(id: 1, name: 0)
    let kept = store.store(Person(id: 2, name: 1, friends: [friend]))
    // A collection that was left out, as the store gives it in a cycle.
    let ring = EntityStore(delivery: .immediate)
    let shown = ring.store(Person(id: 2, name: 1, friends: [Person(id: 9, name: 0, friends: [Person(id: 2, name: 1)])]))
    let brief = try #require(shown.value.friends.first?.friends.first ?? ring.value(Person.self, id: 9)?.friends.first)
    #expect(brief.id == 2 && brief.friends.isEmpty)
    let present = store.store(Person(id: 0, name: 2))
    store.store(
      Person(id: 0, name: 2, team: Team(id: 0, name: 2, lead: brief, mates: nil)),
      ifPresent: { $0.team?.lead.friends = [] })
    #expect(kept.value.friends == [friend])
    #expect(present.value.team?.lead.friends == [friend])
  }

  @Test("The last value of a removed entity shows all that the transaction did before, or nothing of it")
  func lastValueIsWhole() {
    for removesAll in [false, true] {
      let store = EntityStore(delivery: .immediate)
      let (friend, partner) = (Person(id: 1, name: 0), Person(id: 2, name: 0))
      let person = store.store(Person(id: 0, name: 0, friends: [friend], partner: partner))
      store.transaction { store in
        store.remove(Person.self, id: 1)
        store.update(Person.self, id: 2) { $0.name = 5 }
        if removesAll { store.removeAll() } else { store.remove(Person.self, id: 0) }
      }
      #expect(person.isRemoved)
      #expect(person.value.friends.isEmpty && person.value.partner?.name == 5)
      #expect(store._checkInvariants() == [])
    }
  }

  @Test("Of several values that a closure was given, one made anew is compared with the one that is equal to it")
  func equalOfSeveral() {
    func wrapping(_ name: Int) -> Person { Person(id: 2, name: 3, friends: [Person(id: 9, name: name)]) }
    let friend = Person(id: 1, name: 1, friends: [wrapping(1)], partner: wrapping(2))
    let incoming = Person(
      id: 0, name: 3, friends: [Person(id: 1, name: 2), friend], partner: Person(id: 9, name: 5))
    let present = store.store(Person(id: 0, name: 0))
    store.store(
      incoming,
      ifPresent: { value in
        value.friends.removeFirst()
        // The same once more, in a storage of its own.
        value.friends[0].partner = wrapping(2)
      })
    // Nothing of that is an edit of the ninth, so its outermost value wins.
    #expect(present.value.partner?.name == 5)
    #expect(store.value(Person.self, id: 2)?.friends.map(\.name) == [5])
  }

  @Test("What was left out of an entity that the store does not have yet hides nothing, so an edit of it is taken")
  func editOfNothingHidden() {
    let friend = Person(id: 2, name: 1)
    let team = store.store(Team(id: 0, name: 3, lead: Person(id: 1, name: 0), mates: nil))
    var lead = Person(id: 0, name: 1)
    lead.friends = omitted()
    store.store(Team(id: 0, name: 2, lead: lead, mates: nil), ifPresent: { $0.lead.friends = [friend] })
    #expect(team.value.lead.id == 0 && team.value.lead.friends == [friend])
    var mate = Person(id: 3, name: 1)
    mate.friends = omitted()
    store.store(
      Team(id: 0, name: 2, lead: mate, mates: nil),
      ifPresent: { $0.mates = [Person(id: 3, name: 0, friends: [friend])] })
    #expect(team.value.lead.name == 0 && team.value.lead.friends == [friend])
    #expect(store._checkInvariants() == [])
  }

  @Test("An older value of an entity is shown nowhere, also where cycles form around it")
  func olderInNewCycle() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    store.store(Person(id: 1, name: 0), named: AliasKey<Person>("a"), modifiedAt: 1e12)
    store.store([Person(id: 0, name: 1)], named: AliasKey<[Person]>("b"))
    let old = Person(id: 1, name: 2)
    var inner = Person(id: 0, name: 2, team: Team(id: 0, name: 1, lead: old, mates: [Person(id: 2, name: 1)]))
    inner.friends = omitted()
    store.store(Person(id: 2, name: 3, slot: .person(inner)), modifiedAt: 20)
    // What is read is up to date, and written again only where something changes.
    for id in 0..<3 { _ = store.value(Person.self, id: id) }
    #expect(store.value(Team.self, id: 0)?.lead.name == 0)
    store.store(
      Person(
        id: 2, name: 3,
        friends: [
          Person(id: 1, name: 3, team: Team(id: 0, name: 1, lead: old, mates: [Person(id: 0, name: 1)])),
          Person(id: 0, name: 2, partner: Person(id: 0, name: 1)),
        ]),
      modifiedAt: 21)
    #expect(store.value(Person.self, id: 1)?.name == 0)
    #expect(store.value(Person.self, id: 0)?.team?.lead.name == 0)
    #expect(store.find(named: AliasKey<[Person]>("b")).value?.first?.team?.lead.name == 0)
    #expect(store.value(Team.self, id: 0)?.lead.name == 0)
    #expect(store._checkInvariants() == [])
  }
}
