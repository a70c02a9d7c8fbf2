import Concord
import Testing

private final class Refusals: EntityStoreLogger {
  let log = Log<String>()
  func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason) {
    log.append("\(type) \(id) \(reason)")
  }
}

private struct Selfish: Aggregate, Equatable {
  let id: Int
  var name = 0
  var tag: Tag?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.self), .init(\.tag)] }
}

@Suite("What is refused is said, with the reason")
struct RefusalTests {
  private let refusals = Refusals()
  private let store: EntityStore

  init() { store = EntityStore(delivery: .immediate, logger: refusals) }

  private func friends() -> [EntityObserver<Person>] {
    let emma = store.store(Person(id: 0, name: 0))
    let harriet = store.store(Person(id: 1, name: 0, friends: [emma.value]))
    store.update(Person.self, id: 0) { $0.friends = [harriet.value] }
    return [emma, harriet]
  }

  @Test("A relation to itself; the rest of the value is stored")
  func toItself() {
    let entity = store.store(Selfish(id: 7, name: 1, tag: Tag(id: 0, text: 0)))
    #expect(Set(refusals.log.values) == ["Selfish 7 relationToItself"])
    #expect(entity.value == Selfish(id: 7, name: 1, tag: Tag(id: 0, text: 0)))
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(entity.value.tag?.text == 1)
    #expect(store.update(Selfish.self, id: 7) { $0.name = 2 })
    #expect(entity.value.name == 2)
    #expect(store._checkInvariants() == [])
  }

  @Test("An edit of what is not shown; the rest of the update is taken")
  func hidden() {
    let people = friends()
    #expect(refusals.log.values == [])
    #expect(
      store.update(Person.self, id: 0) {
        $0.name = 1
        $0.friends[0].name = 2
        $0.friends[0].friends = [Person(id: 9, name: 0)]
      })
    #expect(refusals.log.values == ["Person 1 hiddenRelation"])
    #expect(people.map(\.value.name) == [1, 2])
    #expect(people[1].value.friends.map(\.id) == [0])
    #expect(store.find(Person.self, id: 9) == nil)
  }

  @Test("An update that leaves alone what is not shown is not refused")
  func shown() {
    let people = friends()
    store.update(Person.self, id: 0) { $0.friends[0].name = 2 }
    store.update(Person.self, id: 0) { $0.friends = $0.friends.map { $0 } }
    store.update(Person.self, id: 0) { $0.friends.append(Person(id: 5, name: 5)) }
    store.update(Person.self, id: 0) { $0.friends.removeAll { $0.id == 5 } }
    store.store(people[0].value)
    store.store(people[0].value.friends[0])
    #expect(refusals.log.values == [])
  }

  @Test("In a transaction that throws nothing was refused")
  func undone() {
    let people = friends()
    try? store.transaction { store in
      store.update(Person.self, id: 0) { $0.friends[0].friends = [Person(id: 9, name: 0)] }
      throw Refused()
    }
    #expect(refusals.log.values == [])
    withExtendedLifetime(people) {}
  }
}
