import Concord
import Dispatch
import Foundation
import Testing

/// Runs on a thread of its own, and says whether it came to an end.
private func ends(_ body: @escaping @Sendable () -> Void) -> Bool {
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    body()
    done.signal()
  }
  thread.start()
  return done.wait(timeout: .now() + 20) == .success
}

@Suite("What a transaction hands to other threads works, or fails at once")
struct TransactionThreadsTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("concurrentPerform in a transaction comes to an end")
  func concurrentPerform() {
    let store = store
    let tags = store.store((0..<8).map { Tag(id: $0, text: 0) })
    let taken = Counter()
    #expect(
      ends {
        store.transaction { tx in
          DispatchQueue.concurrentPerform(iterations: 8) { id in
            if tx.update(Tag.self, id: id, update: { $0.text = 1 }) { taken.increment() }
          }
        }
      })
    // What was taken is there; what was not, is not.
    #expect(tags.value.count { $0.text == 1 } == taken.value)
    #expect(store._checkInvariants() == [])
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(tags.value[0].text == 2)
  }

  @Test("A thread the transaction waits for may read")
  func reads() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let seen = Log<Int>()
    #expect(
      ends {
        store.transaction { tx in
          tx.update(Tag.self, id: 0) { $0.text = 1 }
          DispatchQueue.concurrentPerform(iterations: 4) { _ in
            seen.append(tx.find(Tag.self, id: 0)?.value.text ?? -1)
          }
        }
      })
    // Its own thread reads its own writes; others read what was last committed.
    #expect(seen.count == 4)
    #expect(Set(seen.values).isSubset(of: [0, 1]))
    #expect(tag.value.text == 1)
  }

  @Test("So does an update's closure that hands the store to other threads")
  func updateClosure() {
    let store = store
    let tags = store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 0)])
    #expect(
      ends {
        store.update(Tag.self, id: 0) { tag in
          tag.text = 1
          DispatchQueue.concurrentPerform(iterations: 4) { _ in store.update(Tag.self, id: 1) { $0.text = 1 } }
        }
      })
    #expect(tags.value[0].text == 1)
    #expect(store._checkInvariants() == [])
  }

  @Test("A queue that the transaction waits for, with the store in its hands")
  func queue() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let queue = DispatchQueue(label: "work")
    #expect(
      ends {
        store.transaction { tx in
          tx.update(Tag.self, id: 0) { $0.text = 1 }
          // `sync` may run it on this very thread, or on another one.
          queue.sync { _ = tx.update(Tag.self, id: 0) { $0.text += 1 } }
          let group = DispatchGroup()
          queue.async(group: group) { _ = tx.update(Tag.self, id: 0) { $0.text += 1 } }
          group.wait()
        }
      })
    #expect(tag.value.text >= 2)
    #expect(store._checkInvariants() == [])
  }

  @Test("Threads that nobody waits for write when the transaction is over")
  func later() {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let group = DispatchGroup()
    store.transaction { tx in
      tx.update(Tag.self, id: 0) { $0.text = 1 }
      for _ in 0..<4 {
        DispatchQueue.global().async(group: group) { store.update(Tag.self, id: 0) { $0.text += 10 } }
      }
      tx.update(Tag.self, id: 0) { $0.text += 1 }
    }
    #expect(group.wait(timeout: .now() + 20) == .success)
    #expect(tag.value.text == 42)
  }
}
