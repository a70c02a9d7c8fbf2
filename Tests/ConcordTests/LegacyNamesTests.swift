import Concord
import Dispatch
import Testing

@Suite("Names of the earlier system")
struct LegacyNamesTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("IdentityMap, store(entity:), store(entities:) and AliasKey(named:) compile and work")
  @available(*, deprecated, message: "so that the deprecated names compile without a warning")
  func names() {
    let map = IdentityMap()
    let key = AliasKey<Tag>(named: "tag")
    let listKey = AliasKey<[Tag]>(named: "tags")
    let one = map.store(entity: Tag(id: 0, text: 0), named: key, modifiedAt: 1)
    let many = map.store(entities: [Tag(id: 0, text: 1), Tag(id: 1, text: 1)], named: listKey, modifiedAt: 2)
    let list = map.store(entities: [Tag(id: 2, text: 2)])
    let person = map.store(entity: Person(id: 0, name: 0, tag: Tag(id: 0, text: 9)), modifiedAt: 1)
    #expect(one.value.text == 1)
    #expect(many.value.map(\.text) == [1, 1])
    #expect(list.value.map(\.text) == [2])
    #expect(person.value.tag?.text == 1)
    #expect(key == "tag")
    let present = map.store(entity: Tag(id: 0, text: 5), ifPresent: { $0.text = 6 })
    #expect(present.value.text == 6)
  }

  @Test("A trailing closure of update is not ambiguous")
  func trailingClosures() {
    let key: AliasKey<Tag> = "tag"
    let tags: AliasKey<[Tag]> = "tags"
    store.store(Tag(id: 0, text: 0), named: key)
    store.store([Tag(id: 1, text: 1)], named: tags)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(named: key) { $0.text += 1 }
    store.update(named: tags) { $0[0].text = 5 }
    store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 2)), named: "person")
    store.update(Person.self, id: 0) { $0.tag?.text = 3 }
    #expect(store.find(named: key).value?.text == 3)
    #expect(store.find(named: tags).value?[0].text == 5)
  }

  @Test("A closure that was made before is passed to update without a label, and to ifPresent")
  func closures() {
    let change: EntityStore.Update<Tag> = { $0.text += 1 }
    let tag = store.store(entity: Tag(id: 0, text: 0))
    #expect(store.update(Tag.self, id: 0, change))
    #expect(store.update(Tag.self, id: 0, modifiedAt: 1e300, change))
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 0, change))
    #expect(tag.value.text == 2)
    #expect(store.store(entity: Tag(id: 0, text: 5), modifiedAt: .infinity, ifPresent: change).value.text == 6)
  }

  @Test("A store without a queue is one on the main queue")
  @MainActor
  func mainQueue() async {
    for store in [EntityStore(queue: nil), EntityStore(queue: nil, logger: nil), EntityStore(queue: .main)] {
      let log = Log<Bool>()
      let subscription = store.store(Tag(id: 0, text: 0)).observe { @Sendable _ in
        dispatchPrecondition(condition: .onQueue(.main))
        log.append(true)
      }
      _ = await Task.detached { store.update(Tag.self, id: 0) { $0.text = 1 } }.value
      await store.settled()
      #expect(log.count == 2)
      subscription.unsubscribe()
    }
  }

  @Test("A collection is stored under an alias that may be missing")
  func optionalAlias() {
    func save(_ tags: [Tag], _ alias: AliasKey<[Tag]>?) -> [EntityObserver<[Tag]>] {
      [store.store(tags, named: alias), store.store(entities: tags, named: alias)]
    }
    func save(_ tags: Set<Tag>, _ alias: AliasKey<Set<Tag>>?) -> [EntityObserver<[Tag]>] {
      [store.store(tags, named: alias), store.store(entities: tags, named: alias)]
    }
    let tags = [Tag(id: 0, text: 0), Tag(id: 1, text: 1)]
    #expect(save(tags, nil).allSatisfy { $0.value == tags })
    #expect(save(Set(tags), nil).allSatisfy { Set($0.value) == Set(tags) })
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(save(tags, "tags").allSatisfy { $0.value == tags })
    #expect(save(Set(tags), "set").allSatisfy { Set($0.value) == Set(tags) })
    #expect(store.find(named: AliasKey<[Tag]>("tags")).value == tags)
    #expect(store.find(named: AliasKey<Set<Tag>>("set")).value == Set(tags))
  }

  @Test("EntityEnumWrapper, AliasObserver, Observer and OnChange compile and work")
  @available(*, deprecated, message: "so that the deprecated names compile without a warning")
  func observers() {
    enum Medium: EntityEnumWrapper {
      case tag(Tag)
      var tag: Tag? {
        get { if case .tag(let tag) = self { tag } else { nil } }
        set { if let newValue { self = .tag(newValue) } }
      }
      func wrappedEntitiesKeyPaths<Root>(
        relativeTo parent: WritableKeyPath<Root, Self>
      ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.tag))] }
    }
    struct Shelf: Aggregate {
      let id: Int
      var medium: Medium
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.medium)] }
    }
    func follow<T>(_ observer: some Observer<T>, _ log: Log<T>) -> Subscription {
      log.append(observer.value)
      return observer.observe { log.append($0) }
    }
    let shelf = store.store(Shelf(id: 0, medium: .tag(Tag(id: 0, text: 0))))
    let alias: AliasObserver<Tag> = store.find(named: "tag")
    let (entities, aliases) = (Log<Tag>(), Log<Tag?>())
    let subscriptions = [store.find(Tag.self, id: 0).map { follow($0, entities) }, follow(alias, aliases)]
    store.store(Tag(id: 0, text: 1), named: "tag")
    #expect(entities.values.map(\.text) == [0, 0, 1])
    #expect(aliases.values.map { $0?.text } == [nil, nil, 1])
    #expect(shelf.value.medium.tag?.text == 1)
    let onChange: EntityObserver<Shelf>.OnChange = { shelf in entities.append(shelf.medium.tag ?? Tag(id: 9, text: 9)) }
    let last = shelf.observe(onChange: onChange)
    #expect(entities.last?.text == 1)
    for subscription in subscriptions + [last] { subscription?.unsubscribe() }
  }
}

@Suite("Aliases of any type")
struct AliasesOfAnyTypeTests {
  private let store = EntityStore(delivery: .immediate)
  private let tags = [Tag(id: 0, text: 0), Tag(id: 1, text: 1)]

  private func forget<T>(_ alias: AliasKey<T>) { store.removeAlias(named: alias) }
  private func list<C: Collection & Sendable>(_ alias: AliasKey<C>) -> EntityObserver<C?>
  where C.Element: Identifiable & Sendable { store.find(named: alias) }
  private func list<C: Collection & Sendable>(hashed alias: AliasKey<C>) -> EntityObserver<C?>
  where C.Element: Identifiable & Hashable & Sendable { store.find(named: alias) }
  private func one<T: Identifiable & Sendable>(_ alias: AliasKey<T>) -> EntityObserver<T?> { store.find(named: alias) }

  @Test("Generic code finds an alias before anything is stored under it")
  func finding() {
    let (tag, array) = (one(AliasKey<Tag>("tag")), list(AliasKey<[Tag]>("array")))
    let (slice, contiguous) = (list(AliasKey<ArraySlice<Tag>>("slice")), list(AliasKey<ContiguousArray<Tag>>("array")))
    let (set, notes) = (list(hashed: AliasKey<Set<Tag>>("set")), list(AliasKey<[Note]>("notes")))
    #expect(tag.value == nil && array.value == nil && set.value == nil && notes.value == nil)
    store.store(tags[0], named: "tag")
    store.store(tags, named: "array")
    store.store(tags[1...], named: "slice")
    store.store(ContiguousArray(tags), named: "array")
    store.store(Set(tags), named: "set")
    store.store([Note(id: 0, text: 0)], named: "notes")
    store.update(Tag.self, id: 1) { $0.text = 7 }
    #expect(tag.value == tags[0])
    #expect(array.value?.map(\.text) == [0, 7])
    #expect(slice.value?.map(\.text) == [7])
    #expect(contiguous.value?.map(\.text) == [0, 7])
    #expect(set.value == [Tag(id: 0, text: 0), Tag(id: 1, text: 7)])
    #expect(notes.value?.map(\.text) == [0])
    // A set, where the elements are not known to be hashable: the store has seen the type by now.
    #expect(list(AliasKey<Set<Tag>>("set")).value?.count == 2)
    let unknown: EntityObserver<CollectionOfOne<Tag>?> = list(AliasKey<CollectionOfOne<Tag>>("one"))
    #expect(unknown.value == nil && unknown.isRemoved)
  }

  @Test("Generic code removes an alias of an entity, an array or a set, and no other of the name")
  func removing() {
    store.store(tags[0], named: "name")
    store.store(tags, named: "name")
    store.store(Set(tags), named: "name")
    forget(AliasKey<Tag>("name"))
    #expect(store.find(named: AliasKey<Tag>("name")).value == nil)
    #expect(store.find(named: AliasKey<[Tag]>("name")).value == tags)
    forget(AliasKey<[Tag]>("name"))
    #expect(store.find(named: AliasKey<Set<Tag>>("name")).value == Set(tags))
    forget(AliasKey<Set<Tag>>("name"))
    forget(AliasKey<Int>("name"))
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store._checkInvariants() == [])
  }
}

@Suite("Aliases of sets")
struct SetAliasTests {
  private let store = EntityStore(delivery: .immediate)
  private let key: AliasKey<Set<Tag>> = "tags"

  @Test("A set is followed: its elements, its content, its removal")
  func followed() {
    let log = Log<Set<Int>?>()
    let subscription = store.find(named: key).observe { log.append($0.map { Set($0.map(\.text)) }) }
    let stored = store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 1)], named: key)
    #expect(Set(stored.value.map(\.id)) == [0, 1])
    store.update(Tag.self, id: 0) { $0.text = 5 }
    store.update(named: key) { $0.insert(Tag(id: 2, text: 2)) }
    store.remove(Tag.self, id: 1)
    store.removeAlias(named: key)
    #expect(log.values == [nil, [0, 1], [5, 1], [5, 1, 2], [5, 2], nil])
    #expect(store.find(Tag.self, id: 2) == nil)
    #expect(store.find(Tag.self, id: 0) != nil)
    withExtendedLifetime(stored) {}
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("The alias keeps the set's elements alive, and is re-pointed only by a newer call")
  func stamps() {
    store.store([Tag(id: 0, text: 0)], named: key, modifiedAt: 5)
    store.store([Tag(id: 1, text: 1)], named: key, modifiedAt: 4)
    #expect(store.find(named: key).value?.map(\.id) == [0])
    store.store([Tag(id: 1, text: 1)], named: key, modifiedAt: 6)
    #expect(store.find(named: key).value?.map(\.id) == [1])
    #expect(store.find(Tag.self, id: 0) == nil)
    store.removeAll()
    #expect(store.find(named: key).value == nil)
  }
}
