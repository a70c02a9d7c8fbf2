import Concord
import Testing

/// How often closures run is the work that a write does for layers.
@Suite("Work for layers")
struct LayersWorkTests {
  /// Layers of one update each, of one entity each, and how often closures have run.
  private struct Layered {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let books: [EntityObserver<LayerBook>]
    let layers: [OptimisticLayer]

    init(_ count: Int, others: Int = 10) {
      let store = store
      books = (0..<count + others).map { store.store(LayerBook(id: $0)) }
      let runs = runs
      layers = (0..<count).map { id in
        store.optimistically { tx in
          runs.add()
          tx.update(LayerBook.self, id: id) { $0.likes += 10 }
        }
      }
    }
  }

  private final class Counter: Sendable {
    private let log = Log<Int>()
    func add() { log.append(1) }
    var value: Int { log.values.count }
  }

  @Test("A write that no layer depends on runs no closure, however many there are", arguments: [1, 10, 1_000])
  func writeBeneath(_ count: Int) {
    let layered = Layered(count)
    let (store, other) = (layered.store, count)
    #expect(layered.runs.value == count)
    store.update(LayerBook.self, id: other) { $0.title = "updated" }
    store.store(LayerBook(id: other + 1, title: "stored"))
    let added = store.store(LayerBook(id: -1, title: "new"))
    store.transaction { tx in
      tx.update(LayerBook.self, id: other) { $0.likes = 3 }
      tx.store(LayerBook(id: other + 2, title: "stored in a transaction"))
    }
    #expect(layered.runs.value == count)
    #expect(layered.books[other].value == LayerBook(id: other, title: "updated", likes: 3))
    #expect(layered.books[other + 1].value.title == "stored")
    #expect(layered.books[other + 2].value.title == "stored in a transaction")
    #expect(added.value.title == "new")
    #expect(layered.books[0].value.likes == 10)
    layered.layers[0].rollBack()
    #expect(layered.books[0].value.likes == 0)
    #expect(layered.books[other].value == LayerBook(id: other, title: "updated", likes: 3))
    #expect(store._checkInvariants() == [])
  }

  @Test("A write to what a layer changed, or was handed, runs the closures again")
  func writeBelow() {
    let store = EntityStore(delivery: .immediate)
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1), LayerBook(id: 2)]))
    let other = store.store(LayerBook(id: 3))
    store.optimistically { tx in
      tx.update(LayerShelf.self, id: 1) { shelf in shelf.name = shelf.books.map(\.title).joined() }
    }
    store.update(LayerBook.self, id: 2) { $0.title = "b" }
    #expect(shelf.value.name == "b")
    store.update(LayerBook.self, id: 3) { $0.title = "c" }
    #expect(shelf.value.name == "b")
    store.update(LayerBook.self, id: 1) { $0.title = "a" }
    #expect(shelf.value.name == "ab")
    #expect(other.value.title == "c")
  }

  @Test("A layer that comes to change another entity is run again by writes to that one, no longer to the first")
  func changesAnother() {
    let layered = Layered(0, others: 3)
    let (store, runs) = (layered.store, layered.runs)
    func likes() -> [Int] { layered.books.map(\.value.likes) }
    let layer = store.optimistically { tx in
      runs.add()
      var chosen = 1
      tx.update(LayerBook.self, id: 0) { chosen = $0.likes == 0 ? 1 : 2 }
      tx.update(LayerBook.self, id: chosen) { $0.likes += 10 }
    }
    #expect(likes() == [0, 10, 0])
    store.update(LayerBook.self, id: 0) { $0.likes = 1 }
    #expect(likes() == [1, 0, 10])
    store.update(LayerBook.self, id: 2) { $0.likes = 5 }
    #expect(likes() == [1, 0, 15])
    let before = runs.value
    store.update(LayerBook.self, id: 1) { $0.likes = 7 }
    #expect(likes() == [1, 7, 15] && runs.value == before)
    layer.rollBack()
    #expect(likes() == [1, 7, 5])
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer that takes the last of something away is not run again by writes to others, and gives it back")
  func takenAway() {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1), LayerBook(id: 2, title: "last")]))
    let other = store.store(LayerBook(id: 3))
    let layer = store.optimistically { tx in
      runs.add()
      tx.update(LayerShelf.self, id: 1) { _ = $0.books.removeLast() }
    }
    #expect(store.find(LayerBook.self, id: 2) == nil)
    // What that needs once is done with the first write.
    store.update(LayerBook.self, id: 3) { $0.title = "a" }
    let before = runs.value
    for likes in 1...20 {
      store.update(LayerBook.self, id: 3) { $0.likes = likes }
      store.store(LayerBook(id: 4))
    }
    #expect(runs.value == before)
    #expect(other.value.likes == 20)
    #expect(store._checkInvariants() == [])
    // Who stores it makes it another one, below the layer and above.
    let again = store.store(LayerBook(id: 2, title: "again"))
    #expect(again.value.title == "again" && shelf.value.books.map(\.id) == [1])
    layer.rollBack()
    #expect(shelf.value.books == [LayerBook(id: 1), LayerBook(id: 2, title: "again")])
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer that reads otherwise than by an update is replayed with each write")
  func untraced() {
    let store = EntityStore(delivery: .immediate)
    let (book, other) = (store.store(LayerBook(id: 1)), store.store(LayerBook(id: 2)))
    store.optimistically { tx in
      let count = tx.value(LayerBook.self, id: 2)?.likes ?? 0
      tx.update(LayerBook.self, id: 1) { $0.likes = count }
    }
    store.update(LayerBook.self, id: 2) { $0.likes = 7 }
    #expect(book.value.likes == 7)
    #expect(other.value.likes == 7)
    let waiting = store.optimisticallyWhenPossible { $0.update(LayerBook.self, id: 3) { $0.likes += 1 } }
    let late = store.store(LayerBook(id: 3))
    #expect(late.value.likes == 1)
    waiting.rollBack()
    #expect(late.value.likes == 0)
  }

  @Test("A transaction that throws takes back what it wrote beneath layers, and one that reads sees the base")
  func transactions() {
    let layered = Layered(2)
    let store = layered.store
    try? store.transaction { tx in
      tx.update(LayerBook.self, id: 5) { $0.likes = 1 }
      throw Refused()
    }
    #expect(layered.books[5].value.likes == 0)
    store.transaction { tx in
      tx.update(LayerBook.self, id: 5) { $0.likes = 1 }
      #expect(tx.value(LayerBook.self, id: 0)?.likes == 0)
      #expect(tx.value(LayerBook.self, id: 5)?.likes == 1)
      tx.update(LayerBook.self, id: 6) { $0.likes = 2 }
      try? tx.transaction { inner in
        inner.update(LayerBook.self, id: 7) { $0.likes = 3 }
        throw Refused()
      }
    }
    #expect(layered.books.map(\.value.likes) == [10, 10, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0])
    for layer in layered.layers { layer.rollBack() }
    #expect(layered.books.map(\.value.likes) == [0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0])
    #expect(store._checkInvariants() == [])
  }

  @Test("Layers that wait, made in one transaction that writes to the base between them, run each closure once")
  func waitingLayers() {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let books = (0..<100).map { store.store(LayerBook(id: $0)) }
    store.transaction { tx in
      for id in 0..<100 {
        tx.update(LayerBook.self, id: id) { $0.title = "base" }
        _ = tx.optimisticallyWhenPossible { layer in
          runs.add()
          layer.update(LayerBook.self, id: id) { $0.likes += 1 }
        }
      }
    }
    #expect(runs.value == 100)
    #expect(books.map(\.value) == (0..<100).map { LayerBook(id: $0, title: "base", likes: 1) })
    #expect(store._checkInvariants() == [])
  }

  @Test("Committing the lowest layer of an entity runs its closure alone, however many are above", arguments: [2, 100])
  func commitLowest(_ count: Int) {
    let store = EntityStore(delivery: .immediate)
    let (runs, told) = (Counter(), Log<Int>())
    let book = store.store(LayerBook(id: 1))
    let layers = (1...count).map { number in
      store.optimistically { tx in
        runs.add()
        tx.update(LayerBook.self, id: 1) { $0.likes += number }
      }
    }
    let sum = count * (count + 1) / 2
    let subscription = book.observe { told.append($0.likes) }
    for (index, layer) in layers.enumerated() {
      #expect(layer.commit())
      #expect(book.value.likes == sum)
      // What is written is the base: the first so many changes.
      store.transaction { tx in
        #expect(tx.find(LayerBook.self, id: 1)?.value.likes == (index + 1) * (index + 2) / 2, "after \(index)")
      }
    }
    // The look into the base takes the others off.
    #expect(runs.value == count * 2 + count * (count - 1) / 2)
    #expect(told.values == [sum])
    #expect(store._checkInvariants() == [])
    subscription.unsubscribe()
  }

  @Test("Committing layers from the lowest to the topmost runs each once more")
  func commitInOrder() {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let books = (0..<3).map { store.store(LayerBook(id: $0)) }
    let layers = (0..<90).map { number in
      store.optimistically { tx in
        runs.add()
        tx.update(LayerBook.self, id: number % 3) { $0.likes += 1 }
      }
    }
    for layer in layers { layer.commit() }
    #expect(runs.value == 180)
    #expect(books.map(\.value.likes) == [30, 30, 30])
    #expect(store._checkInvariants() == [])
  }

  @Test("A commit in a transaction that throws is undone, and the layers above stay as they are")
  func undoneCommit() {
    let store = EntityStore(delivery: .immediate)
    let book = store.store(LayerBook(id: 1))
    let layers = (0..<4).map { _ in
      store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes = $0.likes * 2 + 1 } }
    }
    try? store.transaction { _ in
      layers[0].commit()
      layers[1].commit()
      throw Refused()
    }
    #expect(layers.map(\.state.isPending) == [true, true, true, true])
    #expect(book.value.likes == 15)
    for layer in layers.reversed() { layer.rollBack() }
    #expect(book.value.likes == 0)
    #expect(store._checkInvariants() == [])
  }

  @Test("A closure that makes another change when it is committed has the layers above made again")
  func anotherChange() {
    let store = EntityStore(delivery: .immediate)
    let calls = Log<Void>()
    let book = store.store(LayerBook(id: 1))
    let fickle = store.optimistically { tx in
      calls.append(())
      let count = calls.values.count
      tx.update(LayerBook.self, id: 1) { $0.likes = count }
    }
    store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 10 } }
    #expect(book.value.likes == 11)
    fickle.commit()
    #expect(book.value.likes == 10 + calls.values.count)
    #expect(store._checkInvariants() == [])
  }

  @Test("Storing what the base has already runs no closure")
  func storeOfTheSame() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let runs = Counter()
    let book = store.store(LayerBook(id: 1))
    for _ in 0..<10 {
      store.optimistically { tx in
        runs.add()
        tx.update(LayerBook.self, id: 1) { $0.likes += 1 }
      }
    }
    let again = store.store(LayerBook(id: 1))
    #expect(runs.value == 10)
    #expect(again.value.likes == 10)
    store.store(LayerBook(id: 1, title: "new"))
    #expect(runs.value == 20)
    #expect(book.value == LayerBook(id: 1, title: "new", likes: 10))
    #expect(store._checkInvariants() == [])
  }
}
