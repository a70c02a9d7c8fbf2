import Concord
import Dispatch
import Foundation
import Testing

@Suite("What a transaction hands to other threads works, or says that it waits")
struct TransactionThreadsTests {
  private let store = EntityStore(delivery: .immediate)

  @Test("concurrentPerform in a transaction comes to an end")
  func concurrentPerform() throws {
    let store = store
    let tags = store.store((0..<8).map { Tag(id: $0, text: 0) })
    let taken = Counter()
    try #require(
      ends {
        store.transaction { tx in
          DispatchQueue.concurrentPerform(iterations: 8) { id in
            if tx.update(Tag.self, id: id, update: { $0.text = 1 }) { taken.increment() }
          }
        }
      })
    #expect(taken.value == 8)
    #expect(tags.value.map(\.text) == Array(repeating: 1, count: 8))
    #expect(store._checkInvariants() == [])
    store.update(Tag.self, id: 0) { $0.text = 2 }
    #expect(tags.value[0].text == 2)
  }

  @Test("A thread the transaction waits for reads through its store what it wrote, and else what is committed")
  func reads() throws {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let (inside, outside) = (Log<Int?>(), Log<Int?>())
    try #require(
      ends {
        store.transaction { tx in
          tx.update(Tag.self, id: 0) { $0.text = 1 }
          tx.store(Tag(id: 1, text: 1))
          let group = DispatchGroup()
          for _ in 0..<4 {
            inThread(group) {
              inside.append(tx.value(Tag.self, id: 0)?.text)
              inside.append(tx.find(Tag.self, id: 1) == nil ? nil : 1)
              outside.append(store.value(Tag.self, id: 0)?.text)
              // An observer belongs to no transaction, wherever it is from.
              outside.append(tx.find(Tag.self, id: 0)?.value.text)
            }
          }
          group.wait()
        }
      })
    #expect(inside.values == Array(repeating: 1, count: 8))
    #expect(outside.values == Array(repeating: 0, count: 8))
    #expect(tag.value.text == 1)
  }

  @Test("A queue that the transaction waits for, with the store in its hands")
  func queue() throws {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let queue = DispatchQueue(label: "work")
    try #require(
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
    #expect(tag.value.text == 3)
    #expect(store._checkInvariants() == [])
  }

  @Test("Threads that nobody waits for write when the transaction is over")
  func later() throws {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    try #require(
      ends {
        let group = DispatchGroup()
        store.transaction { tx in
          tx.update(Tag.self, id: 0) { $0.text = 1 }
          for _ in 0..<4 {
            inThread(group) { store.update(Tag.self, id: 0) { $0.text += 10 } }
          }
          tx.update(Tag.self, id: 0) { $0.text += 1 }
        }
        group.wait()
      })
    #expect(tag.value.text == 42)
  }

  @Test("A transaction ends after those that other threads have begun inside it", arguments: [false, true])
  func unawaited(throwing: Bool) throws {
    let store = store
    let tag = store.store(Tag(id: 0, text: 0))
    let texts = Log<Int>()
    try #require(
      ends {
        let group = DispatchGroup()
        let (began, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try? store.transaction { tx in
          inThread(group) {
            tx.transaction { inner in
              began.signal()
              // The body of the outer one returns meanwhile, and its end waits.
              _ = ended.wait(timeout: .now() + .milliseconds(100))
              inner.update(Tag.self, id: 0) { $0.text = 1 }
            }
          }
          began.wait()
          if throwing { throw Refused() }
        }
        texts.append(tag.value.text)
        ended.signal()
        group.wait()
        store.update(Tag.self, id: 0) { $0.text += 10 }
      })
    #expect(texts.values == [throwing ? 0 : 1])
    #expect(tag.value.text == (throwing ? 10 : 11))
    #expect(store._checkInvariants() == [])
  }
}

private final class Stalls: EntityStoreLogger {
  let log = Log<Duration>()
  private let store = Kept<EntityStore>()
  let seen = Log<Int?>()

  func follow(_ store: EntityStore) { self.store.value = store }

  func didStall(for duration: Duration) {
    // A logger may read.
    seen.append(store.value?.value(Tag.self, id: 0)?.text)
    log.append(duration)
  }

  /// Waits until so many writers have said that they wait.
  func wait(for count: Int) {
    for _ in 0..<60_000 where log.count < count { usleep(1_000) }
  }
}

/// Runs on a thread of its own, as a part of the group.
private func inThread(_ group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
  group.enter()
  Thread.detachNewThread {
    body()
    group.leave()
  }
}

@Suite("A writer that waits too long for its turn says so")
struct StallTests {
  private let stalls = Stalls()
  private let store: EntityStore

  init() {
    store = EntityStore(delivery: .immediate, logger: stalls)
    stalls.follow(store)
    store._setPatience(.milliseconds(20))
  }

  @Test("Threads that an update's closure waits for say it, once each, and go on when it ends")
  func updateClosure() throws {
    let (store, stalls) = (store, stalls)
    let tags = store.store([Tag(id: 0, text: 0), Tag(id: 1, text: 0)])
    try #require(
      ends {
        let group = DispatchGroup()
        store.update(Tag.self, id: 0) { tag in
          tag.text = 1
          for _ in 0..<4 { inThread(group) { store.update(Tag.self, id: 1) { $0.text += 1 } } }
          stalls.wait(for: 4)
          // Time enough for some to say it again.
          usleep(60_000)
        }
        group.wait()
      })
    #expect(stalls.log.count == 4)
    #expect(stalls.log.values.allSatisfy { $0 >= .milliseconds(20) })
    #expect(stalls.seen.values == [0, 0, 0, 0])
    #expect(tags.value.map(\.text) == [1, 4])
    #expect(store._checkInvariants() == [])
  }

  @Test("So does a thread that uses the plain store, while its transaction waits for it")
  func plainStore() throws {
    let (store, stalls) = (store, stalls)
    let tag = store.store(Tag(id: 0, text: 0))
    try #require(
      ends {
        let group = DispatchGroup()
        store.transaction { tx in
          tx.update(Tag.self, id: 0) { $0.text = 1 }
          inThread(group) { store.update(Tag.self, id: 0) { $0.text += 10 } }
          stalls.wait(for: 1)
        }
        group.wait()
      })
    #expect(stalls.log.count == 1)
    #expect(stalls.seen.values == [0])
    #expect(tag.value.text == 11)
  }

  @Test("So do threads that use the transaction's store, while it waits for them in the closure of an update")
  func innerClosure() throws {
    let (store, stalls) = (store, stalls)
    let tag = store.store(Tag(id: 0, text: 0))
    try #require(
      ends {
        let group = DispatchGroup()
        store.transaction { tx in
          tx.update(Tag.self, id: 0) { tag in
            tag.text = 1
            inThread(group) { tx.update(Tag.self, id: 0) { $0.text += 10 } }
            stalls.wait(for: 1)
          }
          // Its turn has come, and it is a part of the transaction.
          group.wait()
        }
      })
    #expect(stalls.log.count == 1)
    #expect(tag.value.text == 11)
  }

  @Test("The closures of two stores, nested in opposite orders, say it on both")
  func twoStores() throws {
    let other = EntityStore(delivery: .immediate, logger: stalls)
    other._setPatience(.milliseconds(20))
    let (store, stalls) = (store, stalls)
    let kept = [store, other].map { $0.store(Tag(id: 0, text: 0)) }
    try #require(
      ends {
        let group = DispatchGroup()
        let isOpen = DispatchGroup()
        for _ in 0..<2 { isOpen.enter() }
        for (outer, inner) in [(store, other), (other, store)] {
          inThread(group) {
            let within = DispatchGroup()
            outer.transaction { _ in
              isOpen.leave()
              isOpen.wait()
              // What would wait for ever waits on a thread of its own here, so that the transaction can end.
              inThread(within) { inner.update(Tag.self, id: 0) { $0.text += 1 } }
              stalls.wait(for: 2)
            }
            within.wait()
          }
        }
        group.wait()
      })
    #expect(stalls.log.count == 2)
    #expect(kept.map(\.value.text) == [1, 1])
  }

  @Test("Who has its turn in time says nothing")
  func inTime() throws {
    let (store, stalls) = (store, stalls)
    store._setPatience(.seconds(60))
    let tag = store.store(Tag(id: 0, text: 0))
    try #require(
      ends {
        let group = DispatchGroup()
        for _ in 0..<4 {
          inThread(group) {
            for _ in 0..<50 { store.transaction { $0.update(Tag.self, id: 0) { $0.text += 1 } } }
          }
        }
        group.wait()
      })
    #expect(stalls.log.count == 0)
    #expect(tag.value.text == 200)
  }

  #if os(Linux) || os(macOS)
    @Test("Without a logger a line goes to the standard error, once a store")
    func standardError() async throws {
      let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let store = EntityStore(delivery: .immediate)
        store._setPatience(.milliseconds(20))
        let tag = store.store(Tag(id: 0, text: 0))
        let group = DispatchGroup()
        for _ in 0..<2 {
          store.update(Tag.self, id: 0) { _ in
            for _ in 0..<2 { inThread(group) { store.update(Tag.self, id: 0) { $0.text += 1 } } }
            usleep(200_000)
          }
          group.wait()
        }
        exit(tag.value.text == 4 ? EXIT_SUCCESS : EXIT_FAILURE)
      }
      let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        .filter { $0.hasPrefix("Concord: ") }
      #expect(lines.count == 1)
      #expect(lines.first?.contains("waited 0.") == true)
    }
  #endif
}
