import Concord
import Dispatch
import Testing

@Suite("Optimistic layers, and who observes them")
struct LayersObservingTests {
  let store = EntityStore(delivery: .immediate)

  private func like(_ id: Int, by count: Int = 1) -> OptimisticLayer {
    store.optimistically { tx in tx.update(LayerBook.self, id: id) { $0.likes += count } }
  }

  @Test("Each step is told once, with the net of it")
  func once() {
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1), LayerBook(id: 2)]))
    let log = Log<[Int]>()
    let subscription = shelf.observe { log.append($0.books.map(\.likes)) }
    log.clear()
    let (first, second) = (like(1, by: 1), like(1, by: 10))
    #expect(log.values == [[1, 0], [11, 0]])
    log.clear()
    store.update(LayerBook.self, id: 2) { $0.likes = 5 }
    #expect(log.values == [[11, 5]])
    log.clear()
    first.rollBack()
    second.commit()
    #expect(log.values == [[10, 5]])
    subscription.unsubscribe()
  }

  @Test("What a layer has written is told when it is rolled back, also where it was brought up to date before")
  func broughtUpToDateBefore() throws {
    let log = Log<[String]>()
    let subscriptions =
      (0...3).map { store.observer(LayerBook.self, id: $0).observe { _ in } } + [
        store.observer(LayerShelf.self, id: 3).observe { _ in },
        store.observer(LayerReader.self, id: 3).observe { _ in },
        store.observer(LayerShelf.self, id: 2).observe { log.append($0?.books.map(\.title) ?? []) },
      ]
    store.store(LayerReader(id: 3))
    let shelf = LayerShelf(id: 2, books: [LayerBook(id: 0, title: "a"), LayerBook(id: 3, title: "b")])
    store.store(shelf)
    store.update(LayerReader.self, id: 3) { $0.shelf = shelf }
    let layers = store.transaction { tx in
      [
        tx.optimistically { $0.store(LayerShelf(id: 3, best: LayerBook(id: 3, title: "c"))) },
        tx.optimistically { $0.remove(LayerReader.self, id: 3) },
        tx.optimistically { $0.store(LayerShelf(id: 2, books: [LayerBook(id: 2, title: "d")])) },
      ]
    }
    let last = store.optimistically { tx in
      tx.store([LayerBook(id: 2, title: "f"), LayerBook(id: 3, title: "e")], named: .shelved)
    }
    #expect(log.values == [[], ["a", "b"], ["d"], ["f"]])
    try #require(layers.last).rollBack()
    #expect(log.values.dropFirst(4) == [["a", "e"]])
    last.rollBack()
    for layer in layers.dropLast() { layer.rollBack() }
    #expect(log.last == ["a", "b"])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("Nobody is told of a step that shows nothing")
  func nothing() {
    let book = store.store(LayerBook(id: 1, likes: 1))
    let other = store.store(LayerBook(id: 2))
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1, likes: 1)]))
    let log = Log<Int>()
    let subscriptions = [
      book.observe { _ in log.append(1) }, other.observe { _ in log.append(2) }, shelf.observe { _ in log.append(3) },
      store.observer(all: LayerBook.self).observe { _ in log.append(4) },
      store.observe(book, other) { _ in log.append(5) },
    ]
    log.clear()
    // A layer hides what arrives below it, and a second one changes nothing.
    let hiding = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes = 1 } }
    store.update(LayerBook.self, id: 1) { $0.likes = 2 }
    #expect(log.values == [])
    hiding.commit()
    #expect(log.values == [])
    let likes = like(2)
    log.clear()
    likes.commit()
    #expect(log.values == [])
    for subscription in subscriptions { subscription.unsubscribe() }
  }

  @Test("The feed of changes has the net of each step")
  func changes() {
    let log = Log<String>()
    let kept = store.store(LayerBook(id: 1, likes: 1))
    let subscription = store.observeChanges { set in
      let changes = set.changes.map { "\($0.kind) \($0.id) \(($0.new as? LayerBook)?.likes ?? -1)" }
      log.append(changes.joined(separator: ", "))
    }
    let layer = store.optimistically { tx in
      tx.update(LayerBook.self, id: 1) { $0.likes += 1 }
      tx.store(LayerBook(id: 2))
    }
    #expect(log.values == ["updated 1 2, inserted 2 0"])
    log.clear()
    let other = store.store(LayerBook(id: 3))
    #expect(log.values == ["inserted 3 0"])
    log.clear()
    store.update(LayerBook.self, id: 1) { $0.likes = 5 }
    #expect(log.values == ["updated 1 6"])
    log.clear()
    layer.rollBack()
    #expect(Set(log.values.joined(separator: ", ").split(separator: ", ")) == ["updated 1 5", "removed 2 -1"])
    subscription.unsubscribe()
    withExtendedLifetime((kept, other)) {}
  }

  @Test("A layer that is rolled back before anybody looked tells nobody on a queue")
  func queue() async {
    let queue = DispatchQueue(label: "layers")
    let store = EntityStore(queue: queue)
    let book = store.store(LayerBook(id: 1))
    let log = Log<Int>()
    let subscription = book.observe { log.append($0.likes) }
    queue.suspend()
    let layer = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes = 1 } }
    store.update(LayerBook.self, id: 1) { $0.title = "b" }
    layer.rollBack()
    queue.resume()
    await store.settled()
    // The newest state only, and nothing of the layer.
    #expect(log.values == [0, 0])
    subscription.unsubscribe()
  }

  @Test("A group that is paused while a layer comes and goes is told nothing when it resumes")
  func paused() {
    let book = store.store(LayerBook(id: 1))
    let log = Log<Int>()
    let group = SubscriptionGroup()
    book.observe { log.append($0.likes) }.store(in: group)
    log.clear()
    group.pause()
    let layer = like(1)
    layer.rollBack()
    group.resume()
    #expect(log.count == 0)
    group.pause()
    let second = like(1)
    group.resume()
    #expect(log.values == [1])
    second.rollBack()
    #expect(log.values == [1, 0])
  }

  @Test("An asynchronous sequence has what is shown")
  func values() async {
    let book = store.store(LayerBook(id: 1))
    var iterator = book.values.makeAsyncIterator()
    #expect(await iterator.next()?.likes == 0)
    let layer = like(1)
    #expect(await iterator.next()?.likes == 1)
    layer.rollBack()
    #expect(await iterator.next()?.likes == 0)
  }

  @Test("Who observes what a layer made keeps its last value when the layer goes, and follows it when it comes back")
  func madeByLayer() {
    let log = Log<LayerBook?>()
    let waiting = store.observer(LayerBook.self, id: 1).observe { log.append($0) }
    let layer = store.optimistically { tx in tx.store(LayerBook(id: 1, likes: 1)) }
    let found = store.find(LayerBook.self, id: 1)
    #expect(found?.value.likes == 1)
    layer.rollBack()
    #expect(log.values == [nil, LayerBook(id: 1, likes: 1), nil])
    #expect(found?.value.likes == 1)
    #expect(found?.isRemoved == true)
    store.store(LayerBook(id: 1, likes: 2))
    #expect(found?.value.likes == 2)
    #expect(log.last == LayerBook(id: 1, likes: 2))
    waiting.unsubscribe()
    #expect(store._checkInvariants() == [])
  }

  @Test("An entity that a layer hides is shown to whoever stores it, also with the value that it has below")
  func storedWhileHidden() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let shelf = store.store(LayerShelf(id: 1, books: [LayerBook(id: 1)]))
    let layer = store.optimistically { tx in tx.update(LayerShelf.self, id: 1) { $0.books = [] } }
    #expect(store.value(LayerBook.self, id: 1) == nil)
    let book = store.store(LayerBook(id: 1))
    #expect(!book.isRemoved && store.value(LayerBook.self, id: 1) == LayerBook(id: 1))
    #expect(store.count(LayerBook.self) == 1 && shelf.value.books.isEmpty)
    layer.rollBack()
    #expect(shelf.value.books == [LayerBook(id: 1)])
    #expect(store._checkInvariants() == [])
  }

  @Test("A callback may make and end layers")
  func inCallbacks() {
    let book = store.store(LayerBook(id: 1))
    let log = Log<Int>()
    let layers = Log<OptimisticLayer>()
    let subscription = book.observe { [store] book in
      log.append(book.likes)
      if layers.count == 0, book.likes == 1 {
        layers.append(store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes += 10 } })
      } else if book.likes == 11 {
        layers.last?.rollBack()
      }
    }
    store.update(LayerBook.self, id: 1) { $0.likes = 1 }
    #expect(log.values == [0, 1, 11, 1])
    subscription.unsubscribe()
    #expect(layers.values.map(\.state.isPending) == [false])
    #expect(store._checkInvariants() == [])
  }
}
