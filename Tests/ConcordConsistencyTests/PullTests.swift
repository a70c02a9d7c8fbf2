import Concord
import ConcordConsistency
import Dispatch
import Foundation
import Testing

@Suite("Pulling never waits for good")
struct PullTests {
  let manager = ConsistencyManager()
  let store = EntityStore(delivery: .immediate)

  @Test("Within a transaction, while the owner's queue waits for the store", .timeLimit(.minutes(1)))
  func withinTransaction() {
    let queue = DispatchQueue(label: "owner")
    let owner = Owner(Author(id: 1, name: "Ada L."))
    manager.register(owner, on: queue)
    let (entered, manager, store) = (DispatchSemaphore(value: 0), manager, store)
    store.transaction { _ in
      queue.async {
        entered.signal()
        store.store(Author(id: 2, name: "waits for the transaction"), named: "second")
      }
      entered.wait()
      // The owner cannot be asked: what this thread has stays.
      #expect(manager.pullUpdatedObject(for: Author(id: 1, name: "mine")).name == "mine")
    }
    queue.sync {}
    #expect(manager.pullUpdatedObject(for: Author(id: 1, name: "mine")).name == "Ada L.")
  }

  @Test("From a queue that the owner's queue waits for", .timeLimit(.minutes(1)))
  func queues() {
    let (first, second) = (DispatchQueue(label: "first"), DispatchQueue(label: "second"))
    let owner = Owner(User("1", "Ada L."))
    manager.register(owner, on: first)
    let (manager, done) = (manager, DispatchSemaphore(value: 0))
    first.async {
      second.sync { _ = manager.pullUpdatedObject(for: User("1", "mine")) }
      done.signal()
    }
    #expect(done.wait(timeout: .now() + 30) == .success)
  }
}
