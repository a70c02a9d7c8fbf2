import Concord

extension Row {
  /// What optimistic layers cost: to make and roll back one, and those who write below.
  static var layers: [Row] {
    [
      layerRolledBack, updateBelow(1), updateBelow(10), updateBelow(10_000), updateOfLayered(10),
      updateOfLayered(10_000),
      releaseBelow(10_000),
    ]
  }

  private static var layerRolledBack: Row {
    Row(
      "make a layer of one update, and roll it back", goal: .none,
      floor: "two plain updates, there and back", repetitions: 11
    ) { stopwatch in
      let count = 10_000
      let store = EntityStore(delivery: .immediate)
      let kept = Book.samples(10_000).map { store.store($0) }
      let title = kept[4711].value.title
      return Sides {
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count {
            store.optimistically { tx in tx.update(Book.self, id: 4711) { $0.title = Titles[index] } }.rollBack()
          }
        }
        try expect(kept[4711].value.title, is: title, "the title after the last rollback")
        return time
      } floor: {
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count {
            store.update(Book.self, id: 4711) { $0.title = Titles[index] }
            store.update(Book.self, id: 4711) { $0.title = title }
          }
        }
        try expect(kept[4711].value.title, is: title, "the title after the last update")
        return time
      }
    }
  }

  private static func updateBelow(_ layers: Int) -> Row {
    let below = layers == 1 ? "a layer" : "\(layers) layers"
    return update(
      "update of what no layer changes, one observer, below \(below) of one update each", layers, of: 10_001)
  }

  private static func updateOfLayered(_ layers: Int) -> Row {
    update("update of what one of \(layers) layers of one update each changes, one observer", layers, of: 0)
  }

  private static func releaseBelow(_ layers: Int) -> Row {
    Row(
      "store an entity that nobody keeps, below \(layers) layers of one update each", goal: .none,
      floor: "the same without layers", repetitions: 11
    ) { stopwatch in
      let count = 10_000
      let books = Book.samples(layers + 1)
      func made(_ layers: Int) -> (EntityStore, [EntityObserver<Book>]) {
        let store = EntityStore(delivery: .immediate)
        let kept = books.dropLast().map { store.store($0) }
        for id in 0..<layers { store.optimistically { tx in tx.update(Book.self, id: id) { $0.author = "above" } } }
        return (store, kept)
      }
      let (below, alone) = (made(layers), made(0))
      func run(_ side: (store: EntityStore, kept: [EntityObserver<Book>])) throws -> Double {
        let time = stopwatch.nanoseconds(per: count) {
          for _ in 0..<count { side.store.store(books[layers]) }
        }
        try expect(side.store.count(Book.self), is: layers, "the entities that are kept")
        return time
      }
      return Sides {
        try run(below)
      } floor: {
        try run(alone)
      }
    }
  }

  private static func update(_ name: String, _ layers: Int, of id: Int) -> Row {
    Row(name, goal: .none, floor: "the same without layers", repetitions: 11) { stopwatch in
      let count = 10_000
      func made(_ layers: Int) -> (EntityStore, Screen<Book>, Subscription?) {
        let store = EntityStore(delivery: .immediate)
        let kept = Book.samples(10_002).map { store.store($0) }
        let screen = Screen<Book>()
        let subscription = kept[id].observe { screen.show($0) }
        for id in 0..<layers { store.optimistically { tx in tx.update(Book.self, id: id) { $0.author = "above" } } }
        return (store, screen, withExtendedLifetime(kept) { subscription })
      }
      let (above, alone) = (made(layers), made(0))
      func run(_ side: (store: EntityStore, screen: Screen<Book>, Subscription?)) throws -> Double {
        let calls = side.screen.calls
        let time = stopwatch.nanoseconds(per: count) {
          for index in 0..<count { side.store.update(Book.self, id: id) { $0.title = Titles[index] } }
        }
        try expect(side.screen.calls - calls, is: count, "calls of the observer")
        return time
      }
      return Sides {
        try run(above)
      } floor: {
        try run(alone)
      }
    }
  }
}
