import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The outbox")
struct OutboxTests {
  private let refusal = ScriptedTransport.Step.answer(TransportResponse(status: 422, body: Data("sold out".utf8)))
  private let failure = ScriptedTransport.Step.fail(TransportError.unreachable(reason: "no network"))

  @Test(
    "A change is shown when `forward` returns, and not stored before the service has accepted",
    arguments: StoreKind.allCases)
  func shown(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(kind, transport) { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      let entry = try await connect.forward(Raise(book: 1, note: "a"))
      #expect(book.value.price == 1 && book.value.title == "a")
      #expect(try connect.kept(1)?.price == 0)
      #expect(try await eventually { transport.waiting == 1 })
      #expect(connect.outbox.pending.map(\.key) == [entry.key] && connect.outbox.pending[0].isSending)
      #expect(connect.outbox.pending[0].action as? Raise == Raise(book: 1, note: "a"))
      transport.release()
      await connect.outbox.idle()
      #expect(book.value.price == 1 && book.value.title == "a")
      #expect(try connect.kept(1)?.price == 1)
      #expect(connect.outbox.pending.isEmpty)
      #expect(transport.keys == [entry.key.rawValue])
    }
  }

  @Test(
    "No observer sees a change twice, or not at all, while it is accepted",
    arguments: StoreKind.allCases)
  func seamless(_ kind: StoreKind) async throws {
    try await withOutbox(kind) { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      let seen = Log<Double>()
      let subscription = book.map(\.price).observe(buffering: .every) { seen.add($0) }
      for note in 1...20 { try await connect.forward(Raise(book: 1, note: "\(note),")) }
      await connect.outbox.idle()
      try await connect.settled()
      #expect(seen.entries == (0...20).map(Double.init))
      withExtendedLifetime(subscription) {}
    }
  }

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

  @Test("Entities do not wait for each other; so many are sent at a time as the policy says")
  func parallel() async throws {
    let transport = ScriptedTransport(Array(repeating: .wait, count: 9))
    try await withOutbox(.memory, transport, policy: OutboxPolicy(maximumConcurrentSends: 4)) { connect in
      for book in 1...9 { try await connect.forward(Raise(book: book, note: "a")) }
      #expect(try await eventually { transport.waiting == 4 })
      try await Task.sleep(for: .milliseconds(50))
      #expect(transport.requests.count == 4)
      while !connect.outbox.pending.isEmpty {
        transport.release()
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(try connect.stored(Book.self).allSatisfy { $0.price == 1 })
    }
  }

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

  @Test("Server data that arrives meanwhile goes under what is pending")
  func underneath() async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(.memory, transport) { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      try await connect.forward(Raise(book: 1, note: "a"))
      try connect.store([Book(id: 1, title: "Emma ", price: 10)])
      #expect(try await eventually { book.value.title == "Emma a" && book.value.price == 11 })
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "Emma a")
      #expect(book.value.title == "Emma a" && book.value.price == 11)
    }
  }

  @Test(
    "What an action makes, and what it removes and changes besides, is shown and stored",
    arguments: StoreKind.allCases)
  func makesAndRemoves(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait, .wait])
    try await withOutbox(kind, transport) { connect in
      let (made, removed) = (
        connect.viewContext.store.observer(Book.self, id: 10), connect.viewContext.store.observer(Book.self, id: 2)
      )
      _ = try connect.viewContext.find(Book.self, id: 2)
      try await connect.forward(AddBook(book: Book(id: 10, title: "new")))
      try await connect.forward(RemoveBook(book: 2, counter: 3))
      #expect(made.value?.title == "new" && removed.value == nil)
      #expect(try connect.shown(3)?.shelf == 1)
      #expect(try connect.stored(Book.self).count == 9 && connect.kept(3)?.shelf == 0)
      #expect(try await eventually { transport.waiting == 2 })
      transport.release()
      await connect.outbox.idle()
      #expect(made.value?.title == "new" && removed.value == nil)
      #expect(try connect.kept(10)?.title == "new" && connect.kept(2) == nil && connect.kept(3)?.shelf == 1)
    }
  }

  @Test("An action that does not apply is refused by `forward`, and leaves nothing behind")
  func doesNotApply() async throws {
    try await withOutbox { connect in
      await #expect(throws: Failure(text: "it does not apply")) { try await connect.forward(Impossible()) }
      #expect(connect.outbox.pending.isEmpty)
    }
  }

  @Test("Forwarding needs a store, started or not")
  func needsStore() async throws {
    let connect = TestConnect(name: "Library", model: try libraryModel())
    await #expect(throws: Errors.self) { try await connect.forward(Raise(book: 1, note: "a")) }
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.forward(Raise(book: 1, note: "a"))
    #expect(connect.outbox.pending.count == 1 && !connect.outbox.isSender)
  }

  @Test(
    "Signing out forgets all, and an answer that comes late changes nothing",
    arguments: StoreKind.allCases)
  func clear(_ kind: StoreKind) async throws {
    let gate = Gate()
    // Answers also who does not wait any longer.
    let transport = ScriptedTransport([.pass, refusal]) { _ in
      await gate.passed()
      return TransportResponse(status: 204)
    }
    try await withOutbox(kind, transport) { connect in
      let events = collect(connect.outbox)
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { transport.requests.count == 1 })
      try await connect.forward(Raise(book: 2, note: "b"))
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      try await connect.outbox.clear()
      #expect(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.isEmpty)
      #expect(try connect.shown(1)?.price == 0)
      gate.open()
      await connect.outbox.idle()
      #expect(try connect.shown(1)?.price == 0 && connect.kept(1)?.price == 0)
      #expect(try await eventually { events.entries.last == "cleared" })
      // What comes afterwards is another user's.
      try await connect.forward(Raise(book: 1, note: "c"))
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "c")
    }
  }

  @Test("Nothing is sent while the connect is suspended, the network is away, or no transport is set")
  func rests() async throws {
    let (transport, network) = (ScriptedTransport(), ReachabilitySwitch())
    try await withOutbox(.memory, transport, network: network) { connect in
      func expectRest(_ note: String) async throws {
        try await connect.forward(Raise(book: 1, note: note))
        try await Task.sleep(for: .milliseconds(30))
        #expect(connect.outbox.pending.count == 1 && transport.requests.isEmpty)
      }
      connect.suspended = true
      try await expectRest("a")
      network.isReachable = false
      try await Task.sleep(for: .milliseconds(30))
      connect.suspended = false
      try await Task.sleep(for: .milliseconds(30))
      #expect(transport.requests.isEmpty)
      connect.outbox.transport = nil
      network.isReachable = true
      try await Task.sleep(for: .milliseconds(30))
      #expect(transport.requests.isEmpty)
      connect.outbox.transport = transport
      await connect.outbox.idle()
      #expect(transport.bodies == ["a"])
    }
  }

  @Test("An action that is being sent cannot stop its connect and wait for that")
  func stopFromSend() async throws {
    let log = Log<String>()
    let held = Locked<TestConnect?>(nil)
    let transport = ScriptedTransport { _ in
      do { try await held.withLock { $0 }?.stop() } catch { log.add("\(error is Errors)") }
      return TransportResponse(status: 200)
    }
    try await withOutbox(.memory, transport) { connect in
      held.withLock { $0 = connect }
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(log.entries == ["true"])
      held.withLock { $0 = nil }
    }
  }
}
