import Concord
import Testing

/// A wrapper in an entity that can stand in a cycle, whose setter ignores `nil`.
private indirect enum Link: EntityWrapper, Equatable {
  case end, next(Ring)

  var ring: Ring? {
    get { if case .next(let ring) = self { ring } else { nil } }
    set { if let newValue { self = .next(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] { [.init(parent.appending(path: \.ring))] }
}

private struct Ring: Aggregate, Equatable {
  let id: Int
  var name = 0
  var link: Link = .end
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(wrapper: \.link)] }
}

/// Its `==` says that everything is the same.
private struct Liar: Identifiable, Equatable {
  let id: Int
  var text: Int
  static func == (lhs: Liar, rhs: Liar) -> Bool { true }
}

/// Names one place twice.
private struct Twice: Aggregate, Equatable {
  let id: Int
  var tag: Tag
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tag), .init(\.tag)] }
}

@Suite("No crash by data")
struct NoCrashByDataTests {
  let store = EntityStore(delivery: .immediate)

  @Test("Stamps that are no numbers", arguments: [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, -0.0])
  func stamps(stamp: Stamp) {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: stamp)
    store.store(Tag(id: 0, text: 1), modifiedAt: stamp)
    store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 2)), named: "person", modifiedAt: stamp)
    store.update(Tag.self, id: 0, modifiedAt: stamp) { $0.text = 3 }
    store.update(Tag.self, id: 0) { $0.text = 4 }
    #expect(tag.value.id == 0)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A stamp that is no number is never newer than one that is")
  func notANumber() {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 1)
    #expect(!store.update(Tag.self, id: 0, modifiedAt: .nan) { $0.text = 1 })
    #expect(tag.value.text == 0)
  }

  @Test("Empty collections")
  func empty() {
    let list = store.store([Tag]())
    let key: AliasKey<[Tag]> = "empty"
    let named = store.store([], named: key)
    #expect(list.value.isEmpty)
    #expect(named.value.isEmpty)
    #expect(store.find(named: key).value == [])
    #expect(store.update(named: key) { $0.append(Tag(id: 0, text: 0)) })
    #expect(store.find(named: key).value == [Tag(id: 0, text: 0)])
  }

  @Test("What is not there")
  func absent() {
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(!store.update(Tag.self, id: 0) { _ in })
    #expect(!store.remove(Tag.self, id: 0))
    let key: AliasKey<Tag> = "nothing"
    #expect(store.find(named: key).value == nil)
    #expect(!store.update(named: key) { _ in })
    store.removeAlias(named: key)
    store.removeAllAlias()
    store.removeAll()
    #expect(store.observer(Tag.self, id: 0).value == nil)
  }

  @Test("Changing the id inside update is refused")
  func changedID() {
    struct Renamed: Identifiable, Equatable {
      var id: Int
      var text: Int
    }
    let entity = store.store(Renamed(id: 0, text: 0))
    #expect(
      !store.update(Renamed.self, id: 0) {
        $0.id = 1; $0.text = 1
      })
    #expect(entity.value == Renamed(id: 0, text: 0))
    #expect(store.find(Renamed.self, id: 1) == nil)
  }

  @Test("An aggregate whose id changes with a child keeps its identity")
  func idOfChild() {
    struct Shelf: Aggregate, Equatable {
      var id: Int { tag.id }
      var tag: Tag
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.tag)] }
    }
    let shelf = store.store(Shelf(tag: Tag(id: 0, text: 0)))
    #expect(!store.update(Shelf.self, id: 0) { $0.tag = Tag(id: 1, text: 0) })
    store.update(Tag.self, id: 0) { $0.text = 5 }
    #expect(shelf.value.tag.text == 5)
    store.remove(Tag.self, id: 0)
    #expect(store.find(Shelf.self, id: 0) == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A cycle through a wrapper that cannot be emptied can be read")
  func stubbornCycle() {
    let observer = store.store(Ring(id: 0, link: .next(Ring(id: 1, link: .next(Ring(id: 0))))))
    store.update(Ring.self, id: 1) { $0.link = .next(Ring(id: 0, link: .next(Ring(id: 1)))) }
    store.update(Ring.self, id: 0) { $0.name = 5 }
    #expect(observer.value.name == 5)
    #expect(observer.value.link.ring?.id == 1)
    let alone = store.store(Ring(id: 7, link: .next(Ring(id: 7))))
    #expect(alone.value.id == 7)
    store.remove(Ring.self, id: 0)
    #expect(store.find(Ring.self, id: 1) == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("An == that lies loses values, and nothing else")
  func lyingEquality() {
    let entity = store.store(Liar(id: 0, text: 0))
    store.store(Liar(id: 0, text: 1))
    store.update(Liar.self, id: 0) { $0.text = 2 }
    #expect(entity.value.id == 0)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A place that is named twice")
  func namedTwice() {
    let observer = store.store(Twice(id: 0, tag: Tag(id: 0, text: 0)))
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(observer.value.tag.text == 1)
    store.update(Twice.self, id: 0) { $0.tag = Tag(id: 1, text: 1) }
    #expect(store.find(Tag.self, id: 0) == nil)
    store.remove(Tag.self, id: 1)
    #expect(store.find(Twice.self, id: 0) == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A handle made in a transaction that throws does no harm")
  func escapedHandle() {
    let kept = Kept<EntityObserver<Tag>>()
    let log = Log<Int>()
    let subscription = Kept<Subscription>()
    try? store.transaction { store in
      kept.value = store.store(Tag(id: 0, text: 1))
      subscription.value = kept.value?.observe { log.append($0.text) }
      throw Refused()
    }
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(kept.value?.value.id == 0)
    store.store(Tag(id: 0, text: 2))
    #expect(kept.value?.value.text == 2)
    kept.value = nil
    subscription.value = nil
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("Long texts, odd texts and empty texts are ids like others")
  func texts() {
    struct Named: Identifiable, Equatable {
      let id: String
      var text = 0
    }
    let ids = ["", " ", "\u{0}", "🏴‍☠️", String(repeating: "x", count: 100_000), "é", "a\u{1}b"]
    let observers = ids.map { store.store(Named(id: $0)) }
    for (number, id) in ids.enumerated() { store.update(Named.self, id: id) { $0.text = number + 1 } }
    #expect(observers.map(\.value.text) == Array(1...ids.count))
  }
}
