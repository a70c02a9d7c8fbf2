import Concord
import Testing

@Suite("Names of the earlier system")
struct LegacyNamesTests {
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
    let store = EntityStore(delivery: .immediate)
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
}
