import Concord
import Dispatch
import Foundation
import Testing

private struct Renamed: Identifiable, Hashable { var id: Int }

@Suite("What became of an update")
struct UpdateOutcomeTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("Taken, missing, stale and refused are told apart")
  func outcomes() {
    #expect(store.updateOutcome(Tag.self, id: 0) { $0.text = 1 } == .missing)
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 5)
    #expect(store.updateOutcome(Tag.self, id: 0, modifiedAt: 5) { $0.text = 1 } == .stale(stored: 5))
    #expect(tag.value.text == 0)
    #expect(store.updateOutcome(Tag.self, id: 0, modifiedAt: 6) { $0.text = 1 } == .taken)
    #expect(store.updateOutcome(Tag.self, id: 0) { _ in } == .taken)
    #expect(tag.value.text == 1)
    let renamed = store.store(Renamed(id: 0))
    #expect(store.updateOutcome(Renamed.self, id: 0) { $0.id = 1 } == .refused(.changedID))
    #expect(renamed.value.id == 0)
    store.remove(Tag.self, id: 0)
    #expect(store.updateOutcome(Tag.self, id: 0) { $0.text = 2 } == .missing)
    #expect(store._checkInvariants() == [])
  }

  @Test("Of aggregates, too, with what the closure changed inside")
  func aggregates() {
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 0)), modifiedAt: 5)
    let log = Log<Int>()
    let subscription = person.observe { log.append($0.tag?.text ?? 0) }
    #expect(
      store.updateOutcome(Person.self, id: 0, modifiedAt: 6) {
        $0.name = 1
        $0.tag?.text = 1
      } == .taken)
    #expect(store.value(Tag.self, id: 0)?.text == 1)
    #expect(log.values == [0, 1])
    #expect(store.updateOutcome(Person.self, id: 0, modifiedAt: 6) { $0.name = 2 } == .stale(stored: 6))
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("A closure that makes its own write stale or removes the entity")
  func meanwhile() {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 5)
    let outcome = store.updateOutcome(Tag.self, id: 0, modifiedAt: 6) {
      $0.text = 1
      store.store(Tag(id: 0, text: 2), modifiedAt: 7)
    }
    #expect(outcome == .stale(stored: 7))
    #expect(tag.value.text == 2)
    let removed = store.updateOutcome(Tag.self, id: 0) {
      $0.text = 3
      store.remove(Tag.self, id: 0)
    }
    #expect(removed == .missing)
    #expect(tag.isRemoved)
  }

  @Test("A closure may throw: the error comes through, and nothing is changed, also what it did besides")
  func throwing() {
    let log = Log<Int>()
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 5)
    let subscription = tag.observe { log.append($0.text) }
    #expect(throws: Refused.self) {
      try store.update(Tag.self, id: 0, modifiedAt: 6) { tag in
        tag.text = 1
        store.store(Note(id: 0, text: 0), named: "note")
        throw Refused()
      }
    }
    #expect(throws: Refused.self) {
      _ = try store.updateOutcome(Tag.self, id: 0, modifiedAt: 6) { tag in
        tag.text = 1
        throw Refused()
      }
    }
    #expect(log.values == [0])
    #expect(store.find(Note.self, id: 0) == nil)
    // The stamp was not taken either.
    #expect(store.update(Tag.self, id: 0, modifiedAt: 6) { $0.text = 2 })
    #expect(log.values == [0, 2])
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("One that could throw and does not is taken, and tells how")
  func notThrown() throws {
    func check(_ text: Int) throws { if text < 0 { throw Refused() } }
    let tag = store.store(Tag(id: 0, text: 0))
    #expect(
      try store.update(Tag.self, id: 0) { tag in
        try check(1)
        tag.text = 1
      })
    #expect(try !store.update(Tag.self, id: 9) { try check($0.text) })
    #expect(tag.value.text == 1)
  }

  @Test("In a transaction an update that throws undoes itself alone")
  func nested() {
    let tag = store.store(Tag(id: 0, text: 0))
    store.transaction { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      _ = try? store.update(Tag.self, id: 0) { tag in
        tag.text = 2
        throw Refused()
      }
    }
    #expect(tag.value.text == 1)
  }
}

@Suite("The date of the clock can be given")
struct ClockDateTests {
  @Test("Unstamped writes have its stamps, strictly increasing")
  func given() {
    let seconds = Counter()
    let store = EntityStore(
      delivery: .immediate, date: { .init(timeIntervalSinceReferenceDate: Double(seconds.value)) })
    let tag = store.store(Tag(id: 0, text: 0))
    // The second write of the same second is newer, by next to nothing.
    #expect(store.update(Tag.self, id: 0) { $0.text = 1 })
    #expect(store.updateOutcome(Tag.self, id: 0, modifiedAt: 0) { $0.text = 2 } == .stale(stored: 0.0.nextUp))
    for _ in 0..<10 { seconds.increment() }
    #expect(store.update(Tag.self, id: 0) { $0.text = 3 })
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 10) { $0.text = 4 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: 11) { $0.text = 5 })
    // The clock is behind that stamp now, and the next one after it is taken.
    #expect(store.update(Tag.self, id: 0) { $0.text = 6 })
    #expect(store.updateOutcome(Tag.self, id: 0, modifiedAt: 11) { $0.text = 7 } == .stale(stored: 11.0.nextUp))
    for _ in 0..<2 { seconds.increment() }
    #expect(store.update(Tag.self, id: 0) { $0.text = 8 })
    #expect(store.updateOutcome(Tag.self, id: 0, modifiedAt: 12) { $0.text = 9 } == .stale(stored: 12))
    #expect(tag.value.text == 8)
  }

  @Test("A store with a queue takes it, too")
  func queue() {
    let store = EntityStore(queue: .main, date: { .init(timeIntervalSinceReferenceDate: 100) })
    let tag = store.store(Tag(id: 0, text: 0))
    #expect(!store.update(Tag.self, id: 0, modifiedAt: 100) { $0.text = 1 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: 101) { $0.text = 1 })
    withExtendedLifetime(tag) {}
  }
}
