import Concord
import Testing

@Suite("One truth")
struct OneTruthTests {
  let store = EntityStore(delivery: .immediate)

  private func group(_ id: Int = 0, tag: Tag) -> Group {
    Group(
      id: id, name: 0, owner: Person(id: 0, name: 0, tag: tag), deputy: Person(id: 1, name: 0, slot: .tag(tag)),
      members: [Person(id: 2, name: 0, tag: tag), Person(id: 2, name: 0, tag: tag)], tags: [tag, tag], line: [tag],
      shelves: ["1": Work(id: 0, title: 0, tags: [tag], byKey: ["a": tag, "b": tag])],
      meta: Meta(inner: .init(tag: tag, work: Work(id: 1, title: 0, tags: [tag]))), item: .tag(tag), extra: .tag(tag),
      items: [.tag(tag), .plain(1), .work(Work(id: 0, title: 0, tags: [tag], byKey: ["a": tag, "b": tag]))],
      pair: Pair(first: tag, second: tag))
  }

  @Test("A stored entity shows its newer value at every place of an aggregate")
  func everyPlace() {
    let observer = store.store(group(tag: Tag(id: 0, text: 1)))
    #expect(observer.value == group(tag: Tag(id: 0, text: 1)))
    store.store(Tag(id: 0, text: 2))
    #expect(observer.value == group(tag: Tag(id: 0, text: 2)))
    store.update(Tag.self, id: 0) { $0.text = 3 }
    #expect(observer.value == group(tag: Tag(id: 0, text: 3)))
  }

  @Test("An aggregate stored with an old copy of an entity shows the store's newer one")
  func oldCopy() {
    let tag = store.store(Tag(id: 0, text: 2), modifiedAt: 10)
    let observer = store.store(group(tag: Tag(id: 0, text: 1)), modifiedAt: 5)
    #expect(observer.value == group(tag: Tag(id: 0, text: 2)))
    #expect(tag.value.text == 2)
  }

  @Test("An aggregate stored with a newer copy gives it to all other aggregates")
  func newerCopy() {
    let one = store.store(group(0, tag: Tag(id: 0, text: 1)), modifiedAt: 1)
    let other = store.store(group(1, tag: Tag(id: 0, text: 2)), modifiedAt: 2)
    #expect(one.value == group(0, tag: Tag(id: 0, text: 2)))
    #expect(other.value == group(1, tag: Tag(id: 0, text: 2)))
  }

  @Test("An alias, a collection, a found and a waiting observer all show the same")
  func everyObserver() {
    let single: AliasKey<Tag> = "single"
    let many: AliasKey<[Tag]> = "many"
    let waiting = store.observer(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 1), named: single)
    store.store([Tag(id: 0, text: 2), Tag(id: 1, text: 1)], named: many)
    let list = store.store([Tag(id: 1, text: 5), Tag(id: 0, text: 6)])
    store.update(Tag.self, id: 0) { $0.text = 7 }
    #expect(waiting.value == Tag(id: 0, text: 7))
    #expect(store.find(named: single).value == Tag(id: 0, text: 7))
    #expect(store.find(named: many).value == [Tag(id: 0, text: 7), Tag(id: 1, text: 5)])
    #expect(list.value == [Tag(id: 1, text: 5), Tag(id: 0, text: 7)])
    #expect(store.find(Tag.self, id: 0)?.value == Tag(id: 0, text: 7))
  }

  @Test("A change deep below reaches the top, and one made at the top reaches everybody below")
  func depths() {
    let deep = Person(
      id: 0, name: 0, friends: [Person(id: 1, name: 0, partner: Person(id: 2, name: 0, tag: Tag(id: 0, text: 0)))])
    let top = store.store(deep)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(top.value.friends[0].partner?.tag?.text == 1)
    store.update(Person.self, id: 0) { $0.friends[0].partner?.tag?.text = 2 }
    #expect(store.find(Tag.self, id: 0)?.value.text == 2)
    #expect(store.find(Person.self, id: 2)?.value.tag?.text == 2)
    #expect(top.value.friends[0].partner?.tag?.text == 2)
  }

  @Test("Relations that were changed are followed, those that were left are not")
  func changedRelations() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    store.update(Person.self, id: 0) { $0.tag = Tag(id: 1, text: 5) }
    #expect(store.find(Tag.self, id: 0) == nil)
    store.store(Tag(id: 0, text: 9))
    #expect(person.value.tag == Tag(id: 1, text: 5))
    store.update(Tag.self, id: 1) { $0.text = 6 }
    #expect(person.value.tag == Tag(id: 1, text: 6))
  }

  @Test("What was left out of a list is forgotten there, what was added is followed")
  func changedList() {
    let person = store.store(Person(id: 0, name: 0, friends: [Person(id: 1, name: 1), Person(id: 2, name: 2)]))
    store.update(Person.self, id: 0) { $0.friends.removeFirst() }
    #expect(store.find(Person.self, id: 1) == nil)
    store.update(Person.self, id: 0) { $0.friends.insert(Person(id: 3, name: 3), at: 0) }
    store.update(Person.self, id: 3) { $0.name = 4 }
    store.update(Person.self, id: 2) { $0.name = 5 }
    #expect(person.value.friends.map(\.name) == [4, 5])
  }

  @Test("A value in which more than 64 places show something old shows the new in each", arguments: [63, 64, 65, 200])
  func manyOldPlaces(_ count: Int) {
    // Every tag twice, so that the second half are the far ones.
    let tags = (0..<count).map { Tag(id: $0, text: 0) }
    let group = store.store(Group(id: 0, name: 0, owner: Person(id: 0, name: 0), tags: tags + tags.reversed()))
    var expected = [Int](repeating: 0, count: count)
    func update(_ ids: some Sequence<Int>, to text: Int) {
      for id in ids {
        store.update(Tag.self, id: id) { $0.text = text }
        expected[id] = text
      }
    }
    func expectAll() { #expect(group.value.tags?.map(\.text) == expected + expected.reversed()) }
    update(0..<count, to: 1)
    expectAll()
    // Some of them, some several times, and some of those that were read meanwhile.
    update(stride(from: 1, to: count, by: 3), to: 2)
    update(stride(from: 0, to: count, by: 2), to: 3)
    expectAll()
    update((0..<count).reversed(), to: 4)
    store.remove(Tag.self, id: count - 1)
    expected.removeLast()
    expectAll()
    update(0..<count - 1, to: 5)
    store.update(Group.self, id: 0) { $0.tags?.removeLast() }
    #expect(group.value.tags?.map(\.text) == Array((expected + expected.reversed()).dropLast()))
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("Entities with the same id and another type are other entities")
  func typesAreApart() {
    let tag = store.store(Tag(id: 0, text: 1))
    let note = store.store(Note(id: 0, text: 2))
    store.update(Tag.self, id: 0) { $0.text = 3 }
    #expect(tag.value.text == 3)
    #expect(note.value.text == 2)
  }
}
