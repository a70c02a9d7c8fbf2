import Concord
import Testing

/// Relations that the random test's schema has not.
private struct Crate: Aggregate, Equatable {
  let id: String
  var slice: ArraySlice<Tag> = []
  var optionalLine: ContiguousArray<Tag>?
  var optionalSet: Set<Tag>?
  var optionalDictionary: [Int: Tag]?
  var grid: [[Tag]] {
    get { [inner] }
    set { inner = newValue.first ?? [] }
  }
  private var inner: [Tag] = []
  var optionalItems: [Item] = []

  init(id: String) { self.id = id }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    [
      .init(\.slice), .init(\.optionalLine), .init(\.optionalSet), .init(\.optionalDictionary), .init(\.grid[0]),
      .init(wrapper: \.optionalItems),
    ]
  }
}

@Suite("Any shape")
struct AnyShapeTests {
  let store = EntityStore(delivery: .immediate)

  private func crate(_ text: Int) -> Crate {
    var crate = Crate(id: "crate")
    let tags = [Tag(id: 9, text: 0), Tag(id: 0, text: text), Tag(id: 1, text: text)]
    crate.slice = tags[1...]
    crate.optionalLine = ContiguousArray(tags[1...])
    crate.optionalSet = Set(tags[1...])
    crate.optionalDictionary = [0: tags[1], 1: tags[2]]
    crate.grid = [Array(tags[1...])]
    crate.optionalItems = [.tag(tags[2]), .plain(5)]
    return crate
  }

  @Test("Slices, sets, dictionaries, computed places and wrappers are kept up to date")
  func shapes() {
    let observer = store.store(crate(1))
    #expect(observer.value == crate(1))
    store.update(Tag.self, id: 0) { $0.text = 2 }
    store.update(Tag.self, id: 1) { $0.text = 2 }
    #expect(observer.value == crate(2))
    store.remove(Tag.self, id: 0)
    #expect(observer.value.slice == [Tag(id: 1, text: 2)])
    #expect(observer.value.optionalLine == [Tag(id: 1, text: 2)])
    #expect(observer.value.optionalSet == [Tag(id: 1, text: 2)])
    #expect(observer.value.optionalDictionary == [1: Tag(id: 1, text: 2)])
    #expect(observer.value.grid == [[Tag(id: 1, text: 2)]])
  }

  @Test("Absent ones stay absent, empty ones stay empty")
  func absent() {
    let observer = store.store(Crate(id: "empty"))
    #expect(observer.value == Crate(id: "empty"))
    var crate = Crate(id: "empty")
    crate.optionalLine = []
    crate.optionalSet = []
    crate.optionalDictionary = [:]
    store.store(crate)
    #expect(observer.value == crate)
    store.store(Crate(id: "empty"))
    #expect(observer.value == Crate(id: "empty"))
  }

  @Test("A wrapper that changes its case changes its relation")
  func wrapperCase() {
    let group = Group(id: 0, name: 0, owner: Person(id: 0, name: 0), item: .tag(Tag(id: 0, text: 0)))
    let observer = store.store(group)
    store.update(Group.self, id: 0) { $0.item = .work(Work(id: 0, title: 1)) }
    #expect(store.find(Tag.self, id: 0) == nil)
    store.update(Work.self, id: 0) { $0.title = 2 }
    #expect(observer.value.item == .work(Work(id: 0, title: 2)))
    store.update(Group.self, id: 0) { $0.item = .plain(3) }
    #expect(store.find(Work.self, id: 0) == nil)
    #expect(observer.value.item == .plain(3))
  }

  @Test("A set whose elements become equal in identity holds one of them")
  func setOfOneIdentity() {
    let observer = store.store(Work(id: 0, title: 0, tags: [Tag(id: 0, text: 1), Tag(id: 0, text: 2)]))
    #expect(observer.value.tags.count == 1)
    store.update(Tag.self, id: 0) { $0.text = 5 }
    #expect(observer.value.tags == [Tag(id: 0, text: 5)])
  }

  @Test("Entities inside entities inside entities")
  func depth() {
    var person = Person(id: 50, name: 0)
    for id in (0..<50).reversed() { person = Person(id: id, name: 0, friends: [person]) }
    let observer = store.store(person)
    store.update(Person.self, id: 50) { $0.name = 7 }
    var deepest = observer.value
    while let next = deepest.friends.first { deepest = next }
    #expect(deepest == Person(id: 50, name: 7))
  }

  @Test("An aggregate may be an element, and take the place of its own kind")
  func replaced() {
    let observer = store.store(Person(id: 0, name: 0, partner: Person(id: 1, name: 1)))
    store.update(Person.self, id: 0) { $0.partner = Person(id: 2, name: 2, partner: Person(id: 1, name: 1)) }
    store.update(Person.self, id: 1) { $0.name = 5 }
    #expect(observer.value.partner?.partner?.name == 5)
    store.update(Person.self, id: 0) { $0.partner = nil }
    #expect(store.find(Person.self, id: 1) == nil)
    #expect(store.find(Person.self, id: 2) == nil)
  }

  @Test("A relation may come and go with the value")
  func relationsOfTheValue() {
    let observer = store.store(Varying(id: 0, knowsTag: false, tag: Tag(id: 0, text: 0)))
    // A place that is not named is a plain value.
    #expect(store.find(Tag.self, id: 0) == nil)
    store.update(Varying.self, id: 0) { $0.knowsTag = true }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(observer.value.tag.text == 1)
  }

  @Test("Relations may come and go in more combinations than the store remembers of a type")
  func manyCombinations() {
    let combinations = Array(1..<32)
    let observers = combinations.map { store.store(Combined(id: $0, shown: $0)) }
    /// Whether each shows its relations as they are in the store, and what is plain data as it was.
    func expectTexts(_ text: Int, shown: (Int) -> Int = { $0 }) {
      for (combination, observer) in zip(combinations, observers) {
        let expected = (0..<5).map { shown(combination) >> $0 & 1 == 1 ? text : 0 }
        #expect(observer.value.tags.map(\.text) == expected)
      }
    }
    for text in 1...3 {
      for id in 0..<5 { store.update(Tag.self, id: id) { $0.text = text } }
      expectTexts(text)
    }
    // Each takes on another combination, one after the other, so that all of them are needed again.
    for combination in combinations {
      store.update(Combined.self, id: combination) { value in
        value.shown = 31
        for index in value.tags.indices { value.tags[index].text = 3 }
      }
    }
    for id in 0..<5 { store.update(Tag.self, id: id) { $0.text = 4 } }
    expectTexts(4) { _ in 31 }
    for combination in combinations.reversed() {
      store.update(Combined.self, id: combination) { value in
        value.shown = combination
        for index in value.tags.indices where combination >> index & 1 == 0 { value.tags[index].text = 0 }
      }
    }
    for id in 0..<5 { store.update(Tag.self, id: id) { $0.text = 5 } }
    expectTexts(5)
    #expect(store._checkInvariants().isEmpty)
  }
}

/// Shows any of five tags, by the bits of a number.
private struct Combined: Aggregate, Equatable {
  let id: Int
  var shown: Int
  var tags: [Tag] = (0..<5).map { Tag(id: $0, text: 0) }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] {
    (0..<5).filter { shown >> $0 & 1 == 1 }.map { .init(\.tags[$0]) }
  }
}

private struct Varying: Aggregate, Equatable {
  let id: Int
  var knowsTag: Bool
  var tag: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { knowsTag ? [.init(\.tag)] : [] }
}
