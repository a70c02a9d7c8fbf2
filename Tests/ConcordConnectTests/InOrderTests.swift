import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("In order")
struct InOrderTests {
  private let failure = ScriptedTransport.Step.fail(TransportError.timedOut)

  @Test("Actions of one entity are sent in order, each after the answer to the one before")
  func order() async throws {
    let transport = ScriptedTransport([failure, .loseAnswer(TransportError.timedOut), .pass, failure])
    let policy = OutboxPolicy(backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(2)))
    try await withOutbox(.memory, transport, policy: policy) { connect in
      for note in ["a", "b", "c"] { try await connect.forward(Raise(book: 1, note: note)) }
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "a", "a", "b", "b", "c"])
      // The same key however often it is sent, and another one for each.
      #expect(Set(transport.keys).count == 3 && transport.keys[0] == transport.keys[2])
      #expect(try connect.kept(1)?.title == "abc")
    }
  }

  @Test("At least one is sent at a time, whatever the policy says")
  func atLeastOne() async throws {
    try await withOutbox(.memory, ScriptedTransport()) { connect in
      connect.outbox.policy.maximumConcurrentSends = 0
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { connect.outbox.pending.isEmpty })
    }
  }

  @Test("Entities do not wait for each other; so many are sent at a time as the policy says")
  func parallel() async throws {
    let transport = ScriptedTransport(Array(repeating: .wait, count: 9))
    try await withOutbox(.memory, transport, policy: OutboxPolicy(maximumConcurrentSends: 4)) { connect in
      for book in 1...9 { try await connect.forward(Raise(book: book, note: "a")) }
      #expect(try await eventually { transport.waiting == 4 })
      // Each is marked before it is sent.
      #expect(connect.outbox.pending.filter(\.isSending).count == 4)
      while !connect.outbox.pending.isEmpty {
        transport.release()
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(try connect.stored(Book.self).allSatisfy { $0.price == 1 })
    }
  }

  @Test("Unless something else is said, six are sent at a time")
  func six() async throws {
    let transport = ScriptedTransport(Array(repeating: .wait, count: 9))
    try await withOutbox(.memory, transport) { connect in
      for book in 1...9 { try await connect.forward(Raise(book: book, note: "a")) }
      #expect(try await eventually { transport.waiting == 6 })
      #expect(connect.outbox.pending.map(\.isSending) == (1...9).map { $0 <= 6 })
    }
  }

  @Test("What was answered is stored before the next one of its entity is sent", arguments: StoreKind.allCases)
  func storedBefore(_ kind: StoreKind) async throws {
    let (held, prices) = (Locked<TestConnect?>(nil), Log<Double?>())
    let transport = ScriptedTransport { _ in
      prices.add(try held.withLock { $0 }?.kept(1)?.price)
      return TransportResponse(status: 204)
    }
    try await withOutbox(kind, transport) { connect in
      held.withLock { $0 = connect }
      for note in ["a", "b", "c"] { try await connect.forward(Raise(book: 1, note: note)) }
      await connect.outbox.idle()
      #expect(prices.entries == [0, 1, 2])
      held.withLock { $0 = nil }
    }
  }

  @Test("Actions of different types keep their order; entities of different types with one id do not wait")
  func types() async throws {
    let transport = ScriptedTransport([.wait, .wait])
    try await withOutbox(.memory, transport) { connect in
      try await connect.forward(AddBook(book: Book(id: 10, title: "new")))
      try await connect.forward(Raise(book: 10, note: "a"))
      try await connect.forward(NameAuthor(author: 10))
      #expect(try await eventually { transport.waiting == 2 })
      #expect(connect.outbox.pending.map(\.isSending) == [true, false, true])
      transport.release()
      await connect.outbox.idle()
      #expect(try connect.kept(10)?.title == "newa")
    }
  }

  @Test("An action does not keep its order with what it touches besides")
  func touches() async throws {
    let transport = ScriptedTransport([.wait, .wait])
    try await withOutbox(.memory, transport) { connect in
      try await connect.forward(RemoveBook(book: 2, counter: 3))
      try await connect.forward(Raise(book: 3, note: "a"))
      #expect(try await eventually { transport.waiting == 2 })
      #expect(connect.outbox.pending.map(\.isSending) == [true, true])
    }
  }

  @Test("Entities take turns")
  func turns() async throws {
    let transport = ScriptedTransport()
    try await withOutbox(.memory, transport, policy: OutboxPolicy(maximumConcurrentSends: 1)) { connect in
      connect.suspended = true
      for note in ["a", "b", "c"] { try await connect.forward(Raise(book: 1, note: note)) }
      try await connect.forward(Raise(book: 2, note: "x"))
      connect.suspended = false
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "x", "b", "c"])
    }
  }

  @Test("What several tasks forward at once is shown and sent in one order", arguments: StoreKind.allCases)
  func manyTasks(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport()
    try await withOutbox(kind, transport) { connect in
      connect.suspended = true
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<30 {
          group.addTask { try await connect.forward(Raise(book: 1, note: "\(number),")) }
        }
        try await group.waitForAll()
      }
      let pending = connect.outbox.pending
      let order = pending.compactMap { ($0.action as? Raise)?.note }
      #expect(order.count == 30)
      #expect(try connect.shown(1)?.title == order.joined())
      connect.suspended = false
      await connect.outbox.idle()
      #expect(transport.keys == pending.map(\.key.rawValue))
      #expect(try connect.kept(1)?.title == order.joined())
    }
  }

  @Test("A failure holds up its own entity, and no other one")
  func failureHoldsUp() async throws {
    let clock = VirtualClock()
    let transport = ScriptedTransport([failure])
    try await withOutbox(.memory, transport, clock: clock) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      await clock.sleepers(atLeast: 1)
      try await connect.forward(Raise(book: 1, note: "b"))
      try await connect.forward(Raise(book: 2, note: "x"))
      #expect(try await eventually { connect.outbox.pending.count == 2 })
      #expect(transport.bodies == ["a", "x"])
      clock.advanceToNextSleeper()
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "x", "a", "b"])
    }
  }
}

/// Names an author.
private struct NameAuthor: ForwardAction {
  var author: Int
  static let name = "name-author"
  var entity: AnyEntityReference { .init(Author.self, id: author) }
  func apply(to store: EntityStore) throws { store.store(Author(id: author, name: "Jane Austen")) }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("PUT", "/authors/\(author)")).successful()
  }
}
