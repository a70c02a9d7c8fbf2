import Concord
import Testing

/// Layers that are made, and that end, in transactions inside of transactions.
@Suite("Optimistic layers in nested transactions")
struct LayersInTransactionsTests {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case differentEntities, oneEntity, oneAggregate, halfOfThemThrow
    var testDescription: String { rawValue }
  }

  @Test("Layers that are made in nested transactions run each closure at most twice", arguments: Kind.allCases)
  func work(_ kind: Kind) {
    for count in [50, 100, 200] {
      let (store, runs) = (EntityStore(delivery: .immediate), Log<Int>())
      let books = (0..<count).map { store.store(LayerBook(id: $0)) }
      let shelf = store.store(LayerShelf(id: 0, books: books.map(\.value)))
      store.transaction { tx in
        for number in 0..<count {
          try? tx.transaction { tx in
            tx.optimistically { tx in
              runs.append(number)
              if kind == .oneAggregate {
                tx.update(LayerShelf.self, id: 0) { $0.name += "." }
              } else {
                tx.update(LayerBook.self, id: kind == .oneEntity ? 0 : number) { $0.likes += 1 }
              }
            }
            if kind == .halfOfThemThrow, number % 2 == 1 { throw Refused() }
          }
        }
      }
      #expect(runs.values.count <= 2 * count)
      let likes = books.reduce(0) { $0 + $1.value.likes }
      #expect(likes + shelf.value.name.count == (kind == .halfOfThemThrow ? count / 2 : count))
      #expect(store.transaction { tx in tx.value(LayerShelf.self, id: 0)?.name } == "")
      #expect(store._checkInvariants() == [])
    }
  }

  @Test(
    "A part that sees the base, writes and throws leaves the layers made before it, and the base", arguments: [0, 2])
  func throwingPart(_ before: Int) {
    let store = EntityStore(delivery: .immediate)
    let shelf = store.store(LayerShelf(id: 0, books: (0..<3).map { LayerBook(id: $0) }))
    func rename(_ name: String, likes id: Int) -> OptimisticLayer {
      store.optimistically { tx in
        tx.update(LayerShelf.self, id: 0) { shelf in
          shelf.name += name
          shelf.books.append(LayerBook(id: 10 + id))
          shelf.books[0].likes += 1
        }
      }
    }
    let earlier = (0..<before).map { rename("\($0)", likes: $0) }
    let shown = shelf.value
    var made: [OptimisticLayer] = []
    store.transaction { tx in
      made.append(rename("a", likes: 5))
      for isDeep in [false, true, false] {
        try? tx.transaction { tx in
          made.append(rename("undone", likes: 6))
          #expect(tx.value(LayerShelf.self, id: 0)?.name == "")
          tx.update(LayerBook.self, id: 2) { $0.title = "undone" }
          if isDeep {
            try? tx.transaction { tx in
              made.append(rename("undone", likes: 7))
              tx.update(LayerShelf.self, id: 0) { $0.books = [] }
              earlier.first?.commit()
              throw Refused()
            }
            #expect(tx.value(LayerBook.self, id: 2)?.title == "undone")
          }
          made.append(rename("undone", likes: 8))
          throw Refused()
        }
      }
      made.append(rename("b", likes: 9))
      #expect(tx.value(LayerShelf.self, id: 0) == LayerShelf(id: 0, books: (0..<3).map { LayerBook(id: $0) }))
    }
    #expect(shelf.value.name == shown.name + "ab")
    #expect(shelf.value.books.map(\.id) == shown.books.map(\.id) + [15, 19])
    #expect(shelf.value.books.map(\.likes).reduce(0, +) == before + 2)
    #expect(made.filter(\.state.isPending).count == 2)
    #expect(earlier.filter(\.state.isPending).count == before)
    #expect(store._checkInvariants() == [])
    for layer in made + earlier { layer.rollBack() }
    #expect(shelf.value == LayerShelf(id: 0, books: (0..<3).map { LayerBook(id: $0) }))
    #expect(store.count(LayerBook.self) == 3)
    #expect(store._checkInvariants() == [])
  }

  @Test("The base is seen, and written, after a nested transaction has made layers")
  func baseAfterPart() {
    let store = EntityStore(delivery: .immediate)
    let book = store.store(LayerBook(id: 1))
    let like = { @Sendable (tx: EntityStore) -> Void in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    store.optimistically(like)
    try? store.transaction { tx in
      tx.transaction { _ = $0.optimistically(like) }
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 0)
      tx.transaction { tx in
        tx.optimistically(like)
        tx.update(LayerBook.self, id: 1) { $0.likes += 10 }
        tx.optimistically(like)
      }
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 10)
      tx.transaction { _ = $0.optimistically(like).commit() }
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 11)
      throw Refused()
    }
    #expect(book.value.likes == 1)
    store.transaction { tx in
      tx.transaction { $0.optimistically(like) }
      tx.transaction { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 10 } }
      tx.transaction { tx in tx.transaction { $0.optimistically(like) } }
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 10)
    }
    #expect(book.value.likes == 13)
    #expect(store._checkInvariants() == [])
  }

  @Test("What a layer does is logged once, however often its transaction goes back to the base")
  func logged() {
    let lines = StoredLines()
    let store = EntityStore(delivery: .immediate, logger: lines)
    let book = store.store(LayerBook(id: 1))
    store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    let before = lines.stored.values.count
    store.transaction { tx in
      for _ in 0..<2 {
        tx.transaction { tx in
          tx.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
          tx.transaction { tx in _ = tx.value(LayerBook.self, id: 1) }
        }
      }
    }
    #expect(lines.stored.values.count == before + 2)
    #expect(book.value.likes == 3)
  }
}

private struct StoredLines: EntityStoreLogger {
  let stored = Log<String>()

  func didStore<T: Identifiable>(_ type: T.Type, id: T.ID) { stored.append("\(type) \(id)") }
}
