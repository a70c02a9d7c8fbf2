import Concord
import Foundation
import Testing

private final class Warnings: EntityStoreLogger {
  let log = Log<String>()
  let ahead = Log<Stamp>()

  func didDiscard<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, storedStamp: Stamp) {
    log.append("discarded \(type) \(id)")
  }
  func didMeetStampAheadOfClock<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp, clock: Stamp) {
    log.append("ahead \(type) \(id)")
    ahead.append(stamp - clock)
  }
}

@Suite("A stamp ahead of the clock is said when an unstamped write meets it")
struct StampAheadOfClockTests {
  private let warnings = Warnings()
  private let store: EntityStore

  init() { store = EntityStore(delivery: .immediate, logger: warnings) }

  @Test("Whether it is stored, updated, nested or named; with how far the stamp is ahead")
  func unstamped() {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: Date().timeIntervalSince1970)
    store.store(Tag(id: 0, text: 1))
    #expect(warnings.log.values == ["ahead Tag 0"])
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(warnings.log.values.count == 2)
    let person = store.store(Person(id: 0, name: 0, tag: Tag(id: 0, text: 3)))
    #expect(warnings.log.values.count == 3)
    store.update(Person.self, id: 0) { $0.tag?.text = 4 }
    #expect(warnings.log.values == [String](repeating: "ahead Tag 0", count: 4))
    let years = (warnings.ahead.values.max() ?? 0) / (365.25 * 24 * 3600)
    #expect(30.9...31.1 ~= years)
    #expect(tag.value.text == 4)
    withExtendedLifetime(person) {}
  }

  @Test("A stale write with a stamp of its own is only discarded; so is none where unstamped writes win")
  func stamped() {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: 5)
    store.store(Tag(id: 0, text: 1), modifiedAt: 4)
    #expect(warnings.log.values == ["discarded Tag 0"])
    let other = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin, logger: warnings)
    let winner = other.store(Tag(id: 0, text: 0), modifiedAt: Date().timeIntervalSince1970)
    other.store(Tag(id: 0, text: 1))
    #expect(winner.value.text == 1)
    #expect(warnings.log.count == 1)
    withExtendedLifetime(tag) {}
  }

  @Test("In a transaction that throws nothing was met")
  func undone() {
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: .infinity)
    try? store.transaction { store in
      store.store(Tag(id: 0, text: 1))
      throw Refused()
    }
    #expect(warnings.log.values == [])
    withExtendedLifetime(tag) {}
  }
}
