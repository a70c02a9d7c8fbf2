import Concord
import Testing

@Suite("Cycles")
struct CycleTests {
  let store = EntityStore(delivery: .immediate)

  @Test("A cycle stored whole shows each person's friends once")
  func whole() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 9, friends: [])])]))
    #expect(
      observer.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)])]))
    #expect(
      store.find(Person.self, id: 1)?.value
        == Person(id: 1, name: 1, friends: [Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)])]))
  }

  @Test("A cycle closed in a second step shows the same")
  func twoSteps() {
    let first = store.store(Person(id: 0, name: 0))
    let second = store.store(Person(id: 1, name: 1, friends: [first.value]))
    store.update(Person.self, id: 0) { $0.friends = [second.value] }
    #expect(first.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)])]))
    #expect(
      second.value == Person(id: 1, name: 1, friends: [Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)])]))
  }

  @Test("A person who is her own friend and partner")
  func selfCycle() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 0, name: 9)], partner: Person(id: 0, name: 8)))
    let far = Person(id: 0, name: 0)
    #expect(observer.value == Person(id: 0, name: 0, friends: [far], partner: far))
    store.update(Person.self, id: 0) { $0.name = 1 }
    #expect(observer.value.friends == [Person(id: 0, name: 1)])
    #expect(observer.value.partner == Person(id: 0, name: 1))
  }

  @Test("Every member of a cycle is told of a change of any of them, once")
  func notices() {
    let logs = (0..<3).map { _ in Log<Person>() }
    let third = Person(id: 2, name: 0, friends: [Person(id: 0, name: 0)])
    let first = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 0, friends: [third])]))
    let subscriptions = (0..<3).map { id in
      store.observer(Person.self, id: id).observe { if let person = $0 { logs[id].append(person) } }
    }
    for log in logs { log.clear() }
    store.update(Person.self, id: 1) { $0.name = 7 }
    #expect(logs.map(\.count) == [1, 1, 1])
    #expect(logs[0].last == first.value)
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
    // Twenty friendships, and the one at the top.
    #expect(size(observer.value) == 21)
    for round in 1...20 {
      store.update(Person.self, id: round % 5) { $0.name = round }
      store.update(Person.self, id: 0) { $0.friends[0].name = round }
      #expect(size(observer.value) == 21)
      #expect(observer.value.friends[0].name == round)
      store.store(all[round % 5].value)
      #expect(size(observer.value) == 21)
    }
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("An edit where relations were left out changes the entity's own fields, and keeps its relations")
  func farEdit() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0)])]))
    store.update(Person.self, id: 0) { $0.friends[0].friends[0].name = 7 }
    #expect(
      observer.value == Person(id: 0, name: 7, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 7)])]))
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

  @Test("Storing what was read changes nothing, also when a person stands at two equally near places")
  func storedAgain() {
    let log = Log<Group>()
    let person = Person(id: 0, name: 0, friends: [Person(id: 0, name: 0)])
    let observer = store.store(Group(id: 0, name: 0, owner: person, members: [person]))
    let subscription = observer.observe { log.append($0) }
    store.store(observer.value)
    #expect(log.count == 1)
    #expect(observer.value.members == [person])
    #expect(observer.value.owner == Person(id: 0, name: 0))
    subscription.unsubscribe()
  }

  @Test("What leads out of a cycle is shown at far occurrences too")
  func outOfCycle() {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 0, name: 0)], tag: Tag(id: 0, text: 5)))
    #expect(observer.value.friends == [Person(id: 0, name: 0, tag: Tag(id: 0, text: 5))])
  }

  @Test("A required relation in a cycle is shown in its far form")
  func required() {
    let observer = store.store(
      Person(
        id: 0, name: 0,
        team: Team(
          id: 0, name: 0, lead: Person(id: 1, name: 1, team: Team(id: 0, name: 9, lead: Person(id: 1, name: 9))))))
    // Team 0 and person 1 are in a cycle; person 0 is not.
    let far = Team(id: 0, name: 0, lead: Person(id: 1, name: 1))
    #expect(
      observer.value == Person(id: 0, name: 0, team: Team(id: 0, name: 0, lead: Person(id: 1, name: 1, team: far))))
  }

  @Test("A long cycle")
  func long() {
    let count = 300
    var person = Person(id: count - 1, name: 0, friends: [Person(id: 0, name: 0)])
    for id in (0..<count - 1).reversed() { person = Person(id: id, name: 0, friends: [person]) }
    var observer: EntityObserver<Person>? = store.store(person)
    store.update(Person.self, id: count / 2) { $0.name = 7 }
    var next = observer?.value
    for _ in 0..<count / 2 { next = next?.friends.first }
    #expect(next?.name == 7)
    #expect(store._checkInvariants().isEmpty)
    next = nil
    observer = nil
    #expect(store._statistics().entities == 0)
  }
}
