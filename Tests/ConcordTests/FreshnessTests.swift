import Concord
import Foundation
import Testing

@Suite("Freshness")
struct FreshnessTests {
  let store = EntityStore(delivery: .immediate)

  @Test("A value that is not newer is discarded whole", arguments: [5.0, 4.0, 0.0, -1.0, -Double.infinity])
  func discardedWhole(stamp: Stamp) {
    let observer = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)], tag: Tag(id: 0, text: 0)), modifiedAt: 5)
    store.store(Person(id: 0, name: 9, friends: [], tag: nil), modifiedAt: stamp)
    #expect(observer.value == Person(id: 0, name: 0, friends: [Person(id: 1, name: 1)], tag: Tag(id: 0, text: 0)))
    #expect(!store.update(Person.self, id: 0, modifiedAt: stamp) { $0.name = 9 })
    // No stamp was changed either: one just newer is taken.
    #expect(store.update(Person.self, id: 0, modifiedAt: 5.001) { $0.name = 1 })
  }

  @Test("A stale aggregate may carry a fresh child, which is taken")
  func freshChild() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 5)
    store.store(Tag(id: 1, text: 0), named: "kept", modifiedAt: 1)
    store.store(Person(id: 0, name: 9, tag: Tag(id: 1, text: 9)), modifiedAt: 3)
    #expect(person.value == Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)))
    #expect(store.find(Tag.self, id: 1)?.value.text == 9)
  }

  @Test("A fresh aggregate does not take a stale child with it")
  func staleChild() {
    let tag = store.store(Tag(id: 0, text: 1), modifiedAt: 10)
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 5)
    #expect(person.value.tag?.text == 1)
    #expect(tag.value.text == 1)
  }

  @Test("Update gives its stamp to the target and to what the closure changed, to nothing else")
  func updateStamps() {
    let person = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 0), Person(id: 2, name: 0)], tag: Tag(id: 0, text: 0)),
      modifiedAt: 1)
    store.update(Person.self, id: 0, modifiedAt: 10) { $0.friends[0].name = 1 }
    #expect(!store.update(Person.self, id: 0, modifiedAt: 9) { $0.name = 5 })
    #expect(!store.update(Person.self, id: 1, modifiedAt: 9) { $0.name = 5 })
    #expect(store.update(Person.self, id: 2, modifiedAt: 2) { $0.name = 2 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: 2) { $0.text = 2 })
    #expect(person.value.friends.map(\.name) == [1, 2])
  }

  @Test("An update known to be stale does not call its closure")
  func staleUpdate() {
    let tag = store.store(Tag(id: 0, text: 1), modifiedAt: 10)
    var calls = 0
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 10) { _ in calls += 1 })
    #expect(!store.update(Tag.self, id: 1) { _ in calls += 1 })
    #expect(calls == 0)
    withExtendedLifetime(tag) {}
  }

  @Test("Without a stamp later calls are newer, however fast they follow each other")
  func clock() {
    let tag = store.store(Tag(id: 0, text: 0))
    for text in 1...10_000 { store.store(Tag(id: 0, text: text)) }
    #expect(tag.value.text == 10_000)
  }

  @Test("The clock's stamps are dates")
  func clockIsDate() {
    let before = Date().stamp - 1
    let tag = store.store(Tag(id: 0, text: 0))
    #expect(!store.update(Tag.self, id: 0, modifiedAt: before) { $0.text = 1 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: Date().stamp + 1) { $0.text = 2 })
    #expect(tag.value.text == 2)
  }

  @Test("Without a stamp a write is newer than what is stored, also if that is ahead of the clock")
  func ahead() {
    let ahead = Date().stamp + 1_000
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: ahead)
    store.store(Tag(id: 0, text: 1))
    #expect(tag.value.text == 1)
    #expect(store.update(Tag.self, id: 0) { $0.text = 2 })
    #expect(tag.value.text == 2)
    // The next stamps after it.
    #expect(!store.update(Tag.self, id: 0, modifiedAt: ahead.nextUp.nextUp) { $0.text = 3 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: ahead.nextUp.nextUp.nextUp) { $0.text = 3 })
  }

  @Test("A stamp ahead of the clock is raised for its own entity alone")
  func aheadAlone() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 1)
    store.update(Tag.self, id: 0, modifiedAt: 1e12) { $0.text = 1 }
    store.update(Person.self, id: 0) {
      $0.name = 2
      $0.tag?.text = 2
    }
    #expect((person.value.name, person.value.tag?.text) == (2, 2))
    #expect(store.update(Person.self, id: 0, modifiedAt: Date().stamp + 1) { $0.name = 3 })
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 1e12) { $0.text = 3 })
  }

  @Test("Where the date goes back, later calls stay newer")
  func dateGoesBack() {
    let date = SharedDate()
    let store = EntityStore(delivery: .immediate, date: { date.date() })
    let tag = store.store(Tag(id: 0, text: 0))
    for (text, seconds) in [1_000.0, 10, 5_000, 20, 30].enumerated() {
      date.stamp = seconds
      #expect(store.update(Tag.self, id: 0) { $0.text = text + 1 })
    }
    #expect(tag.value.text == 5)
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 5_000) { $0.text = 0 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: 5_001) { $0.text = 0 })
  }

  @Test("An alias that was named ahead of the clock names what a call without a stamp says")
  func aliasAhead() {
    let (one, all) = (AliasKey<Tag>("one"), AliasKey<[Tag]>("all"))
    store.store(Tag(id: 0, text: 0), named: one, modifiedAt: 1e12)
    store.store(Tag(id: 1, text: 1), named: one)
    #expect(store.find(named: one).value?.id == 1)
    store.store([Tag(id: 0, text: 0)], named: all, modifiedAt: 1e12)
    #expect(store.update(named: all) { $0.append(Tag(id: 1, text: 1)) })
    store.store([Tag(id: 2, text: 0)], named: all)
    #expect(store.find(named: all).value?.map(\.id) == [2])
  }

  @Test("Unstamped writes can be told to win always, and then leave the stamp alone")
  func unstampedWritesWin() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 1e15)
    store.store(Tag(id: 0, text: 1))
    #expect(tag.value.text == 1)
    #expect(store.update(Tag.self, id: 0) { $0.text = 2 })
    #expect(tag.value.text == 2)
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 1e14) { $0.text = 3 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: 2e15) { $0.text = 4 })
    let new = store.store(Tag(id: 1, text: 0))
    #expect(store.update(Tag.self, id: 1, modifiedAt: -5) { $0.text = 1 })
    #expect(new.value.text == 1)
  }

  @Test("Of several values in one call the outermost wins, among equals the last")
  func severalValues() {
    let person = store.store(
      Person(
        id: 0, name: 0,
        friends: [
          Person(id: 1, name: 1, tag: Tag(id: 0, text: 1)), Person(id: 1, name: 2, friends: [Person(id: 0, name: 9)]),
        ],
        tag: Tag(id: 0, text: 2)))
    #expect(person.value.name == 0)
    #expect(person.value.friends.map(\.name) == [2, 2])
    #expect(person.value.tag?.text == 2)
    let list = store.store([Tag(id: 5, text: 1), Tag(id: 5, text: 2)])
    #expect(list.value.map(\.text) == [2, 2])
  }

  @Test("In update only the occurrences count that differ from what the closure was given")
  func severalValuesInUpdate() {
    let tag = Tag(id: 0, text: 0)
    let person = store.store(
      Person(id: 0, name: 0, friends: [Person(id: 1, name: 0, tag: tag), Person(id: 2, name: 0, tag: tag)], tag: tag))
    // The outermost one is not touched, so the inner one that is wins.
    store.update(Person.self, id: 0) { $0.friends[0].tag?.text = 7 }
    #expect(person.value.tag?.text == 7)
    #expect(person.value.friends.map { $0.tag?.text } == [7, 7])
  }

  @Test("ifPresent gets the incoming value, only when the entity is there already")
  func ifPresent() {
    var given: [Tag] = []
    func store(_ text: Int) -> EntityObserver<Tag> {
      let log = Log<Tag>()
      defer { given += log.values }
      return self.store.store(Tag(id: 0, text: text), modifiedAt: Double(text)) { tag in
        log.append(tag)
        tag.text += 100
      }
    }
    let observer = store(1)
    #expect(given == [])
    #expect(observer.value.text == 1)
    _ = store(2)
    #expect(given == [Tag(id: 0, text: 2)])
    #expect(observer.value.text == 102)
  }

  @Test("A released entity's stamp is forgotten")
  func forgotten() {
    do { _ = store.store(Tag(id: 0, text: 0), modifiedAt: 10) }
    let tag = store.store(Tag(id: 0, text: 1), modifiedAt: 1)
    #expect(tag.value.text == 1)
    #expect(store.update(Tag.self, id: 0, modifiedAt: 2) { $0.text = 2 })
  }

  @Test("A removed entity's stamp is forgotten")
  func removedStamp() {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 10)
    store.remove(Tag.self, id: 0)
    store.store(Tag(id: 0, text: 1), modifiedAt: 1)
    #expect(tag.value.text == 1)
  }
}
