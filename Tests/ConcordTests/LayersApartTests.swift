import Concord
import Testing

/// Layers that share nothing with what is written stay shown, and only the others are replayed.
@Suite("Layers apart from each other")
struct LayersApartTests {
  private final class Runs: Sendable {
    private let log = Log<Int>()
    func add(_ layer: Int) { log.append(layer) }
    func take() -> [Int] {
      defer { log.clear() }
      return log.values.sorted()
    }
  }

  /// Layers, each of which likes some books.
  private static func like(_ books: [[Int]], in store: EntityStore, _ runs: Runs) -> [OptimisticLayer] {
    books.enumerated().map { layer, ids in
      store.optimistically { tx in
        runs.add(layer)
        for id in ids { tx.update(LayerBook.self, id: id) { $0.likes += 1 } }
      }
    }
  }

  @Test("A write replays the layers that depend on it, and those that share something with them")
  func writes() {
    let (store, runs) = (EntityStore(delivery: .immediate), Runs())
    let books = (0..<6).map { store.store(LayerBook(id: $0)) }
    let layers = Self.like([[0], [1], [1, 2], [2, 3], [4], [0]], in: store, runs)
    _ = runs.take()
    store.update(LayerBook.self, id: 0) { $0.likes = 10 }
    #expect(runs.take() == [0, 5])
    store.store(LayerBook(id: 3, title: "new", likes: 20))
    #expect(runs.take() == [1, 2, 3])
    store.transaction { tx in
      tx.update(LayerBook.self, id: 4) { $0.title = "a" }
      tx.update(LayerBook.self, id: 5) { $0.title = "b" }
      tx.update(LayerBook.self, id: 0) { $0.title = "c" }
    }
    #expect(runs.take() == [0, 4, 5])
    #expect(books.map(\.value.likes) == [12, 2, 2, 21, 1, 0])
    #expect(books.map(\.value.title) == ["c", "", "", "new", "a", "b"])
    for layer in layers { layer.rollBack() }
    #expect(books.map(\.value.likes) == [10, 0, 0, 20, 0, 0])
    #expect(store._checkInvariants() == [])
  }

  @Test("Taking a layer back replays those that share something with it")
  func rollBack() {
    let (store, runs) = (EntityStore(delivery: .immediate), Runs())
    let books = (0..<4).map { store.store(LayerBook(id: $0)) }
    let layers = Self.like([[0], [1], [0, 1], [2], [3], [3]], in: store, runs)
    _ = runs.take()
    layers[3].rollBack()
    #expect(runs.take() == [])
    layers[0].rollBack()
    #expect(runs.take() == [1, 2])
    store.transaction { tx in
      tx.update(LayerBook.self, id: 3) { $0.likes = 7 }
      layers[4].rollBack()
    }
    #expect(runs.take() == [5])
    #expect(books.map(\.value.likes) == [1, 2, 0, 8])
    #expect(store._checkInvariants() == [])
  }

  @Test("What was tried above the layers and undone is no reason to replay them")
  func undone() {
    let (store, runs) = (EntityStore(delivery: .immediate), Runs())
    let books = (0..<3).map { store.store(LayerBook(id: $0)) }
    let layers = Self.like([[0], [1], [2]], in: store, runs)
    try? store.transaction { tx in
      tx.optimistically { $0.update(LayerBook.self, id: 0) { $0.likes = 100 } }
      throw Refused()
    }
    _ = runs.take()
    store.update(LayerBook.self, id: 1) { $0.likes = 5 }
    #expect(runs.take() == [1])
    #expect(books.map(\.value.likes) == [1, 6, 1])
    layers[0].rollBack()
    #expect(books.map(\.value.likes) == [0, 6, 1])
  }

  @Test("A layer that goes elsewhere when it is replayed is put where it belongs among the others")
  func elsewhere() {
    let store = EntityStore(delivery: .immediate)
    let books = (0..<3).map { store.store(LayerBook(id: $0)) }
    // Doubles another book, as soon as this one has a title.
    store.optimistically { tx in
      let isTitled = Log<Bool>()
      tx.update(LayerBook.self, id: 0) { book in
        isTitled.append(!book.title.isEmpty)
        book.likes += 1
      }
      if isTitled.last == true { tx.update(LayerBook.self, id: 1) { $0.likes *= 2 } }
    }
    store.optimistically { $0.update(LayerBook.self, id: 1) { $0.likes += 10 } }
    store.optimistically { $0.update(LayerBook.self, id: 2) { $0.likes += 1 } }
    store.store(LayerBook(id: 1, likes: 3))
    #expect(books.map(\.value.likes) == [1, 13, 1])
    store.update(LayerBook.self, id: 0) { $0.title = "titled" }
    // 3 * 2 + 10, and not (3 + 10) * 2.
    #expect(books.map(\.value.likes) == [1, 16, 1])
    store.update(LayerBook.self, id: 0) { $0.title = "" }
    #expect(books.map(\.value.likes) == [1, 13, 1])
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer that is dropped when it is replayed alone says so, and leaves the others")
  func dropped() {
    let store = EntityStore(delivery: .immediate)
    let books = (0..<2).map { store.store(LayerBook(id: $0)) }
    let layer = try? store.optimistically { tx in
      let likes = Log<Int>()
      tx.update(LayerBook.self, id: 0) { book in
        likes.append(book.likes)
        book.title = "liked"
      }
      if likes.last ?? 0 > 3 { throw Refused() }
    }
    store.optimistically { $0.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    store.update(LayerBook.self, id: 0) { $0.likes = 4 }
    #expect(books.map(\.value) == [LayerBook(id: 0, likes: 4), LayerBook(id: 1, likes: 1)])
    #expect(layer.map { "\($0.state)".hasPrefix("dropped") } == true)
    #expect(store._checkInvariants() == [])
  }

  @Test("Random layers over entities that contain none show what a model of them does", arguments: 0..<200)
  func random(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let store = EntityStore(delivery: .immediate)
    let ids = 0..<8
    var base = ids.map { LayerBook(id: $0) }
    let books = base.map { store.store($0) }
    let told = books.map { _ in Log<LayerBook>() }
    let subscriptions = zip(books, told).map { book, told in book.observe { told.append($0) } }
    var pending: [(layer: OptimisticLayer, ids: [Int], limit: Int)] = []
    func shown() -> [LayerBook] {
      var shown = base
      for (_, ids, limit) in pending {
        var next = shown
        for id in ids { (next[id].likes, next[id].title) = (next[id].likes * 2 + 1, next[id].title + "\(limit % 10)") }
        if ids.allSatisfy({ shown[$0].likes <= limit }) { shown = next }
      }
      return shown
    }
    func write(_ id: Int) {
      base[id] = LayerBook(id: id, title: "\(random.below(3))", likes: random.below(5))
      let book = base[id]
      if random.chance(50) { store.store(book) } else { store.update(LayerBook.self, id: id) { $0 = book } }
    }
    for step in 0..<80 {
      let before = shown()
      for log in told { log.clear() }
      switch random.below(10) {
      case 0..<4:
        let chosen = (0..<random.below(3) + 1).map { _ in random.below(ids.count) }
        let (ids, limit) = (Array(Set(chosen)).sorted(), random.chance(90) ? .max : random.below(60))
        // Waits where it does not apply, so that it is tried again.
        let layer = store.optimisticallyWhenPossible { tx in
          let isOver = Log<Bool>()
          for id in ids {
            tx.update(LayerBook.self, id: id) { book in
              isOver.append(book.likes > limit)
              (book.likes, book.title) = (book.likes * 2 + 1, book.title + "\(limit % 10)")
            }
          }
          if isOver.values.contains(true) { throw Refused() }
        }
        pending.append((layer, ids, limit))
      case 4..<6:
        guard !pending.isEmpty else { continue }
        pending.remove(at: random.below(pending.count)).layer.rollBack()
      case 6:
        let saved = (base, pending.count)
        let isThrowing = random.chance(50)
        try? store.transaction { _ in
          for _ in 0..<3 { write(random.below(ids.count)) }
          if isThrowing { throw Refused() }
        }
        if isThrowing { base = saved.0 }
      case 7:
        store.transaction { _ in
          write(random.below(ids.count))
          if !pending.isEmpty { pending.remove(at: random.below(pending.count)).layer.rollBack() }
          if random.chance(50) { write(random.below(ids.count)) }
          if random.chance(20) { #expect(store.value(LayerBook.self, id: 0) == base[0], "seed \(seed), step \(step)") }
        }
      default: write(random.below(ids.count))
      }
      let after = shown()
      #expect(books.map(\.value) == after, "seed \(seed), step \(step)")
      for id in ids {
        #expect(told[id].values == (after[id] == before[id] ? [] : [after[id]]), "seed \(seed), step \(step)")
      }
      #expect(store._checkInvariants() == [], "seed \(seed), step \(step)")
    }
    for (layer, _, _) in pending { layer.rollBack() }
    #expect(books.map(\.value) == base)
    for subscription in subscriptions { subscription.unsubscribe() }
  }
}
