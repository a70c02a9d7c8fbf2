import Concord
import Dispatch
import Testing

/// Its relations are computed from what it stores.
private struct Library: Aggregate, Equatable {
  enum View: CaseIterable, Sendable { case sorted, shown, first, newest, byText, reversed }

  let id: Int
  var view: View
  var stored: [Tag]

  init(_ view: View, _ stored: [Tag]) { (id, self.view, self.stored) = (0, view, stored) }

  /// Sorted by text, in both directions.
  var sorted: [Tag] {
    get { stored.sorted { ($0.text, $0.id) < ($1.text, $1.id) } }
    set { stored = newValue }
  }

  /// Filtered: the setter keeps what is not shown.
  var shown: [Tag] {
    get { stored.filter { $0.text % 2 == 0 } }
    set { stored = newValue + stored.filter { $0.text % 2 != 0 } }
  }

  /// The first of them; without it the next one is the first.
  var first: Tag? {
    get { stored.first }
    set {
      guard !stored.isEmpty else { return }
      if let newValue { stored[0] = newValue } else { stored.removeFirst() }
    }
  }

  /// The one with the greatest text: writing to it may make another one the greatest.
  var newest: Tag? {
    get { stored.max { ($0.text, $0.id) < ($1.text, $1.id) } }
    set {
      guard let index = stored.firstIndex(where: { $0.id == newest?.id }) else { return }
      if let newValue { stored[index] = newValue } else { stored.remove(at: index) }
    }
  }

  /// A dictionary by text: two with the same text are one entry, as in any index.
  var byText: [Int: Tag] {
    get { Dictionary(stored.map { ($0.text, $0) }) { first, _ in first } }
    set { stored = newValue.values.sorted { $0.id < $1.id } }
  }

  var reversed: ReversedTags {
    get { ReversedTags(tags: stored.reversed()) }
    set { stored = newValue.tags.reversed() }
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    switch view {
    case .sorted: [.init(\.sorted)]
    case .shown: [.init(\.shown)]
    case .first: [.init(\.first)]
    case .newest: [.init(\.newest)]
    case .byText: [.init(\.byText)]
    case .reversed: [.init(\.reversed.tags)]
    }
  }

  /// What stands in its relation now.
  var related: [Tag] {
    switch view {
    case .sorted: sorted
    case .shown: shown
    case .first: first.map { [$0] } ?? []
    case .newest: newest.map { [$0] } ?? []
    case .byText: Array(byText.values)
    case .reversed: reversed.tags
    }
  }
}

private struct ReversedTags: Equatable, Sendable { var tags: [Tag] }

/// Sorts what it is given as soon as it gets it.
private struct SortedList: Aggregate, Equatable {
  let id: Int
  var tags: [Tag] { didSet { tags.sort { ($0.text, $0.id) < ($1.text, $1.id) } } }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tags)] }
}

/// Keeps only tags with a text of at least 0, and each once.
private struct TidyList: Aggregate, Equatable {
  let id: Int
  var tags: [Tag] {
    didSet {
      var seen: Set<Int> = []
      tags.removeAll { $0.text < 0 || !seen.insert($0.id).inserted }
    }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tags)] }
}

/// A struct, and a property inside of it, both listed; and one of them twice.
private struct Overlapping: Aggregate, Equatable {
  enum Form: CaseIterable, Sendable { case outerFirst, innerFirst, twice, twiceAndInner, arrayAndElement, wrapped }

  let id: Int
  var form: Form
  var person: Person
  var tags: [Tag]

  init(_ form: Form) {
    self.form = form
    id = 0
    person = Person(id: 1, name: 0, tag: Tag(id: 2, text: 0), slot: .tag(Tag(id: 3, text: 0)))
    tags = [Tag(id: 2, text: 0), Tag(id: 3, text: 0)]
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    switch form {
    case .outerFirst: [.init(\.person), .init(\.person.tag)]
    case .innerFirst: [.init(\.person.tag), .init(\.person)]
    case .twice: [.init(\.person), .init(\.tags), .init(\.person), .init(\.tags)]
    case .twiceAndInner: [.init(\.person.tag), .init(\.person), .init(\.person.tag), .init(\.person.slot.tag)]
    case .arrayAndElement: [.init(\.tags), .init(\.tags[0]), .init(\.person)]
    case .wrapped: [.init(wrapper: \.person.slot), .init(\.person), .init(\.person.slot.tag)]
    }
  }
}

/// Names itself as its own relation.
private struct Selfish: Aggregate, Equatable {
  let id: Int
  var name: Int
  var tag: Tag?
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.self), .init(\.tag)] }
}

/// Has a pool of tags, which is no relation, and shows the one that its own tag says.
private struct Pointer: Aggregate, Equatable {
  let id: Int
  var tag: Tag
  var pool: [Tag]
  var pointee: Tag? {
    get { pool.first { $0.id == tag.text } }
    set {
      guard let index = pool.firstIndex(where: { $0.id == tag.text }) else { return }
      if let newValue { pool[index] = newValue } else { pool.remove(at: index) }
    }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tag), .init(\.pointee)] }
}

private func tag(_ id: Int, _ text: Int = 0) -> Tag { Tag(id: id, text: text) }

@Suite("Relations may be derived from other properties")
struct DerivedRelationsTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("What a computed relation shows is what the store has", arguments: Library.View.allCases, [true, false])
  private func derived(view: Library.View, isObserved: Bool) {
    let log = Log<Library>()
    let keep = store.store((0..<5).map { tag($0, $0) })
    let library = store.store(Library(view, (0..<5).map { tag($0, $0) }))
    let subscription = isObserved ? library.observe { log.append($0) } : nil
    let changes = [(0, 9), (4, 8), (1, 2), (1, 3), (2, 20), (2, -4), (3, 11), (0, 0), (4, 4), (1, 12)]
    for (id, text) in changes {
      store.update(Tag.self, id: id) { $0.text = text }
      let value = library.value
      #expect(value == library.value)
      for shown in value.related { #expect(shown == store.find(Tag.self, id: shown.id)?.value) }
      #expect(Set(value.related.map(\.id)).count == value.related.count)
      #expect(store._checkInvariants() == [])
      if isObserved { #expect(log.last == value) }
    }
    if view == .sorted || view == .reversed { #expect(library.value.stored.count == 5) }
    #expect(Set(library.value.stored.map(\.id)).count == library.value.stored.count)
    subscription?.unsubscribe()
    withExtendedLifetime(keep) {}
  }

  @Test("A sorted relation is in order after each change")
  func sorted() {
    let library = store.store(Library(.sorted, (0..<4).map { tag($0, $0) }))
    store.update(Tag.self, id: 0) { $0.text = 10 }
    #expect(library.value.sorted == [tag(1, 1), tag(2, 2), tag(3, 3), tag(0, 10)])
    store.update(Tag.self, id: 2) { $0.text = 11 }
    #expect(library.value.sorted == [tag(1, 1), tag(3, 3), tag(0, 10), tag(2, 11)])
    store.update(Library.self, id: 0) { $0.sorted[0].text = 12 }
    #expect(library.value.sorted == [tag(3, 3), tag(0, 10), tag(2, 11), tag(1, 12)])
    #expect(store.find(Tag.self, id: 1)?.value.text == 12)
    #expect(store._checkInvariants() == [])
  }

  @Test("Removing takes one out of a computed relation, and leaves the others", arguments: Library.View.allCases, 0..<5)
  private func removed(view: Library.View, id: Int) {
    let keep = store.store((0..<5).map { tag($0, $0) })
    let library = store.store(Library(view, (0..<5).map { tag($0, $0) }))
    store.remove(Tag.self, id: id)
    if store.find(Library.self, id: 0) != nil {
      #expect(!library.value.related.contains { $0.id == id })
      for shown in library.value.related { #expect(shown == store.find(Tag.self, id: shown.id)?.value) }
    }
    for other in 0..<5 where other != id {
      store.update(Tag.self, id: other) { $0.text += 2 }
      for shown in library.value.related { #expect(shown == store.find(Tag.self, id: shown.id)?.value) }
      #expect(Set(library.value.stored.map(\.id)).count == library.value.stored.count)
      #expect(store._checkInvariants() == [])
    }
    withExtendedLifetime(keep) {}
  }

  @Test("Changed through the parent, and then through the child", arguments: Library.View.allCases)
  private func inParent(view: Library.View) {
    let keep = store.store((0..<5).map { tag($0, $0) })
    let library = store.store(Library(view, (0..<5).map { tag($0, $0) }))
    for step in 1...6 {
      store.update(Library.self, id: 0) { library in
        for index in library.stored.indices where index % 2 == step % 2 { library.stored[index].text += 2 * step }
      }
      store.update(Tag.self, id: step % 5) { $0.text -= 3 }
      for shown in library.value.related { #expect(shown == store.find(Tag.self, id: shown.id)?.value) }
      #expect(store._checkInvariants() == [])
    }
    withExtendedLifetime(keep) {}
  }

  @Test("A didSet that sorts: no entity is doubled, none is stale", arguments: [true, false])
  func didSetSorts(isObserved: Bool) {
    let log = Log<SortedList>()
    let list = store.store(SortedList(id: 0, tags: (0..<5).map { tag($0, $0) }))
    let subscription = isObserved ? list.observe { log.append($0) } : nil
    var texts = Array(0..<5)
    for (id, text) in [(0, 10), (4, -1), (2, 30), (2, -30), (1, 1), (3, 9), (0, -9)] {
      texts[id] = text
      store.update(Tag.self, id: id) { $0.text = text }
      let expected = texts.enumerated().map { tag($0, $1) }.sorted { ($0.text, $0.id) < ($1.text, $1.id) }
      #expect(list.value.tags == expected)
      if isObserved { #expect(log.last?.tags == expected) }
    }
    store.transaction { store in
      for id in 0..<5 {
        texts[id] = 100 - texts[id]
        store.update(Tag.self, id: id) { $0.text = texts[id] }
      }
    }
    #expect(list.value.tags == texts.enumerated().map { tag($0, $1) }.sorted { ($0.text, $0.id) < ($1.text, $1.id) })
    store.remove(Tag.self, id: 2)
    #expect(Set(list.value.tags.map(\.id)) == [0, 1, 3, 4])
    #expect(store._checkInvariants() == [])
    subscription?.unsubscribe()
  }

  @Test("A transaction that is undone calls no setter: a value that its didSet would change is as it was")
  func undoneWithoutSetter() {
    let tag = store.store(Tag(id: 0, text: 0))
    let drawer = store.store(Tidy(id: 0, boxes: [.empty, .full([tag.value])]))
    #expect(drawer.value.boxes.count == 2)
    for isRead in [false, true] {
      try? store.transaction { tx in
        tx.update(Tag.self, id: 0) { $0.text = 1 }
        tx.update(Tidy.self, id: 0) { $0.name = 1 }
        if isRead { #expect(drawer.value.boxes == [.full([Tag(id: 0, text: 1)])]) }
        throw Refused()
      }
      #expect(drawer.value == Tidy(id: 0, boxes: [.empty, .full([Tag(id: 0, text: 0)])]))
    }
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(drawer.value.boxes == [.full([Tag(id: 0, text: 2)])])
  }

  @Test("A didSet that throws out elements: what is left is what the store has")
  func didSetFilters() {
    let keep = store.store((0..<4).map { tag($0) })
    let list = store.store(TidyList(id: 0, tags: (0..<4).map { tag($0) }))
    store.update(Tag.self, id: 1) { $0.text = -1 }
    #expect(list.value.tags.map(\.id) == [0, 2, 3])
    store.update(Tag.self, id: 2) { $0.text = 5 }
    store.update(Tag.self, id: 3) { $0.text = 6 }
    #expect(list.value.tags == [tag(0), tag(2, 5), tag(3, 6)])
    store.update(TidyList.self, id: 0) { $0.tags.append(tag(0, 7)) }
    #expect(list.value.tags.map(\.id) == [0, 2, 3])
    for shown in list.value.tags { #expect(shown == store.find(Tag.self, id: shown.id)?.value) }
    store.remove(Tag.self, id: 0)
    #expect(list.value.tags.map(\.id) == [2, 3])
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(keep) {}
  }

  @Test("Relations that overlap, or are listed twice, show one truth", arguments: Overlapping.Form.allCases)
  private func overlapping(form: Overlapping.Form) {
    let keep = store.store([tag(2), tag(3)])
    let keepPerson = store.store(Overlapping(form).person)
    let entity = store.store(Overlapping(form))
    func check(_ comment: Comment) {
      let value = entity.value
      #expect(value.person == store.find(Person.self, id: 1)?.value, comment)
      #expect(value.person.tag == store.find(Tag.self, id: 2)?.value, comment)
      if form == .twice || form == .arrayAndElement {
        #expect(value.tags == [2, 3].compactMap { store.find(Tag.self, id: $0)?.value }, comment)
      }
      #expect(store._checkInvariants() == [], comment)
    }
    for step in 1...3 {
      store.update(Tag.self, id: 2) { $0.text = step }
      check("a tag, \(step)")
      store.update(Tag.self, id: 3) { $0.text = step * 2 }
      check("another tag, \(step)")
      store.update(Person.self, id: 1) { $0.name = step }
      check("a person, \(step)")
      store.update(Person.self, id: 1) { $0.tag?.text += 100 }
      check("a tag in the person, \(step)")
      store.update(Overlapping.self, id: 0) { $0.person.name += 100 }
      check("a person in the whole, \(step)")
      #expect(entity.value.person.name == step + 100)
      store.update(Overlapping.self, id: 0) { $0.person.tag?.text += 100 }
      check("a tag in the whole, \(step)")
      #expect(entity.value.person.tag?.text == step + 200)
    }
    store.store(entity.value)
    check("stored again")
    store.remove(Tag.self, id: 2)
    if store.find(Overlapping.self, id: 0) != nil {
      #expect(entity.value.person.tag == nil)
      #expect(!entity.value.tags.contains { $0.id == 2 } || (form != .twice && form != .arrayAndElement))
    }
    #expect(store._checkInvariants() == [])
    store.remove(Person.self, id: 1)
    #expect(store.find(Overlapping.self, id: 0) == nil)
    #expect(store._checkInvariants() == [])
    withExtendedLifetime((keep, keepPerson)) {}
  }

  /// How a value that shows another entity than before is looked at.
  enum Look: CaseIterable { case told, read, observed, toldOnQueue, paused, listed }

  @Test(
    "A change of a child may have a computed relation show another entity, which is one of the store then",
    arguments: Look.allCases)
  func shown(look: Look) async {
    let queue = DispatchQueue(label: "store")
    let store = look == .toldOnQueue || look == .paused ? EntityStore(queue: queue) : self.store
    let log = Log<Int?>()
    let told = Log<Int?>()
    let awaiting = store.observer(Tag.self, id: 5).observe { log.append($0?.text) }
    let pointer = store.store(Pointer(id: 0, tag: tag(1, 0), pool: [tag(5, 7)]))
    var subscription: Subscription?
    if look == .told || look == .toldOnQueue || look == .paused {
      subscription = pointer.observe { told.append($0.pointee?.text) }
    }
    store.update(Tag.self, id: 1) { $0.text = 5 }
    switch look {
    case .told, .toldOnQueue: break
    case .read: #expect(pointer.value.pointee == tag(5, 7))
    case .observed: subscription = pointer.observe { told.append($0.pointee?.text) }
    case .listed: #expect(store.all(Pointer.self).map { $0.pointee } == [tag(5, 7)])
    case .paused:
      await store.settled()
      subscription?.pause()
      store.update(Tag.self, id: 1) { $0.text = 6 }
      store.update(Tag.self, id: 1) { $0.text = 5 }
      subscription?.resume()
    }
    // Twice: who is told because of what a turn showed is told in the next one.
    for _ in 0..<2 { await store.settled() }
    #expect(log.values == [nil, 7])
    #expect(store.value(Tag.self, id: 5) == tag(5, 7))
    store.update(Tag.self, id: 5) { $0.text = 8 }
    #expect(pointer.value.pointee == tag(5, 8))
    for _ in 0..<2 { await store.settled() }
    #expect(log.values == [nil, 7, 8])
    if subscription != nil { #expect(told.last == 8) }
    subscription?.unsubscribe()
    awaiting.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("A relation to itself: storing, updating and removing return, and do what they say")
  func toItself() throws {
    let store = store
    let log = Log<Selfish>()
    try #require(
      ends {
        let entity = store.store(Selfish(id: 0, name: 0, tag: tag(1)))
        let subscription = entity.observe { log.append($0) }
        store.update(Selfish.self, id: 0) { $0.name = 1 }
        store.update(Tag.self, id: 1) { $0.text = 2 }
        store.update(Selfish.self, id: 0) { $0.tag?.text = 3 }
        store.store(Selfish(id: 0, name: 4, tag: tag(1, 4)))
        subscription.unsubscribe()
        store.remove(Selfish.self, id: 0)
      })
    #expect(
      log.values == [
        Selfish(id: 0, name: 0, tag: tag(1)), Selfish(id: 0, name: 1, tag: tag(1)),
        Selfish(id: 0, name: 1, tag: tag(1, 2)), Selfish(id: 0, name: 1, tag: tag(1, 3)),
        Selfish(id: 0, name: 4, tag: tag(1, 4)),
      ])
  }
}

/// Throws its empty boxes out when boxes are set.
private struct Tidy: Aggregate, Equatable {
  indirect enum Box: EntityWrapper, Equatable {
    case empty, full([Tag])

    var tags: [Tag]? {
      get { if case .full(let tags) = self { tags } else { nil } }
      set { if let newValue { self = .full(newValue) } else { self = .empty } }
    }

    func wrappedEntitiesKeyPaths<Root>(
      relativeTo parent: WritableKeyPath<Root, Self>
    ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.tags))] }
  }

  let id: Int
  var name = 0
  var boxes: [Box] { didSet { boxes.removeAll { $0 == .empty } } }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.boxes)] }
}
