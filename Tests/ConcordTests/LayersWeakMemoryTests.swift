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
    layer.rollBack()
    #expect(isThere(1))
    #expect(store.stampedValue(LayerBook.self, id: 1)?.stamp == 10)
    #expect(shelf.value.books.map(\.likes) == [7, 0])
    #expect(store._checkInvariants() == [])
  }

  @Test("What a layer hides is shown to who observes it, also without a write")
  func hiddenAndObserved() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1, likes: 7), LayerBook(id: 2)]))
    let layer = store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books.removeFirst() } }
    #expect(!isThere(1))
    let log = Log<Int?>()
    let waiting = store.observer(LayerBook.self, id: 1).observe { log.append($0?.likes) }
    #expect(isThere(1) && shelf.value.books.map(\.id) == [2])
    layer.rollBack()
    #expect(log.values == [7])
    let second = store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books.removeAll() } }
    #expect(isThere(1) && !isThere(2))
    #expect(store.observer(LayerBook.self, ids: [1, 2]).value.map(\.id) == [1, 2])
    second.rollBack()
    waiting.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("The base of a layer that removes an entity, or puts it elsewhere, has it for as long as the layer is pending")
  func removedAndPut() {
    var shelf: EntityObserver<LayerShelf>? = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1, likes: 7)]))
    let other = store.store(LayerShelf(id: 2))
    var book: EntityObserver<LayerBook>? = store.store(LayerBook(id: 2, likes: 8))
    let value = book?.value
    let removing = store.optimistically { tx in tx.remove(LayerShelf.self, id: 1) }
    let putting = store.optimistically { tx in tx.update(LayerShelf.self, id: 2) { $0.best = value } }
    (shelf, book) = (nil, nil)
    for _ in 0..<2 {
      #expect(store.transaction { $0.value(LayerShelf.self, id: 1) }?.books == [LayerBook(id: 1, likes: 7)])
      #expect(store.transaction { $0.value(LayerBook.self, id: 2) } == LayerBook(id: 2, likes: 8))
      #expect(store.value(LayerShelf.self, id: 1) == nil && other.value.best?.likes == 8)
    }
    removing.rollBack()
    #expect(store.value(LayerShelf.self, id: 1) == nil)
    putting.rollBack()
    #expect(!isThere(2) && other.value.best == nil)
    #expect(store._statistics() == (1, 1))
    withExtendedLifetime((shelf, book)) {}
  }

  @Test("A collection that loses an entity to a layer leaves nothing behind in the base when its observer goes")
  func groups() {
    let layer = store.optimistically { tx in tx.remove(LayerBook.self, id: 1) }
    store.store([LayerBook(id: 1), LayerBook(id: 2)])
    #expect(!isThere(2))
    #expect(store.transaction { $0.value(LayerBook.self, id: 2) } == nil)
    layer.rollBack()
    #expect(store._statistics() == (0, 0))
  }

  @Test("A new layer finds below what other layers hide, now as whenever they are called again")
  func hiddenBelow() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1, likes: 7)]))
    let hiding = store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books = [] } }
    #expect(!isThere(1))
    let layer = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    #expect(layer.state.isPending)
    #expect(store.value(LayerBook.self, id: 1)?.likes == 8)
    store.store(LayerShelf(id: 3))
    #expect(store.value(LayerBook.self, id: 1)?.likes == 8)
    hiding.rollBack()
    #expect(shelf.value.books.map(\.likes) == [8])
    layer.commit()
    #expect(shelf.value.books.map(\.likes) == [8])
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
