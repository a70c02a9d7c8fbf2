import Concord
import Testing

@Suite("Stamps are exact up to 2^53")
struct StampPrecisionTests {
  private static let exact: Stamp = 9_007_199_254_740_992

  @Test("Up to there each whole number is newer than the one before")
  func below() {
    let store = EntityStore(delivery: .immediate)
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: Self.exact - 2)
    #expect(store.update(Tag.self, id: 0, modifiedAt: Self.exact - 1) { $0.text = 1 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: Self.exact) { $0.text = 2 })
    #expect(!store.update(Tag.self, id: 0, modifiedAt: Self.exact) { $0.text = 3 })
    #expect(tag.value.text == 2)
  }

  @Test("Above it neighbours are one stamp, and the second is discarded like any that is not newer")
  func above() {
    let store = EntityStore(delivery: .immediate)
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: Stamp(Int64(1) << 60))
    #expect(!store.update(Tag.self, id: 0, modifiedAt: Stamp((Int64(1) << 60) + 1)) { $0.text = 1 })
    #expect(store.update(Tag.self, id: 0, modifiedAt: Stamp((Int64(1) << 60) + 256)) { $0.text = 2 })
    #expect(tag.value.text == 2)
  }

  private final class Listener: EntityStoreLogger {
    let log = Log<String>()
    func didReceiveImpreciseStamp<T: Identifiable>(_ type: T.Type, id: T.ID, stamp: Stamp) {
      log.append("\(type) \(id)")
    }
  }

  @Test("The logger is told of stamps above it, and of no others")
  func told() {
    let listener = Listener()
    let store = EntityStore(delivery: .immediate, logger: listener)
    let tag = store.store(Tag(id: 0, text: 0), modifiedAt: Self.exact)
    store.update(Tag.self, id: 0, modifiedAt: Self.exact) { $0.text = 1 }
    store.store(Tag(id: 1, text: 0))
    store.store(Tag(id: 2, text: 0), modifiedAt: -Self.exact)
    #expect(listener.log.values == [])
    store.store(Tag(id: 0, text: 2), modifiedAt: Self.exact * 2)
    #expect(listener.log.values == ["Tag 0"])
    store.update(Tag.self, id: 0, modifiedAt: Self.exact * 4) { $0.text = 3 }
    #expect(listener.log.values == ["Tag 0", "Tag 0"])
    withExtendedLifetime(tag) {}
  }
}
