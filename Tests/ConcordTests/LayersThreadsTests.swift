import Concord
import Dispatch
import Testing

@Suite("Optimistic layers from many threads")
struct LayersThreadsTests {
  @Test("Threads that write, make layers, end them and read agree in the end")
  func threads() {
    let store = EntityStore(delivery: .immediate)
    let books = (0..<4).map { store.store(LayerBook(id: $0)) }
    let rounds = TestOptions.isLong ? 2000 : 300
    let committed = Counter()
    let written = Counter()
    DispatchQueue.concurrentPerform(iterations: 6) { thread in
      var random = SeededGenerator(seed: UInt64(thread))
      for _ in 0..<rounds {
        let id = random.below(4)
        switch thread {
        case 0, 1:
          if store.update(LayerBook.self, id: id, update: { $0.likes += 1 }) { written.increment() }
        case 2, 3:
          let layer = store.optimistically { tx in tx.update(LayerBook.self, id: id) { $0.likes += 1 } }
          if random.chance(50) { layer.rollBack() } else if layer.commit() { committed.increment() }
        case 4:
          try? store.transaction { tx in
            tx.update(LayerBook.self, id: id) { $0.likes += 1 }
            let layer = tx.optimistically { tx in tx.update(LayerBook.self, id: id) { $0.likes += 1 } }
            if random.chance(30) { throw Refused() }
            layer.rollBack()
            written.increment()
          }
        default:
          let shown = store.all(LayerBook.self)
          if shown.count != 4 || shown.contains(where: { $0.likes < 0 }) { Issue.record("\(shown)") }
        }
      }
    }
    #expect(books.map(\.value.likes).reduce(0, +) == written.value + committed.value)
    #expect(store._checkInvariants() == [])
  }

  @Test("Other threads never see the base while layers are taken off it")
  func wholeStates() async {
    let store = EntityStore(delivery: .immediate)
    let book = store.store(LayerBook(id: 1))
    let layer = store.optimistically { tx in tx.update(LayerBook.self, id: 1) { $0.likes = 1000 - ($0.likes % 1000) } }
    let isOver = Kept<Bool>()
    async let reader: Int = {
      var seen = 0
      while isOver.value == nil {
        let likes = store.value(LayerBook.self, id: 1)?.likes ?? 0
        // The base has fewer.
        if likes < 500 { Issue.record("\(likes)") }
        seen += 1
        await Task.yield()
      }
      return seen
    }()
    for index in 0..<300 {
      store.transaction { tx in
        tx.update(LayerBook.self, id: 1) { $0.likes = index }
        tx.store(LayerBook(id: 2))
      }
    }
    isOver.value = true
    #expect(await reader >= 0)
    layer.rollBack()
    #expect(book.value.likes == 299)
  }

  @Test("Who waits for a layer to end goes on, also if the task is cancelled")
  func waiting() async {
    let store = EntityStore(delivery: .immediate)
    let layer = store.optimistically { tx in tx.store(LayerBook(id: 1)) }
    let cancelled = Task { await layer.ended() }
    cancelled.cancel()
    #expect(await cancelled.value.isPending)
    let waiting = Task { await layer.ended() }
    layer.rollBack()
    #expect("\(await waiting.value)" == "rolledBack")
    #expect("\(await layer.ended())" == "rolledBack")
  }
}
