import Concord
import ConcordTestSupport
import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

@Suite("What services accept at once", .serialized)
struct OutboxBatchTests {
  @Test("What is accepted while the disk is busy is stored in one commit", arguments: StoreKind.allCases)
  func oneCommit(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport(Array(repeating: .wait, count: 6))
    try await withOutbox(kind, transport) { connect in
      let commits = Log<Int>()
      for book in 1...6 { try await connect.forward(Raise(book: book, note: "a")) }
      connect.persistentStoreCoordinator.settle()
      let store = try #require(connect.persistentStoreCoordinator.outboxHome).rows
      let observation = store.observeCommits { commits.add($0.keys?.count ?? -1) }
      try await endAtOnce(6, connect, transport)
      await connect.outbox.idle()
      store.settle()
      withExtendedLifetime(observation) {}
      #expect(commits.entries == [6])
      for book in 1...6 { #expect(try connect.kept(book)?.price == 1 && connect.shown(book)?.price == 1) }
    }
  }

  @Test("One that cannot be stored with others is stored without them, and told", arguments: StoreKind.allCases)
  func oneFails(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport(Array(repeating: .wait, count: 4))
    try await withOutbox(kind, transport) { connect in
      connect.outbox.register(Fickle.self)
      let told = collect(connect.outbox)
      for book in 1...3 { try await connect.forward(Raise(book: book, note: "a")) }
      try await connect.forward(Fickle(book: 4))
      Fickle.isImpossible.withLock { $0 = true }
      defer { Fickle.isImpossible.withLock { $0 = false } }
      try await endAtOnce(4, connect, transport)
      await connect.outbox.idle()
      for book in 1...3 { #expect(try connect.kept(book)?.price == 1 && connect.shown(book)?.price == 1) }
      #expect(try connect.kept(4)?.price == 0 && connect.outbox.pending.isEmpty)
      #expect(try await eventually { told.entries.count { $0 == "accepted" } == 4 })
      #expect(told.entries.count { $0 == "notApplied" } == 1)
    }
  }

  @Test(
    "What is refused beside what is accepted becomes a dead letter, and changes nothing", arguments: StoreKind.allCases)
  func mixed(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport(Array(repeating: .wait, count: 4)) { request in
      if case .path("/books/2/raises", _) = request.target { return TransportResponse(status: 422) }
      return TransportResponse(status: 204)
    }
    try await withOutbox(kind, transport) { connect in
      for book in 1...4 { try await connect.forward(Raise(book: book, note: "a")) }
      try await endAtOnce(4, connect, transport)
      await connect.outbox.idle()
      #expect(connect.outbox.deadLetters.compactMap { ($0.entry.action as? Raise)?.book } == [2])
      for book in 1...4 { #expect(try connect.kept(book)?.price == (book == 2 ? 0 : 1)) }
    }
  }

  /// Lets requests end while the queue that records what came of them is busy.
  private func endAtOnce(_ count: Int, _ connect: TestConnect, _ transport: ScriptedTransport) async throws {
    #expect(try await eventually { transport.waiting == count })
    let isFree = DispatchSemaphore(value: 0)
    connect.outbox.work.async { isFree.wait() }
    defer { isFree.signal() }
    transport.release()
    #expect(try await eventually { connect.outbox.ended.withLock { $0.count } == count })
  }
}

/// Applies until it is impossible.
private struct Fickle: ForwardAction {
  var book: Int
  static let name = "fickle"
  static let isImpossible = Locked(false)
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws {
    if Self.isImpossible.withLock({ $0 }) { throw Failure(text: "it does not apply any longer") }
    store.update(Book.self, id: book) { $0.price += 1 }
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("POST", "/fickle/\(book)")).successful()
  }
}
