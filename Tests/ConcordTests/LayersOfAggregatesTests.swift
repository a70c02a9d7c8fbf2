import Concord
import Testing

/// The closures that run, and the places that are marked, are the work that layers of aggregates make.
@Suite("Work for layers of aggregates")
struct LayersOfAggregatesTests {
  private final class Counter: Sendable {
    private let log = Log<Int>()
    func add() { log.append(1) }
    var value: Int { log.values.count }
  }

  /// A shelf with books, and layers that each do something to it.
  private struct Layered {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let shelf: EntityObserver<LayerShelf>
    let layers: [OptimisticLayer]

    init(books: Int = 5, _ count: Int, _ edit: @escaping @Sendable (_ number: Int, inout LayerShelf) -> Void) {
      let (store, runs) = (store, runs)
      shelf = store.store(LayerShelf(id: 1, books: (0..<books).map { LayerBook(id: $0) }))
      layers = (0..<count).map { number in
        store.optimistically { tx in
          runs.add()
          tx.update(LayerShelf.self, id: 1) { edit(number, &$0) }
        }
      }
    }

    /// The base's shelf. To look at it takes the layers off.
    var base: LayerShelf? { store.transaction { $0.value(LayerShelf.self, id: 1) } }
  }

  @Test("Committing layers of an aggregate from the lowest on runs each closure once more", arguments: [20, 40, 80])
  func commitInOrder(_ count: Int) {
    let layered = Layered(count) { number, shelf in shelf.name += "\(number) " }
    let all = (0..<count).map { "\($0) " }.joined()
    for layer in layered.layers {
      #expect(layer.commit())
      #expect(layered.shelf.value.name == all)
    }
    #expect(layered.runs.value == 2 * count)
    #expect(layered.base?.name == all)
    #expect(layered.store._checkInvariants() == [])
  }

  @Test("So do layers that change what is inside, what stands there, and both", arguments: [20, 40])
  func commitOfChangedRelations(_ count: Int) {
    let layered = Layered(count) { number, shelf in
      switch number % 4 {
      case 0: shelf.books.append(LayerBook(id: 100 + number, title: "new"))
      case 1: shelf.books[0].likes += 1
      case 2: shelf.best = number % 8 == 2 ? LayerBook(id: 50, title: "best \(number)") : nil
      default: shelf.books.swapAt(0, 1)
      }
    }
    let keeper = layered.store.store(LayerBook(id: 50))
    let shown = layered.shelf.value
    for layer in layered.layers {
      #expect(layer.commit())
      #expect(layered.shelf.value == shown)
      #expect(layered.store._checkInvariants() == [])
    }
    // One write beside the shelf replays what depends on the book.
    #expect(layered.runs.value <= 3 * count)
    #expect(layered.base == shown)
    _ = keeper
  }

  @Test("What is committed is the base, step by step, and rolls back to it")
  func baseAfterCommits() {
    let layered = Layered(6) { number, shelf in
      shelf.name += "\(number)"
      shelf.books.append(LayerBook(id: 10 + number))
    }
    for number in 0..<3 {
      layered.layers[number].commit()
    }
    for layer in layered.layers[3...].reversed() { layer.rollBack() }
    #expect(layered.shelf.value.name == "012")
    #expect(layered.shelf.value.books.map(\.id) == [0, 1, 2, 3, 4, 10, 11, 12])
    #expect(layered.store.value(LayerBook.self, id: 13) == nil)
    #expect(layered.runs.value == 9)
    #expect(layered.store._checkInvariants() == [])
  }

  @Test("Rolling layers back from the topmost on runs no closure", arguments: [20, 40, 80])
  func rollBackTopmost(_ count: Int) {
    let layered = Layered(count) { number, shelf in
      shelf.name += "\(number) "
      if number % 2 == 0 { shelf.books.append(LayerBook(id: 100 + number)) } else { shelf.books[0].likes += 1 }
    }
    for (number, layer) in layered.layers.enumerated().reversed() {
      layer.rollBack()
      #expect(layered.shelf.value.name == (0..<number).map { "\($0) " }.joined())
      #expect(layered.shelf.value.books.count == 5 + (number + 1) / 2)
      #expect(layered.shelf.value.books[0].likes == number / 2)
    }
    #expect(layered.runs.value == count)
    #expect(layered.shelf.value == LayerShelf(id: 1, books: (0..<5).map { LayerBook(id: $0) }))
    #expect(layered.store._checkInvariants() == [])
  }

  @Test("A layer that no layer above depends on is rolled back without running any closure")
  func rollBackBelowOthers() {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let shelves = (0..<10).map { store.store(LayerShelf(id: $0, books: [LayerBook(id: $0)])) }
    let layers = (0..<10).map { id in
      store.optimistically { tx in
        runs.add()
        tx.update(LayerShelf.self, id: id) { $0.name = "layer" }
      }
    }
    for id in [3, 0, 7] { layers[id].rollBack() }
    #expect(runs.value == 10)
    #expect(shelves.map(\.value.name) == (0..<10).map { [0, 3, 7].contains($0) ? "" : "layer" })
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer that renames an aggregate marks none of what is inside", arguments: [100, 1_000, 10_000])
  func marks(_ count: Int) {
    let layered = Layered(books: count, 3) { number, shelf in shelf.name += "\(number)" }
    #expect(layered.store._staleOccurrences() == 0)
    layered.layers[0].commit()
    #expect(layered.store._staleOccurrences() == 0)
    layered.layers[2].rollBack()
    #expect(layered.store._staleOccurrences() == 0)
    // Takes the layer off, and shows it again.
    #expect(layered.base?.name == "0")
    #expect(layered.store._staleOccurrences() == 0)
    layered.store.update(LayerBook.self, id: 7) { $0.likes = 3 }
    #expect(layered.store._staleOccurrences() <= 1)
    #expect(layered.shelf.value.books[7].likes == 3)
    layered.layers[1].rollBack()
    #expect(layered.store._staleOccurrences() <= 1)
    #expect(layered.shelf.value.name == "0")
    #expect(layered.shelf.value.books[7].likes == 3)
    #expect(layered.store._checkInvariants() == [])
  }

  @Test("A write to another entity runs no closure of a layer on an aggregate of 10,000")
  func writeBesideLargeAggregate() {
    let layered = Layered(books: 10_000, 1) { _, shelf in shelf.name = "layer" }
    let other = layered.store.store(LayerBook(id: -1))
    for likes in 1...10 { layered.store.update(LayerBook.self, id: -1) { $0.likes = likes } }
    #expect(layered.runs.value == 1)
    #expect(other.value.likes == 10)
    layered.store.update(LayerBook.self, id: 9_999) { $0.likes = 1 }
    #expect(layered.runs.value == 2)
    #expect(layered.shelf.value.name == "layer" && layered.shelf.value.books[9_999].likes == 1)
    #expect(layered.store._checkInvariants() == [])
  }

  @Test(
    "A layer of a large aggregate is committed on what the base has inside, not on what layers show",
    arguments: [5, 100])
  func layersInside(_ books: Int) {
    let store = EntityStore(delivery: .immediate)
    let shelf = store.store(LayerShelf(id: 1, books: (0..<books).map { LayerBook(id: $0) }))
    func sum(_ title: String) -> OptimisticLayer {
      store.optimistically { tx in
        tx.update(LayerShelf.self, id: 1) { shelf in
          shelf.name += "\(title)\(shelf.books.reduce(0) { $0 + $1.likes })"
        }
      }
    }
    let below = store.optimistically { tx in tx.update(LayerBook.self, id: 3) { $0.likes += 1 } }
    let first = sum("a")
    let second = sum("b")
    let above = store.optimistically { tx in tx.update(LayerBook.self, id: 3) { $0.likes += 10 } }
    #expect(shelf.value.name == "a1b1" && shelf.value.books[3].likes == 11)
    first.commit()
    #expect(shelf.value.name == "a0b1" && shelf.value.books[3].likes == 11)
    below.rollBack()
    #expect(shelf.value.name == "a0b0" && shelf.value.books[3].likes == 10)
    // The lowest that is left, with another one above inside.
    second.commit()
    #expect(shelf.value.name == "a0b0" && shelf.value.books[3].likes == 10)
    above.commit()
    #expect(store.transaction { $0.value(LayerShelf.self, id: 1) } == shelf.value)
    #expect(store._checkInvariants() == [])
  }

  @Test("Layers on somebody in a cycle who changes no relation are committed and rolled back without the others")
  func inCycles() {
    let store = EntityStore(delivery: .immediate)
    let runs = Counter()
    let readers = (0..<3).map { store.store(LayerReader(id: $0, name: "\($0)")) }
    for id in 0..<3 {
      store.transaction { tx in
        guard let friend = tx.value(LayerReader.self, id: (id + 1) % 3) else { return }
        tx.update(LayerReader.self, id: id) { $0.friends = [friend] }
      }
    }
    let layers = (0..<40).map { number in
      store.optimistically { tx in
        runs.add()
        tx.update(LayerReader.self, id: 1) { $0.name += "." }
      }
    }
    for layer in layers[..<20] { #expect(layer.commit()) }
    for layer in layers[20...].reversed() { layer.rollBack() }
    #expect(runs.value == 60)
    #expect(readers[1].value.name == "1" + String(repeating: ".", count: 20))
    #expect(readers[0].value.friends.map(\.name) == [readers[1].value.name])
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer that puts many into an aggregate is not committed on what a layer below has made of them")
  func madeBelow() {
    let store = EntityStore(delivery: .immediate)
    let shelves = (1...2).map { store.store(LayerShelf(id: $0)) }
    let keepers = (0..<40).map { store.observer(LayerBook.self, id: $0) }
    func fill(_ id: Int) -> OptimisticLayer {
      store.optimistically { tx in
        tx.update(LayerShelf.self, id: id) { $0.books = (0..<40).map { LayerBook(id: $0, likes: 1) } }
      }
    }
    let below = fill(1)
    fill(2).commit()
    #expect(shelves.map(\.value.books.count) == [40, 40])
    #expect(store.transaction { tx in (0..<40).compactMap { tx.value(LayerBook.self, id: $0)?.likes } }.count == 40)
    below.rollBack()
    #expect(shelves.map(\.value.books.count) == [0, 40])
    #expect(shelves[1].value.books.allSatisfy { $0.likes == 1 })
    #expect(store._checkInvariants() == [])
    withExtendedLifetime(keepers) {}
  }

  @Test("Layers on somebody in a large cycle, and on what is inside in many ways, end", arguments: [40, 400])
  func largeCycles(_ count: Int) {
    let store = EntityStore(delivery: .immediate)
    let readers = (0..<count).map { store.store(LayerReader(id: $0)) }
    store.transaction { tx in
      for id in 0..<count {
        let friends = (1...3).compactMap { tx.value(LayerReader.self, id: (id + $0) % count) }
        tx.update(LayerReader.self, id: id) { $0.friends = friends }
      }
    }
    let layers = (0..<6).map { number in
      store.optimistically { tx in tx.update(LayerReader.self, id: number % 2) { $0.name += "\(number)" } }
    }
    let beside = store.optimistically { tx in tx.store(LayerBook(id: 1)) }
    for number in [0, 3, 1] { #expect(layers[number].commit()) }
    for number in [5, 2, 4] { layers[number].rollBack() }
    beside.commit()
    #expect((readers[0].value.name, readers[1].value.name) == ("0", "31"))
    #expect(readers[2].value.friends.map(\.name) == ["", "", ""])
    #expect(store._checkInvariants() == [])
  }

  @Test(
    "A commit below a layer that depends on what it changes, and did not change it itself, has that layer made again")
  func dependsWithoutChanging() {
    let store = EntityStore(delivery: .immediate)
    let book = store.store(LayerBook(id: 1, likes: 5))
    let shelf = store.store(LayerShelf(id: 1))
    store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books = [LayerBook(id: 1, likes: 5)] } }
    let above = store.optimistically { tx in tx.store(LayerBook(id: 1, likes: 0)) }
    #expect(book.value.likes == 0)
    above.commit()
    // Now the first layer changes the book.
    #expect(book.value.likes == 5 && shelf.value.books == [book.value])
    #expect(store.transaction { $0.value(LayerBook.self, id: 1)?.likes } == 0)
    #expect(store._checkInvariants() == [])
  }

  @Test("What a layer hides and another one above has changed is there again when both are rolled back")
  func hiddenBelow() {
    let store = EntityStore(delivery: .immediate)
    store.store([LayerBook(id: 1, title: "base")], named: .shelved)
    let hiding = store.optimistically { tx in tx.store([], named: .shelved) }
    let above = store.optimistically { tx in tx.store(LayerBook(id: 1, title: "above")) }
    above.rollBack()
    #expect(store.value(LayerBook.self, id: 1) == nil)
    hiding.rollBack()
    #expect(store.value(LayerBook.self, id: 1) == LayerBook(id: 1, title: "base"))
    #expect(store._checkInvariants() == [])
  }

  @Test("What a transaction that throws did to layers of an aggregate is undone")
  func undone() {
    let layered = Layered(6) { number, shelf in
      shelf.name += "\(number)"
      if number % 2 == 0 { shelf.books.append(LayerBook(id: 10 + number)) }
    }
    let shown = layered.shelf.value
    try? layered.store.transaction { _ in
      layered.layers[0].commit()
      layered.layers[5].rollBack()
      layered.layers[1].commit()
      layered.layers[4].rollBack()
      throw Refused()
    }
    #expect(layered.layers.map(\.state.isPending) == Array(repeating: true, count: 6))
    #expect(layered.shelf.value == shown)
    #expect(layered.store._checkInvariants() == [])
    for layer in layered.layers.reversed() { layer.rollBack() }
    #expect(layered.shelf.value == LayerShelf(id: 1, books: (0..<5).map { LayerBook(id: $0) }))
    #expect(layered.store._checkInvariants() == [])
  }
}
