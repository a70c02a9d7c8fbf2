import Concord
import Testing

@Suite("Optimistic layers and weak memory")
struct LayersWeakMemoryTests {
  let store = EntityStore(delivery: .immediate)

  private func isThere(_ id: Int) -> Bool { store.value(LayerBook.self, id: id) != nil }

  @Test("A layer keeps what it made, and lets go of it when it is rolled back")
  func made() {
    let layer = store.optimistically { tx in tx.store(LayerShelf(id: 1, books: [LayerBook(id: 1)])) }
    #expect(isThere(1))
    layer.rollBack()
    #expect(!isThere(1))
    #expect(store._statistics() == (0, 0))
  }

  @Test("What a committed layer made goes, unless somebody else keeps it")
  func committed() {
    let layer = store.optimistically { tx in
      tx.store(LayerBook(id: 1))
      tx.store(LayerBook(id: 2), named: .featured)
    }
    #expect(isThere(1) && isThere(2))
    layer.commit()
    #expect(!isThere(1) && isThere(2))
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer keeps what it changed, also when its observers go")
  func changed() {
    var book: EntityObserver<LayerBook>? = store.store(LayerBook(id: 1))
    let layer = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    #expect(book?.value.likes == 1)
    book = nil
    #expect(isThere(1))
    store.update(LayerBook.self, id: 1) { $0.title = "b" }
    #expect(store.value(LayerBook.self, id: 1) == LayerBook(id: 1, title: "b", likes: 1))
    layer.rollBack()
    #expect(!isThere(1))
    #expect(store._statistics() == (0, 0))
  }

  @Test("A layer keeps nothing else")
  func nothingElse() {
    var shelf: EntityObserver<LayerShelf>? = store.store(
      LayerShelf(id: 1, books: [LayerBook(id: 1), LayerBook(id: 2)]))
    let layer = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    #expect(shelf != nil)
    shelf = nil
    #expect(isThere(1) && !isThere(2))
    #expect(store._statistics() == (1, 1))
    layer.rollBack()
    #expect(store._statistics() == (0, 0))
  }

  @Test("What a layer hides from all that kept it comes back with its value and its stamp")
  func hidden() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1, likes: 7), LayerBook(id: 2)]), modifiedAt: 10)
    let layer = store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books.removeFirst() } }
    #expect(!isThere(1))
    #expect(store._checkInvariants() == [])
    store.store(LayerBook(id: 3))
    #expect(!isThere(1))
    // Somebody waits for it, who is told when it is back.
    let log = Log<Int?>()
    let waiting = store.observer(LayerBook.self, id: 1).observe { log.append($0?.likes) }
    layer.rollBack()
    #expect(isThere(1))
    #expect(log.values == [nil, 7])
    #expect(store.stampedValue(LayerBook.self, id: 1)?.stamp == 10)
    #expect(shelf.value.books.map(\.likes) == [7, 0])
    waiting.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("What the base drops while a layer hides it is gone for good")
  func hiddenAndDropped() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1), LayerBook(id: 2)]))
    let layer = store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books.removeAll { $0.id == 1 } } }
    store.update(LayerShelf.self, id: 1) { $0.books.removeAll { $0.id == 1 } }
    layer.rollBack()
    #expect(shelf.value.books.map(\.id) == [2])
    #expect(!isThere(1))
    #expect(store._statistics() == (2, 2))
  }

  @Test("After many layers the store is as small as before")
  func many() {
    let book = store.store(LayerBook(id: 0))
    defer { withExtendedLifetime(book) {} }
    for round in 1...1000 {
      let layers = (0..<3).map { index in
        store.optimistically { tx in
          tx.store(LayerShelf(id: round, books: [LayerBook(id: 0, likes: index), LayerBook(id: round)]))
        }
      }
      store.update(LayerBook.self, id: 0) { $0.title = "\(round)" }
      if round % 2 == 0 { layers[1].commit() }
      for layer in layers { layer.rollBack() }
    }
    #expect(store._statistics() == (1, 1))
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer that has ended keeps nothing of what its closure captured, and a store with layers can go")
  func captured() {
    final class Thing: Sendable {}
    weak var thing: Thing?
    weak var other: Thing?
    let layer: OptimisticLayer
    do {
      let made = Thing()
      thing = made
      layer = store.optimistically { _ in withExtendedLifetime(made) {} }
    }
    #expect(thing != nil)
    layer.rollBack()
    #expect(thing == nil)
    do {
      let made = Thing()
      other = made
      let store = EntityStore(delivery: .immediate)
      store.optimistically { tx in
        withExtendedLifetime(made) {}
        tx.store(LayerShelf(id: 1, books: [LayerBook(id: 1)]))
      }
    }
    #expect(other == nil)
  }
}
