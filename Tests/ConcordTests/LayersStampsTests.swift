import Concord
import Testing

@Suite("Optimistic layers and stamps")
struct LayersStampsTests {
  let store = EntityStore(delivery: .immediate)

  private func stamp(_ id: Int) -> Stamp? { store.stampedValue(LayerBook.self, id: id)?.stamp }

  @Test("Base data is compared with the base's stamps, whatever layers wrote", arguments: [false, true])
  func baseIsNotStale(_ isStamped: Bool) {
    let book = store.store(LayerBook(id: 1, likes: 1), modifiedAt: 10)
    let layer = store.optimistically { tx in
      tx.update(LayerBook.self, id: 1, modifiedAt: isStamped ? 1000 : nil) { $0.likes += 1 }
    }
    #expect(stamp(1) == 10)
    store.store(LayerBook(id: 1, likes: 5), modifiedAt: 11)
    #expect(book.value.likes == 6)
    store.store(LayerBook(id: 1, likes: 7), modifiedAt: 11)
    #expect(book.value.likes == 6)
    layer.rollBack()
    #expect(book.value.likes == 5)
    #expect(stamp(1) == 11)
  }

  @Test("A layer's writes are taken, however new the base is")
  func layerIsNotStale() {
    let book = store.store(LayerBook(id: 1, likes: 1), modifiedAt: 1e12)
    let layer = store.optimistically { tx in
      #expect(tx.update(LayerBook.self, id: 1) { $0.likes += 1 })
      #expect(tx.update(LayerBook.self, id: 1, modifiedAt: 3) { $0.likes += 1 })
      tx.store(LayerBook(id: 2), named: .featured, modifiedAt: 3)
    }
    #expect(book.value.likes == 3)
    store.store(LayerBook(id: 1, likes: 5), modifiedAt: 2e12)
    #expect(book.value.likes == 7)
    #expect(store.find(named: .featured).value == LayerBook(id: 2))
    layer.rollBack()
    #expect(stamp(1) == 2e12)
  }

  @Test("A commit is taken, however new the base is, and raises stamps that are older")
  func commit() {
    let old = store.store(LayerBook(id: 1), modifiedAt: 10)
    let new = store.store(LayerBook(id: 2), modifiedAt: 1e12)
    let layer = store.optimistically { tx in
      tx.update(LayerBook.self, id: 1, modifiedAt: 20) { $0.likes = 1 }
      tx.update(LayerBook.self, id: 2, modifiedAt: 20) { $0.likes = 1 }
    }
    #expect(layer.commit())
    #expect((old.value.likes, new.value.likes) == (1, 1))
    #expect(stamp(1) == 20)
    #expect(stamp(2) == 1e12)
    store.store(LayerBook(id: 1, likes: 9), modifiedAt: 15)
    #expect(old.value.likes == 1)
  }

  @Test("Where unstamped writes win, neither layers nor commits touch stamps")
  func unstamped() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let book = store.store(LayerBook(id: 1), modifiedAt: 10)
    let layers = (0..<2).map { _ in
      store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    }
    #expect(layers[0].commit())
    #expect(store.stampedValue(LayerBook.self, id: 1)?.stamp == 10)
    store.store(LayerBook(id: 1, likes: 5), modifiedAt: 11)
    #expect(book.value.likes == 6)
  }

  @Test("An alias that a layer pointed elsewhere is pointed back, with its stamp")
  func alias() {
    store.store(LayerBook(id: 1), named: .featured, modifiedAt: 10)
    let layer = store.optimistically { tx in tx.store(LayerBook(id: 2), named: .featured) }
    #expect(store.find(named: .featured).value?.id == 2)
    // Newer than the alias in the base, older than any clock.
    store.store(LayerBook(id: 3), named: .featured, modifiedAt: 11)
    #expect(store.find(named: .featured).value?.id == 2)
    layer.rollBack()
    #expect(store.find(named: .featured).value?.id == 3)
    store.store(LayerBook(id: 4), named: .featured, modifiedAt: 11)
    #expect(store.find(named: .featured).value?.id == 3)
  }

  @Test("An entity that a layer made has no stamp, and the base stores its own")
  func made() {
    let book = store.observer(LayerBook.self, id: 1)
    let layer = store.optimistically { tx in tx.store(LayerBook(id: 1, likes: 1), modifiedAt: 1000) }
    store.store(LayerBook(id: 1, likes: 2), modifiedAt: 1)
    #expect(book.value?.likes == 1)
    layer.rollBack()
    #expect(book.value?.likes == 2)
    #expect(stamp(1) == 1)
  }
}
