import Concord
import Dispatch
import Testing

/// Removing everything discards the notices that wait. What is undone discards none, and what was told to be gone is told.
@Suite("Removing everything, and the notices that wait")
struct RemoveAllTests {
  private let queue = DispatchQueue(label: "delivery")
  private let store: EntityStore

  init() { store = EntityStore(delivery: .queue(queue)) }

  /// What an observer of each state is told of a tag that had the text 0, by what happens while the queue is suspended.
  private func told(_ change: (EntityStore) throws -> Void) async -> [Int?] {
    let log = Log<Int?>()
    let tag = store.store(Tag(id: 0, text: 0))
    let subscription = store.observer(Tag.self, id: 0).observe(buffering: .every) { log.append($0?.text) }
    await store.settled()
    queue.suspend()
    try? change(store)
    queue.resume()
    await store.settled()
    subscription.unsubscribe()
    withExtendedLifetime(tag) {}
    #expect(store._checkInvariants() == [])
    return Array(log.values.dropFirst())
  }

  private func removeAllInVain(_ store: EntityStore) {
    try? store.transaction { tx in
      tx.removeAll()
      throw Refused()
    }
  }

  @Test("A nested transaction that removes all and throws discards nothing, whatever the outer one does")
  func nested() async {
    let outer = await told { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      store.transaction { tx in
        removeAllInVain(tx)
        tx.update(Tag.self, id: 0) { $0.text += 1 }
      }
    }
    #expect(outer == [1, 2])
    let thrown = await told { store in
      store.update(Tag.self, id: 0) { $0.text = 3 }
      try store.transaction { tx in
        removeAllInVain(tx)
        tx.update(Tag.self, id: 0) { $0.text += 1 }
        removeAllInVain(tx)
        throw Refused()
      }
    }
    #expect(thrown == [3])
  }

  @Test("One that removes all inside another one discards what was committed before, also if a second one is undone")
  func kept() async {
    let removed = await told { store in
      store.update(Tag.self, id: 0) { $0.text = 1 }
      store.transaction { tx in
        tx.transaction { $0.removeAll() }
        removeAllInVain(tx)
        tx.store(Tag(id: 0, text: 5))
        removeAllInVain(tx)
      }
    }
    #expect(removed == [5])
  }

  @Test("Who is to be told that an entity went is told, though it comes and goes with all again")
  func twice() async {
    let removed = await told { store in
      store.removeAll()
      store.transaction { tx in
        tx.store(Tag(id: 0, text: 5))
        tx.removeAll()
      }
    }
    #expect(removed == [nil])
  }

  @Test("A layer that removes all discards nothing when its closure is called again")
  func layer() async {
    let removed = await told { store in
      store.optimistically { $0.removeAll() }
      store.store(Tag(id: 7, text: 0))
      store.update(Tag.self, id: 0) { $0.text = 1 }
    }
    #expect(removed == [nil])
  }

  @Test("What an undone part removed may appear in a computed relation later in the transaction")
  func appearing() {
    let store = EntityStore(delivery: .immediate)
    let shop = store.store(Shop(id: 0, tags: [Tag(id: 1, text: 0), Tag(id: 2, text: 0), Tag(id: 3, text: 0)]))
    #expect(shop.value.first?.id == 1)
    store.transaction { tx in
      try? tx.transaction { inner in
        inner.store(Tag(id: 2, text: 5))
        inner.remove(Tag.self, id: 2)
        throw Refused()
      }
      tx.remove(Tag.self, id: 1)
      #expect(tx.value(Shop.self, id: 0)?.first?.id == 2)
    }
    #expect(shop.value.first?.id == 2 && shop.value.tags.map(\.id) == [2, 3])
    #expect(store.value(Tag.self, id: 2)?.text == 0)
    #expect(store._checkInvariants() == [])
  }
}

/// Shows the first of its tags, which are no relation.
private struct Shop: Aggregate, Equatable {
  let id: Int
  var tags: [Tag]
  var first: Tag? {
    get { tags.first }
    set {
      if let newValue {
        tags[0] = newValue
      } else if !tags.isEmpty {
        tags.removeFirst()
      }
    }
  }
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.first)] }
}
