import Concord
import Testing

/// What the random test has found in cycles about brief forms, in which something is left out, each as its smallest case.
@Suite("Found by the random test in brief forms")
struct RandomFindingsOfBriefFormsTests {
  let store = EntityStore(delivery: .immediate)

  @Test("In ifPresent what was left out of an entity that is new makes it no edit")
  func leftOutOfNew() {
    let keep = store.store(Team(id: 0, name: 1, lead: Person(id: 2, name: 2)))
    var outer = Person(id: 0, name: 3, tag: Tag(id: 3, text: 3))
    outer.friends = omitted()
    outer.team = Team(id: 0, name: 2, lead: Person(id: 0, name: 0))
    store.store(Team(id: 0, name: 3, lead: outer)) { $0.lead.team?.lead.name = 5 }
    #expect(store.value(Person.self, id: 0)?.name == 5)
    #expect(store.value(Person.self, id: 0)?.tag == nil)
    #expect(keep.value.lead.name == 5)
  }

  @Test("In ifPresent the outermost value is compared with what was given, not with a brief form of it inside")
  func ifPresentOfBriefForm() {
    let keep = store.store(
      Person(
        id: 1, name: 2, friends: [Person(id: 0, name: 2)], team: Team(id: 0, name: 1, lead: Person(id: 0, name: 2))))
    var inner = Person(id: 1, name: 1)
    inner.friends = omitted()
    var lead = Person(id: 1, name: 0)
    lead.team = Team(id: 0, name: 1, lead: inner)
    store.store(Team(id: 0, name: 2, lead: lead)) { $0.name = 1 }
    #expect(keep.value.name == 0)
    #expect(keep.value.friends.isEmpty)
  }

  @Test("An edit of a brief form leaves the relations of others alone")
  func briefEditOfAnother() {
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

  @Test("Under another id the edit of a brief form keeps what was left out")
  func briefEditUnderAnotherID() {
    struct Club: Aggregate, Equatable {
      var id: Int
      var people: [Person]
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.people)] }
    }
    let key: AliasKey<Club> = "club"
    let friend = Person(id: 1, name: 0, friends: [Person(id: 0, name: 0)])
    store.store(Club(id: 0, people: [Person(id: 0, name: 0, friends: [friend])]), named: key)
    store.update(named: key) { club in
      club.people[0].friends[0].name = 7
      club.id = 1
    }
    #expect(store.find(named: key).value?.people == [Person(id: 0, name: 0, friends: [Person(id: 1, name: 7)])])
    #expect(store.find(Person.self, id: 1)?.value.friends == [Person(id: 0, name: 0)])
  }

  @Test("A team without mates, put inside its own cycle, is not taken for one whose mates were left out")
  func nilIsNotEmpty() {
    store.store(
      Team(
        id: 0, name: 1, lead: Person(id: 1, name: 0, team: Team(id: 0, name: 1, lead: Person(id: 1, name: 3))),
        mates: [Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)])]),
      named: "team")
    let team = Team(id: 0, name: 0, lead: Person(id: 1, name: 0))
    store.update(Team.self, id: 0) { $0.mates?[0].team = team }
    #expect(store.find(Team.self, id: 0)?.value.name == 0)
    #expect(store.find(Team.self, id: 0)?.value.mates == nil)
  }

  @Test("A brief form changed under another root's id keeps what was left out")
  func briefFormUnderAnotherRoot() {
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

  @Test("A brief form shows the newest of what leads out of the cycle")
  func briefShowsNewest() {
    let lead = Person(id: 0, name: 0, tag: Tag(id: 0, text: 1))
    let observer = store.store(
      Person(id: 0, name: 0, tag: Tag(id: 0, text: 1), team: Team(id: 0, name: 0, lead: lead)))
    let tag = store.store(Tag(id: 0, text: 2))
    #expect(observer.value.tag?.text == 2)
    #expect(observer.value.team?.lead.tag?.text == 2)
    #expect(store.find(Team.self, id: 0)?.value.lead.tag?.text == 2)
    withExtendedLifetime(tag) {}
  }

  @Test("A brief form of herself shows the value that won")
  func briefShowsWinner() {
    let observer = store.store(
      Person(
        id: 0, name: 0, partner: Person(id: 0, name: 0), team: Team(id: 0, name: 1, lead: Person(id: 2, name: 3)),
        slot: .person(Person(id: 2, name: 0))))
    #expect(observer.value.team?.lead.name == 0)
    #expect(observer.value.partner?.team?.lead.name == 0)
    #expect(store.find(Person.self, id: 2)?.value.name == 0)
  }

  @Test("Of somebody who is new, what was left out is empty")
  func newAndLeftOut() {
    let emma = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)])]))
    let read = emma.value.friends[0]
    let other = EntityStore(delivery: .immediate)
    let harriet = other.store(read)
    let friend = other.store(Person(id: 2, name: 2, friends: [Person(id: 1, name: 1)]))
    // A copy that was read there is empty in truth, and says so.
    store.store(harriet.value)
    #expect(store.find(Person.self, id: 1)?.value.friends == [])
    #expect(friend.value.friends == [Person(id: 1, name: 1)])
  }

  @Test("What was left out of a value of another shape is the stored one")
  func leftOutOfAnotherShape() {
    var clan = Clan(id: 0, name: 0)
    clan.line = nil
    clan.byKey = ["1": Clan(id: 1, name: 0)]
    let observer = store.store(clan)
    var other = Clan(id: 0, name: 1)
    (other.isFlagged, other.line, other.byKey) = (1, omitted(), omitted())
    store.store(other)
    #expect(observer.value.name == 1)
    #expect(observer.value.line == nil)
    #expect(observer.value.byKey == ["1": Clan(id: 1, name: 0)])
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("An edit that changes the shape keeps what was left out")
  func editOfAnotherShape() {
    var clan = Clan(id: 0, name: 0)
    var friend = Clan(id: 1, name: 0)
    friend.line = [clan]
    clan.line = [friend]
    let observer = store.store(clan)
    store.update(Clan.self, id: 0) { $0.line?[0].isFlagged = 1 }
    #expect(store.find(Clan.self, id: 1)?.value.isFlagged == 1)
    #expect(store.find(Clan.self, id: 1)?.value.line?.map(\.id) == [0])
    #expect(observer.value.line?.map(\.isFlagged) == [1])
  }

  @Test("Whoever shows a brief form is not told of what that leaves out")
  func leadsOutBesideTheWayBack() {
    let log = Log<Int>()
    let lead = Person(id: 0, name: 0)
    let person = store.store(
      Person(
        id: 0, name: 0, friends: [lead, Person(id: 1, name: 0)], team: Team(id: 0, name: 0, lead: lead, mates: [])))
    let subscription = store.find(Team.self, id: 0)?.observe { log.append($0.lead.name) }
    store.update(Person.self, id: 1) { $0.name = 1 }
    #expect(log.values == [0])
    #expect(person.value.friends.map(\.name) == [0, 1])
    store.transaction { store in
      store.update(Person.self, id: 1) { $0.name = 2 }
    }
    #expect(log.values == [0])
    store.update(Person.self, id: 0) { $0.name = 3 }
    #expect(log.values == [0, 3])
    subscription?.unsubscribe()
  }

  @Test("A brief form put somewhere else with less in it is no edit")
  func briefFormSomewhereElse() {
    let lead = Person(id: 0, name: 0)
    let herself = Person(id: 2, name: 0)
    let observer = store.store(
      Person(
        id: 2, name: 0, friends: [Person(id: 1, name: 0)], partner: herself, team: Team(id: 0, name: 0, lead: lead)))
    store.update(Team.self, id: 0) { team in
      let brief = Person(id: 2, name: 0, friends: omitted(), team: Team(id: 0, name: 0, lead: lead))
      team.lead = Person(id: 0, name: 1, friends: [Person(id: 1, name: 0, friends: [brief])])
    }
    #expect(observer.value.partner?.id == 2)
    #expect(store.find(Person.self, id: 0)?.value.name == 1)
  }

  @Test("What was left out is shown as it is stored in the collection that it came with")
  func leftOutInCollection() {
    let key: AliasKey<[Person]> = "people"
    store.store([Person(id: 0, name: 2)], named: key)
    store.store([Person(id: 0, name: 3, friends: omitted()), Person(id: 1, name: 2)], named: key)
    let people = store.find(named: key).value
    #expect(people == [Person(id: 0, name: 3), Person(id: 1, name: 2)])
    #expect(people.map { $0.map { isOmitted($0.friends) } } == [false, false])
  }

  @Test("What is left of a wrapper in a brief form is shown to all")
  func restOfWrapper() {
    let observer = store.store(Knot(id: 0, text: 0, knots: [Knot(id: 1, text: 0, tie: .one(Knot(id: 0, text: 0)))]))
    #expect(observer.value.knots.map(\.tie) == [.none])
    store.update(Knot.self, id: 1) { $0.tie = .many([$0.tie.inside[0]]) }
    #expect(observer.value.knots.map(\.tie) == [.many([])])
  }

  @Test("An empty collection at a new place is not taken for one that was left out")
  func emptyIsNotLeftOut() {
    store.store(
      Team(
        id: 0, name: 3, lead: Person(id: 2, name: 2, team: Team(id: 0, name: 3, lead: Person(id: 2, name: 2))),
        mates: [Person(id: 1, name: 0, friends: [Person(id: 2, name: 2)])]),
      named: "team")
    let lead = store.find(Team.self, id: 0)?.value.lead ?? Person(id: 2, name: 2)
    store.update(Person.self, id: 1) { $0.team = Team(id: 0, name: 3, lead: lead, mates: []) }
    #expect(store.find(Team.self, id: 0)?.value.mates == [])
  }

  @Test("A new place for what was given brief is compared with the whole, also if the closure wrote something")
  func newPlaceAfterWriting() {
    let observer = store.store(
      Person(id: 2, name: 1, friends: [Person(id: 0, name: 0, friends: [Person(id: 2, name: 3)])]))
    store.update(Person.self, id: 2) { person in
      store.store(Note(id: 0, text: 1))
      person.slot = .person(Person(id: 0, name: 1))
    }
    #expect(store.find(Person.self, id: 0)?.value == Person(id: 0, name: 1))
    #expect(observer.value.friends == [Person(id: 0, name: 1)])
  }

  @Test("What was left out, in a relation that the stored value has not, is no edit of what ifPresent was given")
  func leftOutWhereThereIsNone() {
    let observer = store.store(Clan(id: 0, name: 2))
    var clan = Clan(id: 0, name: 3)
    clan.isFlagged = 1
    clan.flagged = omitted()
    clan.setStubborn(Clan(id: 0, name: 2))
    // What the closure changed goes before what it did not, however far out that is.
    store.store(clan) { $0.stubborn?.badges = [.clan(Clan(id: 2, name: 3))] }
    #expect(observer.value.name == 2)
    #expect(observer.value.badges == [.clan(Clan(id: 2, name: 3))])
  }
}
