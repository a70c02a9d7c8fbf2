import Concord
import Testing

@Suite("An update whose closure writes to the store itself")
struct WritesInsideUpdateTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("What the closure leaves alone stays as the call inside has written it")
  func innerWriteStays() {
    let tag = store.store(Tag(id: 1, text: 1))
    #expect(store.update(Tag.self, id: 1) { _ in store.update(Tag.self, id: 1) { $0.text = 2 } })
    #expect(tag.value.text == 2)
    #expect(store.update(Tag.self, id: 1) { _ in store.store(Tag(id: 1, text: 3)) })
    #expect(tag.value.text == 3)
  }

  @Test("What the closure has changed wins over the call inside")
  func outerEditWins() {
    let tag = store.store(Tag(id: 1, text: 1))
    store.update(Tag.self, id: 1) { tag in
      store.update(Tag.self, id: 1) { $0.text = 2 }
      tag.text = 3
    }
    #expect(tag.value.text == 3)
  }

  @Test("An entity that the closure removes is not brought back by it")
  func removedInside() {
    let tag = store.store(Tag(id: 1, text: 1))
    let isTaken = store.update(Tag.self, id: 1) { tag in
      tag.text = 2
      store.remove(Tag.self, id: 1)
    }
    #expect(!isTaken && tag.isRemoved && tag.value.text == 1)
    #expect(store.value(Tag.self, id: 1) == nil)
    #expect(store._checkInvariants() == [])
  }

  @Test("An entity whose last observer goes in the closure is changed, and gone afterwards")
  func letGoInside() {
    var tag: EntityObserver<Tag>? = store.store(Tag(id: 1, text: 1))
    let isTaken = store.update(Tag.self, id: 1) {
      $0.text = 2
      tag = nil
    }
    #expect(isTaken && tag == nil && store.value(Tag.self, id: 1) == nil)
    #expect(store._checkInvariants() == [])
  }
}
