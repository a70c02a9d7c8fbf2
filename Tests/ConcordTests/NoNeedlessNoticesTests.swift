import Concord
import Dispatch
import Testing

@Suite("No needless notices")
struct NoNeedlessNoticesTests {
  let store = EntityStore(delivery: .immediate)

  @Test("A write that changes nothing tells nobody")
  func equalWrite() {
    let log = Log<Person>()
    let person = Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)], tag: Tag(id: 0, text: 0))
    let observer = store.store(person)
    let subscription = observer.observe { log.append($0) }
    log.clear()
    store.store(person)
    store.store(Tag(id: 0, text: 0))
    store.update(Person.self, id: 0) { $0.name = 0 }
    store.update(Person.self, id: 0) { _ in }
    store.update(Person.self, id: 1) { $0.name = 1 }
    #expect(log.count == 0)
    subscription.unsubscribe()
  }

  @Test("An equal write is taken, and raises the stamp")
  func equalWriteRaisesStamp() {
    let observer = store.store(Tag(id: 0, text: 0), modifiedAt: 1)
    #expect(store.update(Tag.self, id: 0, modifiedAt: 10) { _ in })
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 5) { $0.text = 5 })
    #expect(observer.value.text == 0)
  }

  @Test("A discarded write tells nobody")
  func discarded() {
    let log = Log<Person>()
    let observer = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 10)
    let subscription = observer.observe { log.append($0) }
    log.clear()
    store.store(Person(id: 0, name: 5, tag: Tag(id: 0, text: 5)), modifiedAt: 10)
    store.store(Tag(id: 0, text: 5), modifiedAt: 9)
    #expect(!store.update(Person.self, id: 0, modifiedAt: 3) { $0.name = 5 })
    #expect(log.count == 0)
    subscription.unsubscribe()
  }

  @Test("What becomes as it was within one transaction tells nobody")
  func backAndForth() {
    let log = Log<Int>()
    let observer = store.store(Tag(id: 0, text: 0))
    let subscription = observer.observe { log.append($0.text) }
    log.clear()
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      store.update(Tag.self, id: 0) { $0.text = 0 }
    }
    #expect(log.count == 0)
    subscription.unsubscribe()
  }

  @Test("A parent is told only when its value changed; others are not")
  func onlyParents() {
    let logs = [Log<Person>(), Log<Person>()]
    let with = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let without = store.store(Person(id: 1, name: 0, tag: Tag(id: 1, text: 0)))
    let subscriptions = [with.observe { logs[0].append($0) }, without.observe { logs[1].append($0) }]
    for log in logs { log.clear() }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(logs[0].count == 1)
    #expect(logs[1].count == 0)
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Children of a changed parent are not told")
  func notDownwards() {
    let log = Log<Tag>()
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    let subscription = store.observer(Tag.self, id: 0).observe { if let tag = $0 { log.append(tag) } }
    log.clear()
    store.update(Person.self, id: 0) { $0.name = 1 }
    #expect(person.value.name == 1)
    #expect(log.count == 0)
    subscription.unsubscribe()
  }

  @Test("A diamond is told once")
  func diamond() {
    let log = Log<Person>()
    let tag = Tag(id: 0, text: 0)
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 0, tag: tag), Person(id: 2, name: 0, tag: tag)], tag: tag))
    let subscription = observer.observe { log.append($0) }
    log.clear()
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(log.count == 1)
    #expect(log.last?.friends.map { $0.tag?.text } == [1, 1])
    subscription.unsubscribe()
  }

  @Test("A value that cannot be compared counts as changed when it is written")
  func notEquatable() {
    let log = Log<Int>()
    let observer = store.store(Note(id: 0, text: 0))
    let subscription = observer.observe { log.append($0.text) }
    log.clear()
    store.store(Note(id: 0, text: 0))
    #expect(log.values == [0])
    subscription.unsubscribe()
  }

  @Test("An alias pointed where it pointed before tells nobody")
  func alias() {
    let log = Log<Tag?>()
    let key: AliasKey<Tag> = "tag"
    store.store(Tag(id: 0, text: 0), named: key)
    let subscription = store.find(named: key).observe { log.append($0) }
    log.clear()
    store.store(Tag(id: 0, text: 0), named: key)
    #expect(log.count == 0)
    subscription.unsubscribe()
  }

  @Test("Equal sets and dictionaries in wrappers, built in another order, notify nobody")
  func otherOrderInWrappers() {
    let log = Log<Int>()
    let tags = (0..<50).map { Tag(id: $0, text: $0) }
    func drawer(_ tags: [Tag], capacity: Int) -> Drawer {
      var box = Box()
      box.tags.reserveCapacity(capacity)
      box.byKey.reserveCapacity(capacity)
      for tag in tags {
        box.tags.insert(tag)
        box.byKey["\(tag.id)"] = tag
      }
      return Drawer(id: 0, box: box, boxes: [box, Box(), box], spare: box)
    }
    let observer = store.store(drawer(tags, capacity: 50))
    let subscription = observer.observe { log.append($0.box.tags.count) }
    store.store(drawer(tags.reversed(), capacity: 1_000))
    store.update(Drawer.self, id: 0) { $0 = drawer(tags.shuffled(), capacity: 200) }
    store.transaction { tx in
      tx.store(Drawer(id: 0))
      tx.store(drawer(tags.shuffled(), capacity: 500))
    }
    #expect(log.values == [50])
    // Another order of the boxes themselves is another value, and so is another key.
    store.update(Drawer.self, id: 0) { $0.boxes.swapAt(0, 1) }
    store.update(Drawer.self, id: 0) { drawer in
      (drawer.box.byKey["1"], drawer.box.byKey["2"]) = (drawer.box.byKey["2"], drawer.box.byKey["1"])
    }
    #expect(log.values == [50, 50, 50])
    #expect(observer.value.boxes.map(\.tags.count) == [0, 50, 50])
    #expect(observer.value.box.byKey["1"]?.id == 2)
    subscription.unsubscribe()
  }
}

private struct Box: EntityWrapper, Equatable {
  var tags: Set<Tag> = []
  var byKey: [String: Tag] = [:]

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.tags)), .init(parent.appending(path: \.byKey))]
  }
}

private struct Drawer: Aggregate, Equatable {
  let id: Int
  var box = Box()
  var boxes: [Box] = []
  var spare: Box?

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [.init(wrapper: \.box), .init(wrapper: \.boxes), .init(wrapper: \.spare)]
  }
}

@Suite("No needless notices in a cycle")
struct NoNeedlessNoticesInCyclesTests {
  @Test(
    "Who shows an entity of her cycle is told nothing when that one gets a relation that she shows without anyway",
    arguments: [false, true])
  func relationThatLeadsBack(isInTransaction: Bool) {
    let store = EntityStore(delivery: .immediate)
    let harriet = store.store(Knower(id: 1, friends: [Knower(id: 2, friends: [Knower(id: 1)])]))
    let emma = store.observer(Knower.self, id: 2)
    let (log, own) = (Log<Knower?>(), Log<Knower>())
    let subscriptions = [emma.observe { log.append($0) }, harriet.observe { own.append($0) }]
    let value = store.value(Knower.self, id: 2)
    func change(_ store: EntityStore) {
      store.update(Knower.self, id: 1) { $0.others = value.map { [$0] } ?? [] }
    }
    if isInTransaction { store.transaction { change($0) } } else { change(store) }
    #expect(own.count == 2 && harriet.value.others.map(\.id) == [2])
    #expect(log.count == 1)
    // What is shown there says that it was left out: stored again, it changes nothing.
    if let shown = emma.value?.friends.first { store.store(shown) }
    #expect(harriet.value.others.map(\.id) == [2] && harriet.value.friends.map(\.id) == [2])
    // What is shown is told as before.
    store.update(Knower.self, id: 1) { $0.name = 1 }
    #expect(log.count == 2 && log.values.last??.friends.first?.name == 1)
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(subscriptions) {}
  }
}

extension NoNeedlessNoticesInCyclesTests {
  /// Ways of writing the same.
  enum Way: CaseIterable { case store, update, transaction, layer }

  private func change(_ knower: Knower, _ store: EntityStore, _ way: Way) -> OptimisticLayer? {
    switch way {
    case .store: store.store(knower)
    case .update: store.update(Knower.self, id: knower.id) { $0 = knower }
    case .transaction: store.transaction { tx in tx.store(knower) }
    case .layer: return store.optimistically { tx in tx.store(knower) }
    }
    return nil
  }

  @Test("Who is told nothing new when a cycle closes, or opens, is not told", arguments: Way.allCases)
  func closing(_ way: Way) {
    let store = EntityStore(delivery: .immediate)
    let first = store.store(Knower(id: 1, friends: [Knower(id: 2)]))
    let team = store.store([Knower(id: 1, friends: [Knower(id: 2)])])
    let log = Log<Knower>()
    let (named, listed) = (Log<Knower?>(), Log<[Knower]>())
    let subscriptions = [
      first.observe { log.append($0) }, store.observer(Knower.self, id: 1).observe { named.append($0) },
      team.observe { listed.append($0) },
    ]
    let before = first.value
    let layer = change(Knower(id: 2, friends: [before]), store, way)
    #expect(store.value(Knower.self, id: 2)?.friends.map(\.id) == [1])
    #expect(first.value == before)
    if let layer { layer.rollBack() } else { _ = change(Knower(id: 2), store, way) }
    #expect(store.value(Knower.self, id: 2)?.friends == [])
    #expect(log.values == [before] && named.values == [before] && listed.values == [[before]])
    // What is another value is told as before.
    _ = change(Knower(id: 2, name: 7, friends: [before]), store, way)
    #expect(log.values.map { $0.friends.first?.name } == [0, 7])
    #expect(named.count == 2 && listed.count == 2)
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("Who was told after the commit is told no equal value when a cycle closes", arguments: Way.allCases)
  func closingAfterReading(_ way: Way) async {
    let store = EntityStore(delivery: .queue(DispatchQueue(label: "delivery")))
    let first = store.store(Fellow(id: 1, friends: [Fellow(id: 2)]))
    let log = Log<Fellow>()
    let subscription = first.observe { log.append($0) }
    store.update(Fellow.self, id: 2) { $0.name = 5 }
    await store.settled()
    let before = first.value
    #expect(log.values.map { $0.friends.first?.name } == [0, 5])
    let second = Fellow(id: 2, name: 5, friends: [before])
    var layer: OptimisticLayer?
    switch way {
    case .store: store.store(second)
    case .update: store.update(Fellow.self, id: 2) { $0 = second }
    case .transaction: store.transaction { tx in tx.store(second) }
    case .layer: layer = store.optimistically { tx in tx.store(second) }
    }
    await store.settled()
    #expect(store.value(Fellow.self, id: 2)?.friends.map(\.id) == [1])
    #expect(first.value == before && log.count == 2)
    withExtendedLifetime((subscription, layer)) {}
  }

  @Test("Who does not show an entity is not told that it goes")
  func removing() {
    let store = EntityStore(delivery: .immediate)
    let third = Knower(id: 3, friends: [Knower(id: 2)])
    let first = store.store(Knower(id: 1, friends: [Knower(id: 2, friends: [Knower(id: 1), third])]))
    let log = Log<Knower>()
    let subscription = first.observe { log.append($0) }
    store.remove(Knower.self, id: 3)
    #expect(store.value(Knower.self, id: 2)?.friends.map(\.id) == [1])
    #expect(log.count == 1)
    subscription.unsubscribe()
  }
}

/// An entity whose relations are known without a value, so that a value which nobody reads need not be brought up to date.
private struct Fellow: Aggregate, Equatable {
  let id: Int
  var name = 0
  var friends: [Fellow] = []
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.relations }
  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { relations }
  private static var relations: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends)] }
}

private struct Knower: Aggregate, Equatable {
  let id: Int
  var name = 0
  var friends: [Knower] = []
  var others: [Knower] = []
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.friends), .init(\.others)] }
}
