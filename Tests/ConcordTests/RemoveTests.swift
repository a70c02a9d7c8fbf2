import Concord
import Testing

private struct Couple: Aggregate, Equatable {
  let id: Int
  var tags: Pair<Tag>
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tags)] }
}

@Suite("Removing")
struct RemoveTests {
  let store = EntityStore(delivery: .immediate)

  @Test("An entity is taken out of every place that can do without it")
  func everywhere() {
    let tag = Tag(id: 0, text: 0)
    let rest = Tag(id: 1, text: 1)
    let work = store.store(Work(id: 0, title: 0, tags: [tag, rest], byKey: ["a": tag, "b": rest]))
    let group = store.store(
      Group(
        id: 0, name: 0, owner: Person(id: 0, name: 0, tag: tag, slot: .tag(tag)), tags: [tag, rest, tag],
        line: [rest, tag], shelves: ["1": Work(id: 0, title: 0, tags: [tag, rest], byKey: ["a": tag, "b": rest])],
        meta: Meta(inner: .init(tag: tag))))
    #expect(store.remove(Tag.self, id: 0))
    #expect(work.value == Work(id: 0, title: 0, tags: [rest], byKey: ["b": rest]))
    #expect(
      group.value
        == Group(
          id: 0, name: 0, owner: Person(id: 0, name: 0), tags: [rest], line: [rest],
          shelves: ["1": Work(id: 0, title: 0, tags: [rest], byKey: ["b": rest])]))
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(!store.remove(Tag.self, id: 0))
  }

  @Test("A parent that requires it is removed too, and so on, in the same transaction")
  func required() {
    let logs = (Log<Bool>(), Log<Bool>(), Log<Int>())
    let person = Person(id: 0, name: 0)
    let other = store.store(Person(id: 1, name: 0, team: Team(id: 0, name: 0, lead: person)))
    let subscriptions = [
      store.observer(Team.self, id: 0).observe { logs.0.append($0 != nil) },
      store.observer(Person.self, id: 0).observe { logs.1.append($0 != nil) },
      other.observe { logs.2.append($0.team == nil ? 0 : 1) },
    ]
    #expect(store.remove(Person.self, id: 0))
    #expect(logs.0.values == [true, false])
    #expect(logs.1.values == [true, false])
    #expect(logs.2.values == [1, 0])
    #expect(store.find(Team.self, id: 0) == nil)
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("A wrapper case that cannot be emptied and a collection that cannot shrink take their parent with them")
  func stubborn() {
    let first = store.store(
      Group(id: 0, name: 0, owner: Person(id: 0, name: 0), item: .tag(Tag(id: 0, text: 0))))
    let second = store.store(Couple(id: 1, tags: Pair(first: Tag(id: 1, text: 0), second: Tag(id: 2, text: 0))))
    store.remove(Tag.self, id: 0)
    #expect(store.find(Group.self, id: 0) == nil)
    #expect(store.find(Couple.self, id: 1) != nil)
    store.remove(Tag.self, id: 2)
    #expect(store.find(Couple.self, id: 1) == nil)
    withExtendedLifetime((first, second)) {}
  }

  @Test("An optional one becomes nil instead, and of a list of wrappers the element goes")
  func stubbornButOptional() {
    let group = store.store(
      Group(
        id: 0, name: 0, owner: Person(id: 0, name: 0), extra: .tag(Tag(id: 0, text: 0)),
        items: [.plain(1), .tag(Tag(id: 0, text: 0)), .plain(2)],
        pair: Pair(first: Tag(id: 0, text: 0), second: Tag(id: 1, text: 0))))
    store.remove(Tag.self, id: 0)
    #expect(
      group.value == Group(id: 0, name: 0, owner: Person(id: 0, name: 0), items: [.plain(1), .plain(2)]))
  }

  @Test("A wrapper that can be emptied is")
  func emptied() {
    let person = store.store(Person(id: 0, name: 0, slot: .person(Person(id: 1, name: 0))))
    store.remove(Person.self, id: 1)
    #expect(person.value == Person(id: 0, name: 0))
  }

  @Test("An observer keeps its last value without a call, and follows the id again when it is stored again")
  func observers() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = tag.observe { log.append($0.text) }
    store.remove(Tag.self, id: 0)
    #expect(log.values == [0])
    #expect(tag.value.text == 0)
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(!store.update(Tag.self, id: 0) { $0.text = 9 })
    store.store(Tag(id: 0, text: 1))
    #expect(log.values == [0, 1])
    #expect(tag.value.text == 1)
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(log.values == [0, 1, 2])
    subscription.unsubscribe()
  }

  @Test("Optional observers are told nil, and the value when it comes again")
  func optionalObservers() {
    let log = Log<Tag?>()
    let waiting = store.observer(Tag.self, id: 0)
    let subscription = waiting.observe { log.append($0) }
    store.store(Tag(id: 0, text: 0))
    store.remove(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 1))
    #expect(log.values == [nil, Tag(id: 0, text: 0), nil, Tag(id: 0, text: 1)])
    subscription.unsubscribe()
  }

  @Test("Collections and their aliases lose the element")
  func collections() {
    let key: AliasKey<[Tag]> = "tags"
    let log = Log<[Int]?>()
    let listLog = Log<[Int]>()
    let list = store.store((0..<3).map { Tag(id: $0, text: 0) })
    store.store((0..<3).map { Tag(id: $0, text: 0) }, named: key)
    let subscriptions = [
      store.find(named: key).observe { log.append($0?.map(\.id)) }, list.observe { listLog.append($0.map(\.id)) },
    ]
    store.remove(Tag.self, id: 1)
    #expect(log.values == [[0, 1, 2], [0, 2]])
    #expect(listLog.values == [[0, 1, 2], [0, 2]])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("What the removed entity alone kept goes with it")
  func children() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    store.remove(Person.self, id: 0)
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(person.value == Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
  }

  @Test("Parents keep their stamps")
  func parentsStamps() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 5)
    store.remove(Tag.self, id: 0)
    #expect(store.update(Person.self, id: 0, modifiedAt: 6) { $0.name = 1 })
    #expect(!store.update(Person.self, id: 0, modifiedAt: 6) { $0.name = 2 })
    #expect(person.value.name == 1)
  }

  @Test("Removing inside a transaction that throws brings everything back")
  func rollback() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    try? store.transaction { store in
      store.remove(Tag.self, id: 0)
      #expect(person.value.tag == nil)
      store.removeAll()
      throw Refused()
    }
    #expect(person.value.tag == Tag(id: 0, text: 0))
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(person.value.tag?.text == 1)
  }

  @Test("Removing in a cycle takes out one, and leaves the others")
  func cycle() {
    let person = store.store(
      Person(
        id: 0, name: 0, friends: [Person(id: 1, name: 1, friends: [Person(id: 0, name: 0), Person(id: 2, name: 2)])]))
    store.remove(Person.self, id: 1)
    #expect(person.value == Person(id: 0, name: 0))
    #expect(store.find(Person.self, id: 2) == nil)
    // Herself among her friends.
    let own = store.store(Person(id: 5, name: 0, friends: [Person(id: 5, name: 0)]))
    #expect(store.remove(Person.self, id: 5))
    #expect(store.find(Person.self, id: 5) == nil)
    withExtendedLifetime(own) {}
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("removeAll empties the store; observers keep their last values and follow again")
  func removeAll() {
    let log = Log<Tag?>()
    let key: AliasKey<Tag> = "tag"
    let tag = store.store(Tag(id: 0, text: 0), named: key)
    let subscription = store.observer(Tag.self, id: 0).observe { log.append($0) }
    store.removeAll()
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store.find(named: key).value == nil)
    #expect(tag.value.text == 0)
    store.store(Tag(id: 0, text: 1))
    #expect(tag.value.text == 1)
    #expect(log.values == [Tag(id: 0, text: 0), nil, Tag(id: 0, text: 1)])
    subscription.unsubscribe()
  }
}
