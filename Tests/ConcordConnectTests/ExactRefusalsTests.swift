import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

#if Persistence
  import GRDB
#endif

@Suite("Exact refusals")
struct ExactRefusalsTests {
  private let refusal = ScriptedTransport.Step.answer(TransportResponse(status: 422, body: Data("sold out".utf8)))
  private let failure = ScriptedTransport.Step.fail(TransportError.unreachable(reason: "no network"))

  @Test(
    "A refusal takes the change back exactly, becomes a dead letter, and says so",
    arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([refusal])
    try await withOutbox(kind, transport) { connect in
      let events = collect(connect.outbox)
      let before = try connect.shown(1)
      let entry = try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(try connect.shown(1) == before)
      #expect(try connect.kept(1) == before)
      let letter = try #require(connect.outbox.deadLetters.first)
      #expect(letter.key == entry.key && letter.reason == "the service answered 422: sold out")
      #expect(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.count == 1)
      #expect(try await eventually { events.entries == ["forwarded", "sending", "refused"] })
    }
  }

  @Test("Statuses that are refusals, and those that are tried again")
  func statuses() {
    func outcome(_ status: Int) -> String {
      let error = TransportError.status(status, excerpt: "", retryAfter: .seconds(3))
      switch OutboxOutcome(.failure(error), isCancelled: false) {
      case .refused: return "refused"
      case .failed(_, let retryAfter): return retryAfter == .seconds(3) ? "failed" : "failed at once"
      default: return "?"
      }
    }
    for status in 400..<500 {
      #expect(outcome(status) == ([408, 425, 429].contains(status) ? "failed" : "refused"), "\(status)")
    }
    for status in [100, 304, 500, 502, 503, 504] { #expect(outcome(status) == "failed", "\(status)") }
    for error in [TransportError.timedOut, .unreachable(reason: ""), .tooLarge(limit: 1), .redirected(to: "x")] {
      guard case .failed = OutboxOutcome(.failure(error), isCancelled: false) else {
        Issue.record("\(error)")
        continue
      }
    }
    for error in [TransportError.invalidRequest("x"), NonRetriableError("no")] as [any Error] {
      guard case .refused = OutboxOutcome(.failure(error), isCancelled: false) else {
        Issue.record("\(error)")
        continue
      }
    }
  }

  @Test("`NonRetriable` errors are refusals")
  func nonRetriable() async throws {
    let transport = ScriptedTransport([.fail(NonRetriableError("the account is closed"))])
    try await withOutbox(.memory, transport) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(connect.outbox.deadLetters.map(\.reason) == ["the account is closed"])
    }
  }

  @Test("An action that fails too often, where the policy says how often that is, becomes a dead letter")
  func tooOften() async throws {
    let transport = ScriptedTransport(Array(repeating: failure, count: 10))
    let policy = OutboxPolicy(backoff: Backoff(base: .zero), maximumAttempts: 3)
    try await withOutbox(.memory, transport, policy: policy) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(connect.outbox.deadLetters.count == 1 && transport.requests.count == 3)
    }
  }

  @Test("Later actions of an entity wait behind a dead letter, shown, until it is dropped; others go on")
  func hold() async throws {
    let transport = ScriptedTransport([refusal])
    try await withOutbox(.memory, transport) { connect in
      for note in ["a", "b"] { try await connect.forward(Raise(book: 1, note: note)) }
      // The refusal is the answer to the first.
      await connect.outbox.idle()
      try await connect.forward(Raise(book: 2, note: "x"))
      await connect.outbox.idle()
      #expect(connect.outbox.pending.count == 1 && transport.bodies.sorted() == ["a", "x"])
      #expect(try connect.shown(1)?.title == "b")
      #expect(try connect.kept(1)?.title == "")
      let letter = try #require(connect.outbox.deadLetters.first)
      #expect(connect.outbox.drop(letter))
      #expect(!connect.outbox.drop(letter) && !connect.outbox.retry(letter))
      await connect.outbox.idle()
      #expect(transport.bodies.last == "b" && connect.outbox.deadLetters.isEmpty)
      #expect(try connect.kept(1)?.title == "b")
    }
  }

  @Test("Later actions of an entity are sent past a dead letter if the policy says so")
  func goOn() async throws {
    let transport = ScriptedTransport([refusal])
    try await withOutbox(.memory, transport, policy: OutboxPolicy(dependents: .goOn)) { connect in
      for note in ["a", "b"] { try await connect.forward(Raise(book: 1, note: note)) }
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "b"] && connect.outbox.pending.isEmpty)
      #expect(try connect.kept(1)?.title == "b")
      #expect(connect.outbox.deadLetters.count == 1)
    }
  }

  @Test(
    "A dead letter that is tried again is sent with its key and shown at its old place",
    arguments: StoreKind.allCases)
  func retry(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([refusal])
    try await withOutbox(kind, transport) { connect in
      for note in ["a", "b"] { try await connect.forward(Raise(book: 1, note: note)) }
      await connect.outbox.idle()
      let letter = try #require(connect.outbox.deadLetters.first)
      transport.play(.wait)
      #expect(connect.outbox.retry(letter))
      #expect(try await eventually { try connect.shown(1)?.title == "ab" })
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "a", "b"] && transport.keys[0] == transport.keys[1])
      #expect(try connect.kept(1)?.title == "ab")
    }
  }

  @Test("What was sent past a dead letter comes before it when it is tried again")
  func retryAfterGoingOn() async throws {
    let transport = ScriptedTransport([refusal])
    try await withOutbox(.memory, transport, policy: OutboxPolicy(dependents: .goOn)) { connect in
      for note in ["a", "b"] { try await connect.forward(Raise(book: 1, note: note)) }
      await connect.outbox.idle()
      connect.outbox.retry(try #require(connect.outbox.deadLetters.first))
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "b", "a"])
      #expect(try connect.kept(1)?.title == "ba")
    }
  }

  @Test("What becomes of a dead letter is told")
  func told() async throws {
    let transport = ScriptedTransport([refusal, refusal])
    try await withOutbox(.memory, transport) { connect in
      let events = collect(connect.outbox)
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      connect.outbox.retry(try #require(connect.outbox.deadLetters.first))
      await connect.outbox.idle()
      connect.outbox.drop(try #require(connect.outbox.deadLetters.first))
      let all = ["forwarded", "sending", "refused", "retried", "sending", "refused", "dropped"]
      #expect(try await eventually { events.entries == all })
    }
  }

  @Test("What makes no sense without the refused one is shown no longer, and waits")
  func dependsOnRefused() async throws {
    let transport = ScriptedTransport([refusal])
    try await withOutbox(.memory, transport) { connect in
      let book = connect.viewContext.store.observer(Book.self, id: 10)
      connect.suspended = true
      try await connect.forward(AddBook(book: Book(id: 10, title: "new ")))
      try await connect.forward(Raise(book: 10, note: "a"))
      #expect(book.value?.title == "new a")
      connect.suspended = false
      await connect.outbox.idle()
      #expect(book.value == nil && connect.outbox.pending.count == 1 && transport.requests.count == 1)
      connect.outbox.retry(try #require(connect.outbox.deadLetters.first))
      await connect.outbox.idle()
      #expect(try book.value?.title == "new a" && connect.kept(10)?.title == "new a")
    }
  }

  #if Persistence
    @Test("Dead letters survive a restart, and are not shown")
    func deadLetters() async throws {
      try await withFolder { folder in
        try await withOutbox(.sqlite, ScriptedTransport([refusal]), in: folder) { connect in
          try await connect.forward(Raise(book: 1, note: "a"))
          await connect.outbox.idle()
        }
        let transport = ScriptedTransport()
        try await withOutbox(.sqlite, transport, in: folder) { connect in
          #expect(connect.outbox.deadLetters.map(\.reason) == ["the service answered 422: sold out"])
          #expect(try connect.shown(1)?.title == "")
          connect.outbox.retry(try #require(connect.outbox.deadLetters.first))
          await connect.outbox.idle()
          #expect(try connect.kept(1)?.title == "a")
        }
      }
    }

    @Test("A refusal that cannot be written leaves the action pending, and it is sent again")
    func failingWrite() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport([.wait]) { _ in TransportResponse(status: 422) }
        let connect = TestConnect(
          name: "Library", model: try libraryModel(), asyncErrorBlock: { _ in }, transport: transport,
          forwarding: [Raise.self], outboxPolicy: OutboxPolicy(backoff: Backoff(base: .milliseconds(1))))
        try connect.attachPersistentStore(
          at: folder, for: StoreConfiguration(options: [ConcordBusyTimeoutOption: 0.05]))
        try connect.store([Book(id: 1, title: "")])
        try await connect.start()
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { transport.waiting == 1 })
        let other = try outboxFile(folder)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        transport.release()
        #expect(try await eventually { transport.requests.count >= 2 })
        #expect(connect.outbox.deadLetters.isEmpty && connect.outbox.pending.count == 1)
        #expect(try connect.shown(1)?.title == "a")
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        await connect.outbox.idle()
        #expect(connect.outbox.deadLetters.count == 1 && Set(transport.keys).count == 1)
        #expect(try connect.shown(1)?.title == "")
        try await connect.stop()
      }
    }
  #endif
}
