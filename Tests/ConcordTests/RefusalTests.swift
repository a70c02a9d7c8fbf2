import Concord
import Testing

private final class Refusals: EntityStoreLogger {
  let log = Log<String>()
  func didRefuse<T: Identifiable>(_ type: T.Type, id: T.ID, reason: RefusalReason) {
    log.append("\(type) \(id) \(reason)")
  }
  func didRefuseIDChange<T: Identifiable>(_ type: T.Type, id: T.ID, to newID: T.ID) {
    log.append("\(type) \(id) to \(newID)")
  }
  func didRefuseUpdate<T>(_ alias: AliasKey<T>) { log.append("\(T.self) \(alias.name)") }
}

/// A logger as CohesionKit's users have it: it tells failures by one method.
private final class Earlier: EntityStoreLogger {
  let log = Log<String>()
  func didFailedToStore<T: Identifiable>(_ type: T.Type, id: T.ID, error: any Error) {
    log.append("\(type) \(id) \(error)")
  }
}

private struct Renamed: Identifiable, Hashable { var id: Int }

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
  @Test("An update of what is not stored, any longer or yet")
  func unknown() {
    var tag: EntityObserver<Tag>? = store.store(Tag(id: 0, text: 0))
    #expect(!store.update(Tag.self, id: 1) { $0.text = 1 })
    #expect(!store.update(Person.self, id: 1) { $0.name = 1 })
    #expect(refusals.log.values == ["Tag 1 notStored", "Person 1 notStored"])
    store.remove(Tag.self, id: 0)
    #expect(!store.update(Tag.self, id: 0) { $0.text = 1 })
    #expect(refusals.log.last == "Tag 0 notStored")
    #expect(tag?.value.text == 0)
    tag = nil
    #expect(!store.update(Tag.self, id: 0) { $0.text = 1 })
    #expect(refusals.log.values == ["Tag 1 notStored", "Person 1 notStored", "Tag 0 notStored", "Tag 0 notStored"])
  }

  @Test("An update whose closure removes the entity")
  func removedMeanwhile() {
    let tag = store.store(Tag(id: 0, text: 0))
    #expect(
      !store.update(Tag.self, id: 0) {
        $0.text = 1
        store.remove(Tag.self, id: 0)
      })
    #expect(refusals.log.values == ["Tag 0 notStored"])
    #expect(tag.value.text == 0)
  }

  @Test("An update of an alias that names nothing")
  func unknownAlias() {
    #expect(!store.update(named: AliasKey<Tag>("one")) { $0.text = 1 })
    #expect(!store.update(named: AliasKey<[Tag]>("many")) { $0 = [] })
    #expect(!store.update(named: AliasKey<Set<Tag>>("set")) { $0 = [] })
    #expect(refusals.log.values == ["Tag one", "Array<Tag> many", "Set<Tag> set"])
  }

  @Test("A changed id; that of an alias's entity re-points the alias, and is not refused")
  func changedID() {
    let entity = store.store(Renamed(id: 0), named: "name")
    #expect(!store.update(Renamed.self, id: 0) { $0.id = 1 })
    #expect(refusals.log.values == ["Renamed 0 to 1"])
    #expect(store.update(named: AliasKey<Renamed>("name")) { $0.id = 1 })
    #expect(refusals.log.count == 1)
    #expect(entity.value.id == 0)
  }

  @Test("An edit of what is not shown, in ifPresent and through an alias, too")
  func hiddenElsewhere() {
    let people = friends()
    let hidden = [Person(id: 9, name: 0)]
    store.store(people[0].value) { $0.friends[0].friends = hidden }
    #expect(refusals.log.values == ["Person 1 hiddenRelation"])
    store.store(people[0].value, named: "emma")
    store.update(named: AliasKey<Person>("emma")) { $0.friends[0].friends = hidden }
    #expect(refusals.log.values == ["Person 1 hiddenRelation", "Person 1 hiddenRelation"])
    store.store(people.map(\.value), named: "all")
    store.update(named: AliasKey<[Person]>("all")) { $0[0].friends[0].friends = hidden }
    #expect(refusals.log.count == 3)
    #expect(store.find(Person.self, id: 9) == nil)
  }

  @Test("A logger of the earlier form is told of all that was not stored, with the reason")
  func earlier() {
    let logger = Earlier()
    let store = EntityStore(delivery: .immediate, logger: logger)
    let entity = store.store(Renamed(id: 0), modifiedAt: 5)
    store.store(Renamed(id: 0), modifiedAt: 4)
    store.update(Renamed.self, id: 0) { $0.id = 1 }
    store.update(Renamed.self, id: 2) { _ in }
    #expect(
      logger.log.values == [
        "Renamed 0 tooOld(current: 5.0, received: 4.0)", "Renamed 0 changedID", "Renamed 2 notStored",
      ])
    withExtendedLifetime(entity) {}
  }
}
