import Concord
import Dispatch
import Observation
import Testing

@Suite("Observable objects")
struct ObservedTests {
  let store = EntityStore(delivery: .immediate)

  @Test("An observed value is current, and keeps the entity alive")
  func value() {
    var observed: ObservedValue<Book>? = store.store(Book(id: "a", title: "1")).observed
    #expect(observed?.value.title == "1")
    store.update(Book.self, id: "a") { $0.title = "2" }
    #expect(observed?.value.title == "2")
    observed = nil
    #expect(store.find(Book.self, id: "a") == nil)
  }

  @Test("Who read it is told once, when the value changed, and can read the new one")
  func tracking() {
    let observed = store.store(Book(id: "a", title: "1")).observed
    let told = Received<String>()
    withObservationTracking {
      _ = observed.value
    } onChange: {
      told.append(observed.value.title)
    }
    store.update(Book.self, id: "a") { $0.title = "1" }
    store.store(Book(id: "b", title: "other"))
    #expect(told.all == [])
    store.update(Book.self, id: "a") { $0.title = "2" }
    store.update(Book.self, id: "a") { $0.title = "3" }
    #expect(told.all == ["2"])
  }

  @Test("A change and its undoing in one transaction tells nobody")
  func transaction() {
    let observed = store.store(Book(id: "a", title: "1")).observed
    let told = Received<Void>()
    withObservationTracking {
      _ = observed.value
    } onChange: {
      told.append(())
    }
    store.transaction { store in
      store.update(Book.self, id: "a") { $0.title = "2" }
      store.update(Book.self, id: "a") { $0.title = "1" }
    }
    #expect(told.all.isEmpty)
  }

  @Test("An aggregate tells of what changed in it")
  func aggregate() {
    let observed = store.store(AuthorBooks(author: Author(id: 1, name: "Ada"), books: [Book(id: "a", title: "1")]))
      .observed
    let told = Received<Void>()
    withObservationTracking {
      _ = observed.value
    } onChange: {
      told.append(())
    }
    store.update(Book.self, id: "a") { $0.title = "2" }
    #expect(told.all.count == 1)
    #expect(observed.value.books[0].title == "2")
  }

  @Test("Observed in the transaction that stores the entity, it has what was committed")
  func unborn() {
    let observed = store.transaction { store in
      let observed = store.store(Book(id: "a", title: "1")).observed
      store.update(Book.self, id: "a") { $0.title = "2" }
      return observed
    }
    #expect(observed.value.title == "2")
  }

  @Test("With a store on the main queue it changes on the main actor")
  @MainActor
  func mainActor() async {
    let store = EntityStore()
    let observed = store.store(Book(id: "a", title: "1")).observed
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = observed.value
      } onChange: {
        MainActor.assumeIsolated { continuation.resume() }
      }
      Task.detached { store.update(Book.self, id: "a") { $0.title = "2" } }
    }
    #expect(observed.value.title == "2")
  }

  @Test("Read on the main actor after a write there it shows that write, before the main queue's turn")
  @MainActor
  func readAfterWriting() async {
    let store = EntityStore()
    let observed = store.store(Book(id: "a", title: "1")).observed
    let told = Received<String>()
    withObservationTracking {
      _ = observed.value
    } onChange: {
      told.append(observed.value.title)
    }
    store.update(Book.self, id: "a") { $0.title = "2" }
    #expect(observed.value.title == "2")
    #expect(told.all == [])
    await store.settled()
    #expect(told.all == ["2"])
    store.remove(Book.self, id: "a")
    #expect(observed.value.title == "2")
  }

  @Test("Read and changed by many threads, it ends with the last value, and nobody misses it")
  func threads() async {
    let observed = store.store(Book(id: "a", title: "0")).observed
    let store = store
    let follower = Follower(observed)
    follower.follow()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<100 { store.update(Book.self, id: "a") { $0.title = "\((Int($0.title) ?? 0) + 1)" } }
    }
    await store.settled()
    #expect(observed.value.title == "400")
    #expect(follower.seen.all.contains("400"))
  }
}

private final class Follower: Sendable {
  let observed: ObservedValue<Book>
  let seen = Received<String>()

  init(_ observed: ObservedValue<Book>) {
    self.observed = observed
  }

  func follow() {
    let title = withObservationTracking {
      observed.value.title
    } onChange: {
      self.follow()
    }
    seen.append(title)
  }
}
