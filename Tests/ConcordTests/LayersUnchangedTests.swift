import Concord
import Testing

/// What the base has already may be stored again beneath any layers: it changes nothing, and so no closure is run.
@Suite("Values that the base has already")
struct LayersUnchangedTests {
  private let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
  private let runs = Log<Void>()

  private func layer(_ change: @escaping @Sendable (inout LayerShelf) -> Void) -> OptimisticLayer {
    store.optimistically { [runs] tx in
      runs.append(())
      tx.update(LayerShelf.self, id: 1, update: change)
    }
  }

  @Test("An aggregate that the base has already runs no closure, whatever layers change in it")
  func aggregate() {
    let base = LayerShelf(id: 1, name: "a", books: [LayerBook(id: 1), LayerBook(id: 2)], best: LayerBook(id: 3))
    let shelf = store.store(base)
    let other = store.store(LayerShelf(id: 2, name: "b", books: [LayerBook(id: 1)]))
    let told = Log<LayerShelf>()
    let subscription = shelf.observe { told.append($0) }
    for number in 0..<9 {
      switch number % 3 {
      case 0: _ = layer { $0.name += "." }
      case 1: _ = layer { $0.books[0].likes += 1 }
      default: _ = layer { $0.best?.likes += 1 }
      }
    }
    let (ran, shown) = (runs.values.count, shelf.value)
    #expect(shown.name == "a..." && shown.books[0].likes == 3 && shown.best?.likes == 3)
    told.clear()
    store.store(base)
    store.store(LayerShelf(id: 2, name: "b", books: [LayerBook(id: 1)]))
    store.transaction { tx in
      tx.store(base)
      tx.store(base.books[0])
      tx.store(base)
    }
    #expect(runs.values.count == ran && told.values == [])
    #expect(shelf.value == shown && other.value.books[0].likes == 3)
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("A difference in any place is a change, and runs the closures", arguments: 0..<5)
  func difference(_ place: Int) {
    var base = LayerShelf(id: 1, name: "a", books: [LayerBook(id: 1), LayerBook(id: 2)], best: LayerBook(id: 3))
    let shelf = store.store(base)
    let layer = layer { $0.books[0].likes += 1 }
    switch place {
    case 0: base.name = "b"
    case 1: base.books[1].likes = 7
    case 2: base.books[0].title = "b"
    case 3: base.books.swapAt(0, 1)
    default: base.best = nil
    }
    let ran = runs.values.count
    store.store(base)
    #expect(runs.values.count > ran)
    var shown = base
    shown.books[0].likes += 1
    #expect(shelf.value == shown)
    layer.rollBack()
    #expect(shelf.value == base)
    #expect(store._checkInvariants() == [])
  }

  @Test("What is shown is not what is compared: a value that only layers show is a change")
  func shown() {
    let shelf = store.store(LayerShelf(id: 1, name: "a", books: [LayerBook(id: 1)]))
    let layers = [layer { $0.name += "." }, layer { $0.books[0].likes += 1 }]
    store.store(shelf.value)
    #expect(shelf.value == LayerShelf(id: 1, name: "a..", books: [LayerBook(id: 1, likes: 2)]))
    for layer in layers { layer.rollBack() }
    #expect(shelf.value == LayerShelf(id: 1, name: "a.", books: [LayerBook(id: 1, likes: 1)]))
    #expect(store._checkInvariants() == [])
  }

  @Test("The same in a cycle, whose members leave each other's relations out")
  func cycle() {
    store.transaction { tx in
      for id in 0..<4 { tx.store(LayerReader(id: id, name: "\(id)"), named: AliasKey("reader \(id)")) }
      for id in 0..<4 {
        let friends = [1, 2].compactMap { tx.value(LayerReader.self, id: (id + $0) % 4) }
        tx.update(LayerReader.self, id: id) { $0.friends = friends }
        tx.update(LayerReader.self, id: id) { $0.shelf = LayerShelf(id: id, books: [LayerBook(id: id)]) }
      }
    }
    let base = (0..<4).compactMap { store.value(LayerReader.self, id: $0) }
    for number in 0..<8 {
      store.optimistically { [runs] tx in
        runs.append(())
        tx.update(LayerReader.self, id: number % 4) { reader in
          reader.name += "."
          reader.friends[0].name += "+"
          reader.shelf?.books[0].likes += 1
        }
      }
    }
    let shown = (0..<4).compactMap { store.value(LayerReader.self, id: $0) }
    let ran = runs.values.count
    for reader in base { store.store(reader) }
    store.transaction { tx in for reader in base { tx.store(reader) } }
    #expect(runs.values.count == ran)
    #expect((0..<4).compactMap { store.value(LayerReader.self, id: $0) } == shown)
    var changed = base[0]
    changed.friends[1].shelf?.books[0].title = "changed"
    store.store(changed)
    #expect(runs.values.count == ran + 8)
    #expect(store.value(LayerBook.self, id: 2) == LayerBook(id: 2, title: "changed", likes: 2))
    #expect(store._checkInvariants() == [])
  }

  @Test("A diamond costs its entities, and not its paths")
  func diamond() {
    var readers = LayerReader(id: 0, name: "")
    for id in 1...40 { readers = LayerReader(id: id, name: "", friends: [readers, readers]) }
    let observer = store.store(readers)
    store.optimistically { $0.update(LayerReader.self, id: 0) { $0.name = "shown" } }
    store.store(readers)
    #expect(store.value(LayerReader.self, id: 0)?.name == "shown")
    #expect(observer.value.name == "")
    #expect(store._checkInvariants() == [])
  }

  @Test("Layers of an aggregate made in one transaction run once more each when they are committed")
  func madeInTransaction() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1)]))
    var layers: [OptimisticLayer] = []
    store.transaction { _ in
      for _ in 0..<60 {
        store.transaction { _ in
          layers.append(
            layer {
              $0.name += "."
              $0.books[0].likes += 1
            })
        }
      }
    }
    let made = runs.values.count
    #expect(made <= 120)
    for layer in layers { layer.commit() }
    #expect(runs.values.count == made + 60)
    #expect(shelf.value.name.count == 60 && shelf.value.books == [LayerBook(id: 1, likes: 60)])
    #expect(store._checkInvariants() == [])
  }
}
