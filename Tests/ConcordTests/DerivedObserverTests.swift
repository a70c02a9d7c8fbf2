import Concord
import Dispatch
import Foundation
import Testing

@Suite("Derived observers")
struct DerivedObserverTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("A function's result is read, and told when it is another")
  func mapped() {
    let log = Log<Bool>()
    let tag = store.store(Tag(id: 0, text: 1))
    let isEven = tag.map { $0.text % 2 == 0 }
    let subscription = isEven.observe { log.append($0) }
    for text in [2, 4, 5] { store.update(Tag.self, id: 0) { $0.text = text } }
    #expect(log.values == [false, true, false])
    #expect(!isEven.value)
    #expect(!isEven.isRemoved)
    store.remove(Tag.self, id: 0)
    #expect(isEven.isRemoved)
    #expect(!isEven.value)
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("A property of the value is an observer, at any depth, and so is one of an optional")
  func members() {
    let person = store.store(Person(id: 0, name: 7, tag: Tag(id: 0, text: 0)))
    let log = Log<Int?>()
    let text: EntityObserver<Int?> = person.tag.map { $0?.text }
    let subscription = text.observe { log.append($0) }
    #expect(person.name.value == 7)
    #expect(person.friends.count.value == 0)
    store.update(Tag.self, id: 0) { $0.text = 1 }
    store.update(Person.self, id: 0) { $0.name = 8 }
    store.update(Person.self, id: 0) { $0.tag = nil }
    #expect(log.values == [0, 1, nil])
    #expect(person.name.value == 8)
    subscription.unsubscribe()
  }

  @Test("It keeps the entity alive as the one it is made of")
  func lifetime() {
    var text: EntityObserver<Int>? = store.store(Tag(id: 0, text: 3)).map { $0.text }.map { $0 + 1 }
    #expect(text?.value == 4)
    #expect(store.find(Tag.self, id: 0) != nil)
    text = nil
    #expect(store.find(Tag.self, id: 0) == nil)
    #expect(store._statistics().nodes == 0)
  }

  @Test("The function may use the store, wherever it is called, and runs on the queue that delivers")
  func usesStore() async {
    let queue = DispatchQueue(label: "store")
    let store = EntityStore(queue: queue)
    let tags = [store.store(Tag(id: 0, text: 0)), store.store(Tag(id: 1, text: 10))]
    let sum = tags[0].map { $0.text + (store.value(Tag.self, id: 1)?.text ?? 0) }
    let log = Log<Int>()
    let subscription = sum.observe { log.append($0) }
    store.update(Tag.self, id: 0) { $0.text = 1 }
    await store.settled()
    #expect(log.values == [10, 11])
    store.transaction { store in
      store.update(Tag.self, id: 1) { $0.text = 20 }
      #expect(sum.value == 21)
    }
    subscription.unsubscribe()
    withExtendedLifetime(tags) {}
  }

  @Test("The type of the entity itself can be derived, and is not taken for it")
  func sameType() {
    let tag = store.store(Tag(id: 0, text: 1)).map { Tag(id: $0.id, text: -$0.text) }
    let log = Log<Int>()
    let subscription = tag.observe { log.append($0.text) }
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(tag.value.text == -2)
    #expect(log.values == [-1, -2])
    subscription.unsubscribe()
  }

  @Test("Sequences, observable objects, parts, pauses and the first call in turn work as with any other")
  func everything() async {
    let queue = DispatchQueue(label: "store")
    let store = EntityStore(queue: queue)
    let text = store.store(Tag(id: 0, text: 1)).map { "\($0.text)" }
    let (log, counts) = (Log<String>(), Log<Int>())
    let subscription = text.observe(buffering: .every, firstCall: .inTurn) { log.append($0) }
    let part = text.observe(\.count) { counts.append($0) }
    await store.settled()
    subscription.pause()
    for text in [2, 30] { store.update(Tag.self, id: 0) { $0.text = text } }
    await store.settled()
    #expect(log.values == ["1"])
    #expect(text.observed.value == "30")
    subscription.resume()
    await store.settled()
    #expect(log.values == ["1", "30"])
    #expect(counts.values == [1, 2])
    for await text in text.values {
      #expect(text == "30")
      break
    }
    subscription.unsubscribe()
    part.unsubscribe()
  }

  @Test("Inside a transaction that bears the entity the first call comes at the commit")
  func unborn() {
    let log = Log<Int>()
    let kept = Kept<Subscription>()
    store.transaction { store in
      kept.value = store.store(Tag(id: 0, text: 0)).map { $0.text }.observe { log.append($0) }
      store.update(Tag.self, id: 0) { $0.text = 1 }
    }
    #expect(log.values == [1])
    kept.value = nil
  }

  @Test("Two observers of one entity are equal; of others, of other stores, and derived ones are not")
  func equality() {
    let tag = store.store(Tag(id: 0, text: 0))
    let same = store.find(Tag.self, id: 0)
    let other = store.store(Tag(id: 1, text: 0))
    let elsewhere = EntityStore(delivery: .immediate).store(Tag(id: 0, text: 0))
    #expect(tag == same)
    #expect(tag.hashValue == same?.hashValue)
    #expect(tag != other)
    #expect(tag != elsewhere)
    let hash = tag.hashValue
    store.update(Tag.self, id: 0) { $0.text = 1 }
    #expect(tag.hashValue == hash)
    #expect(Set([tag, other, elsewhere, tag]).count == 3)
    #expect(tag.map { $0.text } != tag.map { $0.text })
    let text = tag.map { $0.text }
    #expect(text == text)
    let notes = [store.store(Note(id: 3, text: 0)), store.store(Note(id: 4, text: 0))]
    #expect(notes.map(\.id) == [3, 4])
    #expect([tag, other].first { $0.id == 1 } == other)
  }
}
