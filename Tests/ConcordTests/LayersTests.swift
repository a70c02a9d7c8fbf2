import Concord
import Testing

@Suite("Optimistic layers")
struct LayersTests {
  let store = EntityStore(delivery: .immediate)

  private func likes(_ id: Int) -> Int? { store.value(LayerBook.self, id: id)?.likes }

  private func like(_ id: Int, by count: Int = 1) -> OptimisticLayer {
    store.optimistically { tx in tx.update(LayerBook.self, id: id) { $0.likes += count } }
  }

  // MARK: Showing, committing, rolling back

  @Test("A layer is shown at once, and gone when it is rolled back")
  func rolledBack() {
    let book = store.store(LayerBook(id: 1, title: "Emma", likes: 3))
    let layer = like(1)
    #expect(book.value.likes == 4)
    #expect(layer.state.isPending)
    layer.rollBack()
    #expect(book.value == LayerBook(id: 1, title: "Emma", likes: 3))
    #expect("\(layer.state)" == "rolledBack")
    #expect(store._checkInvariants() == [])
  }

  @Test("A committed layer's change stays")
  func committed() {
    let book = store.store(LayerBook(id: 1, likes: 3))
    let layer = like(1)
    #expect(layer.commit())
    #expect(book.value.likes == 4)
    #expect("\(layer.state)" == "committed")
    store.update(LayerBook.self, id: 1) { $0.title = "Emma" }
    #expect(book.value == LayerBook(id: 1, title: "Emma", likes: 4))
  }

  @Test(
    "Layers end in any order, and each takes back its own change only", arguments: [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
  func anyOrder(_ order: [Int]) {
    let book = store.store(LayerBook(id: 1))
    let layers = [like(1, by: 1), like(1, by: 10), like(1, by: 100)]
    var rest = 111
    #expect(book.value.likes == rest)
    for index in order {
      layers[index].rollBack()
      rest -= [1, 10, 100][index]
      #expect(book.value.likes == rest)
    }
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer in the middle becomes a part of the base, and the others stay above")
  func committedInTheMiddle() {
    let book = store.store(LayerBook(id: 1, title: "a"))
    func append(_ text: String) -> OptimisticLayer {
      store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.title += text } }
    }
    let (b, c, d) = (append("b"), append("c"), append("d"))
    #expect(book.value.title == "abcd")
    #expect(c.commit())
    #expect(book.value.title == "acbd")
    b.rollBack()
    #expect(book.value.title == "acd")
    d.rollBack()
    #expect(book.value.title == "ac")
  }

  @Test("Ending a layer twice changes nothing")
  func twice() {
    let book = store.store(LayerBook(id: 1))
    let layer = like(1)
    #expect(layer.commit())
    #expect(!layer.commit())
    layer.rollBack()
    #expect(book.value.likes == 1)
    #expect("\(layer.state)" == "committed")
  }

  @Test("Relations, aliases, insertions and removals are taken back exactly")
  func everything() {
    let shelf = store.store(
      LayerShelf(
        id: 1, name: "a", books: [LayerBook(id: 1), LayerBook(id: 2), LayerBook(id: 3)], best: LayerBook(id: 2)))
    store.store([LayerBook(id: 1), LayerBook(id: 3)], named: .shelved)
    store.store(LayerBook(id: 3), named: .featured)
    let before = shelf.value
    let layer = store.optimistically { tx in
      tx.update(LayerShelf.self, id: 1) {
        $0.name = "b"
        $0.books.removeFirst()
        $0.books.append(LayerBook(id: 4, title: "new"))
        $0.best = nil
      }
      tx.remove(LayerBook.self, id: 3)
      tx.store(LayerBook(id: 9), named: .featured)
      tx.removeAlias(named: .shelved)
    }
    #expect(shelf.value.books.map(\.id) == [2, 4])
    #expect(shelf.value.best == nil)
    #expect(store.value(LayerBook.self, id: 3) == nil)
    #expect(store.find(named: .featured).value?.id == 9)
    #expect(store.find(named: .shelved).value == nil)
    #expect(store._checkInvariants() == [])
    layer.rollBack()
    #expect(shelf.value == before)
    #expect(store.value(LayerBook.self, id: 4) == nil)
    #expect(store.value(LayerBook.self, id: 9) == nil)
    #expect(store.find(named: .featured).value == LayerBook(id: 3))
    #expect(store.find(named: .shelved).value?.map(\.id) == [1, 3])
    #expect(store._checkInvariants() == [])
  }

  // MARK: Base data

  @Test("What arrives meanwhile goes underneath")
  func underneath() {
    let book = store.store(LayerBook(id: 1, title: "Ema", likes: 3))
    let layer = like(1)
    store.store(LayerBook(id: 1, title: "Emma", likes: 10))
    #expect(book.value == LayerBook(id: 1, title: "Emma", likes: 11))
    store.update(LayerBook.self, id: 1) { $0.likes += 1 }
    #expect(book.value.likes == 12)
    layer.rollBack()
    #expect(book.value == LayerBook(id: 1, title: "Emma", likes: 11))
  }

  @Test("A transaction and an update read the base, with what they wrote themselves")
  func readingTheBase() {
    let book = store.store(LayerBook(id: 1, likes: 3))
    let layer = like(1)
    store.transaction { tx in
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 3)
      #expect(book.value.likes == 3)
      tx.update(LayerBook.self, id: 1) {
        #expect($0.likes == 3)
        $0.likes = 5
      }
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 5)
      #expect(store.find(LayerBook.self, id: 1)?.value.likes == 5)
    }
    #expect(book.value.likes == 6)
    layer.rollBack()
    #expect(book.value.likes == 5)
  }

  @Test("Storing back a value that was read with layers in it makes them a part of the base")
  func pitfall() {
    let book = store.store(LayerBook(id: 1, likes: 3))
    let layer = like(1)
    store.store(book.value)
    #expect(book.value.likes == 5)
    layer.rollBack()
    #expect(book.value.likes == 4)
  }

  @Test("A layer reads the layers below it and its own writes")
  func layerReads() {
    let book = store.store(LayerBook(id: 1, likes: 1))
    let seen = Log<Int>()
    let below = like(1, by: 10)
    let above = store.optimistically { tx in
      seen.append(tx.value(LayerBook.self, id: 1)?.likes ?? 0)
      tx.update(LayerBook.self, id: 1) { $0.likes += 100 }
      seen.append(tx.value(LayerBook.self, id: 1)?.likes ?? 0)
    }
    #expect(seen.values == [11, 111])
    seen.clear()
    below.rollBack()
    #expect(seen.values == [1, 101])
    above.rollBack()
    #expect(book.value.likes == 1)
  }

  // MARK: Transactions

  @Test("Base rows, layers that end and new layers in one transaction are one")
  func joined() {
    let book = store.store(LayerBook(id: 1))
    let first = like(1)
    let log = Log<LayerBook>()
    let subscription = book.observe { log.append($0) }
    log.clear()
    store.transaction { tx in
      tx.store(LayerBook(id: 1, title: "Emma", likes: 1))
      first.rollBack()
      tx.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 10 } }
      #expect(tx.value(LayerBook.self, id: 1)?.likes == 1)
    }
    #expect(log.values == [LayerBook(id: 1, title: "Emma", likes: 11)])
    subscription.unsubscribe()
  }

  @Test("A transaction that throws undoes what it did to layers")
  func thrown() {
    let book = store.store(LayerBook(id: 1))
    let (kept, committed) = (like(1, by: 1), like(1, by: 10))
    let log = Log<LayerBook>()
    let subscription = book.observe { log.append($0) }
    log.clear()
    let made = Log<OptimisticLayer>()
    #expect(throws: Refused.self) {
      try store.transaction { tx in
        tx.update(LayerBook.self, id: 1) { $0.title = "b" }
        kept.rollBack()
        committed.commit()
        made.append(tx.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 100 } })
        throw Refused()
      }
    }
    #expect(log.count == 0)
    #expect(book.value == LayerBook(id: 1, likes: 11))
    #expect(kept.state.isPending && committed.state.isPending)
    #expect(made.values.map { "\($0.state)" } == ["rolledBack"])
    store.update(LayerBook.self, id: 1) { $0.title = "c" }
    #expect(book.value == LayerBook(id: 1, title: "c", likes: 11))
    kept.rollBack()
    #expect(book.value.likes == 10)
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("A nested transaction that throws undoes its own layers alone")
  func nestedThrow() {
    let book = store.store(LayerBook(id: 1))
    store.transaction { tx in
      tx.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
      try? tx.transaction { tx in
        tx.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 10 } }
        throw Refused()
      }
      tx.update(LayerBook.self, id: 1) { $0.title = "b" }
    }
    #expect(book.value == LayerBook(id: 1, title: "b", likes: 1))
  }

  @Test("A layer made in an update's closure belongs to the same transaction")
  func inUpdate() {
    let book = store.store(LayerBook(id: 1))
    let log = Log<LayerBook>()
    let subscription = book.observe { log.append($0) }
    log.clear()
    let layers = Log<OptimisticLayer>()
    store.update(LayerBook.self, id: 1) {
      $0.title = "b"
      layers.append(like(1))
    }
    #expect(log.values == [LayerBook(id: 1, title: "b", likes: 1)])
    layers.last?.rollBack()
    #expect(book.value == LayerBook(id: 1, title: "b"))
    subscription.unsubscribe()
  }

  @Test("A layer made in the closure of another one is a part of that")
  func nested() {
    let book = store.store(LayerBook(id: 1))
    let inner = Log<OptimisticLayer>()
    let layer = store.optimistically { tx in
      tx.update(LayerBook.self, id: 1) { $0.likes += 1 }
      inner.append(tx.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 10 } })
    }
    #expect(book.value.likes == 11)
    #expect(inner.values == [layer])
    inner.last?.rollBack()
    #expect(book.value.likes == 0)
    #expect(!layer.state.isPending)
  }

  @Test("A layer that a closure ends, ends when the closure has returned")
  func endedInClosure() {
    let book = store.store(LayerBook(id: 1))
    let first = like(1)
    let second = store.optimistically { tx in
      tx.update(LayerBook.self, id: 1) { $0.likes += 10 }
      first.rollBack()
    }
    #expect(book.value.likes == 10)
    #expect("\(first.state)" == "rolledBack")
    second.rollBack()
    #expect(book.value.likes == 0)
    #expect(store._checkInvariants() == [])
  }

  // MARK: Dropping out

  @Test("A closure that throws the first time makes no layer")
  func throwsAtOnce() {
    let book = store.store(LayerBook(id: 1))
    #expect(throws: Refused.self) {
      try store.optimistically { tx throws(Refused) in
        tx.update(LayerBook.self, id: 1) { $0.likes = 9 }
        throw Refused()
      }
    }
    #expect(book.value.likes == 0)
    store.update(LayerBook.self, id: 1) { $0.likes = 1 }
    #expect(book.value.likes == 1)
  }

  @Test("A layer whose entity is removed is dropped, and tells so")
  func dropped() async {
    let logger = DropLogger()
    let store = EntityStore(delivery: .immediate, logger: logger)
    let book = store.store(LayerBook(id: 1))
    let other = store.store(LayerBook(id: 2))
    let layer = store.optimistically { tx in
      tx.update(LayerBook.self, id: 2) { $0.likes = 5 }
      tx.update(LayerBook.self, id: 1) { $0.likes += 1 }
    }
    let ends = Log<String>()
    layer.onEnd { ends.append("\($0)") }
    #expect(other.value.likes == 5)
    store.remove(LayerBook.self, id: 1)
    #expect(other.value.likes == 0)
    guard case .dropped(let error) = await layer.ended() else {
      Issue.record("\(layer.state)")
      return
    }
    #expect("\(error)" == "LayerBook 1 is not stored")
    #expect((error as? NothingToUpdate)?.type == LayerBook.self)
    #expect(logger.drops.values == ["LayerBook 1 is not stored"])
    #expect(ends.values.count == 1)
    // It does not come back with the entity.
    store.store(LayerBook(id: 1))
    #expect(book.value.likes == 0)
    #expect(store._checkInvariants() == [])
  }

  @Test("A layer whose closure throws when it is replayed is dropped; the others stay")
  func droppedByThrowing() {
    let book = store.store(LayerBook(id: 1))
    let strict = try? store.optimistically { tx in
      guard tx.value(LayerBook.self, id: 1)?.title == "" else { throw Refused() }
      tx.update(LayerBook.self, id: 1) { $0.likes += 1 }
    }
    let other = like(1, by: 10)
    #expect(book.value.likes == 11)
    store.update(LayerBook.self, id: 1) { $0.title = "b" }
    #expect(book.value == LayerBook(id: 1, title: "b", likes: 10))
    #expect(other.state.isPending)
    guard case .dropped(let error) = strict?.state else {
      Issue.record("\(String(describing: strict?.state))")
      return
    }
    #expect(error is Refused)
  }

  @Test("A closure that asks for the outcome of its update is not dropped")
  func outcome() {
    let layer = store.optimistically { tx in
      if tx.updateOutcome(LayerBook.self, id: 1, update: { $0.likes += 1 }) == .missing {
        tx.store(LayerBook(id: 1, likes: 1))
      }
    }
    #expect(layer.state.isPending)
    #expect(likes(1) == 1)
    let book = store.store(LayerBook(id: 1, likes: 10))
    #expect(book.value.likes == 11)
    layer.rollBack()
    #expect(book.value.likes == 10)
  }

  @Test("A layer that may wait is shown as soon as it applies")
  func waiting() {
    let layer = store.optimisticallyWhenPossible { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 1 } }
    #expect(layer.state.isPending)
    let book = store.store(LayerBook(id: 1, likes: 10))
    #expect(book.value.likes == 11)
    store.remove(LayerBook.self, id: 1)
    #expect(layer.state.isPending)
    store.store(LayerBook(id: 1, likes: 20))
    #expect(book.value.likes == 21)
    layer.rollBack()
    #expect(book.value.likes == 20)
  }

  @Test("What a commit would change in the base can be asked without changing anything")
  func baseChanges() throws {
    let book = store.store(LayerBook(id: 1, likes: 1))
    let log = Log<LayerBook>()
    let subscription = book.observe { log.append($0) }
    let below = like(1, by: 10)
    let layer = store.optimistically { tx in
      tx.update(LayerBook.self, id: 1) { $0.likes += 100 }
      tx.store(LayerBook(id: 2))
    }
    log.clear()
    let changes = try layer.baseChanges()
    #expect(changes.map { $0.new as? LayerBook } == [LayerBook(id: 1, likes: 101), LayerBook(id: 2)])
    #expect(changes.map { $0.old as? LayerBook } == [LayerBook(id: 1, likes: 1), nil])
    #expect(log.count == 0)
    #expect(book.value.likes == 111)
    below.rollBack()
    layer.rollBack()
    #expect(book.value.likes == 1)
    subscription.unsubscribe()
    #expect(store._checkInvariants() == [])
  }
}

/// Notes which layers were dropped.
private struct DropLogger: EntityStoreLogger {
  let drops = Log<String>()

  func didDropOptimisticLayer(_ error: any Error) { drops.append("\(error)") }
}
