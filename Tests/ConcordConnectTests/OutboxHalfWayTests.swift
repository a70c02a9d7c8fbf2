import Concord
import ConcordPersistence
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("An outbox whose commits fail half way")
struct OutboxHalfWayTests {
  private static let refusal = ScriptedTransport.Step.answer(
    TransportResponse(status: 422, body: Data("sold out".utf8)))

  @Test("What a service has accepted is shown and stored once, however often storing it fails", arguments: 1...4)
  func accepted(_ failures: Int) async throws {
    let transport = ScriptedTransport([.wait])
    try await withHalfWayStore(transport) { connect, _, rows, _ in
      let events = collect(connect.outbox)
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { transport.waiting == 1 })
      rows.failures.withLock { $0 = failures }
      transport.release()
      await connect.outbox.idle()
      #expect(rows.failures.withLock { $0 } == 0)
      #expect(try connect.kept(1) == Book(id: 1, title: "a", price: 1))
      #expect(try connect.shown(1) == Book(id: 1, title: "a", price: 1))
      // First with others and then by itself, and only then once more, with its key.
      #expect(transport.requests.count == 1 + failures / 2 && Set(transport.keys).count == 1)
      #expect(try await eventually { events.entries.last == "accepted" })
      #expect(events.entries.count { $0 == "delayed" } == failures / 2)
      #expect(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.isEmpty)
    }
  }

  @Test("While an accepted action is not stored it is shown, and what follows it waits")
  func shownMeanwhile() async throws {
    let transport = ScriptedTransport([.pass, .wait])
    try await withHalfWayStore(transport) { connect, _, rows, _ in
      connect.suspended = true
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.forward(Raise(book: 1, note: "b"))
      rows.failures.withLock { $0 = 2 }
      connect.suspended = false
      #expect(try await eventually { transport.waiting == 1 })
      #expect(transport.bodies == ["a", "a"])
      #expect(try connect.shown(1)?.title == "ab" && connect.kept(1)?.title == "")
      transport.release()
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "a", "b"])
      #expect(try connect.kept(1) == Book(id: 1, title: "ab", price: 2))
    }
  }

  @Test("A refusal that cannot be stored is asked for again, and becomes one dead letter")
  func refused() async throws {
    let transport = ScriptedTransport([Self.refusal, Self.refusal])
    try await withHalfWayStore(transport) { connect, _, rows, _ in
      connect.suspended = true
      try await connect.forward(Raise(book: 1, note: "a"))
      rows.failures.withLock { $0 = 1 }
      connect.suspended = false
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      #expect(transport.bodies == ["a", "a"] && Set(transport.keys).count == 1)
      #expect(try connect.shown(1)?.title == "" && connect.outbox.pending.isEmpty)
    }
  }

  @Test("What cannot be forwarded is not shown, not pending and not sent")
  func notForwarded() async throws {
    let transport = ScriptedTransport()
    try await withHalfWayStore(transport) { connect, _, rows, _ in
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      rows.failures.withLock { $0 = 1 }
      await #expect(throws: StoreError.self) { try await connect.forward(Raise(book: 1, note: "b")) }
      #expect(try connect.shown(1)?.title == "a" && connect.outbox.pending.isEmpty)
      try await connect.forward(Raise(book: 1, note: "c"))
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "c"])
      #expect(try connect.kept(1) == Book(id: 1, title: "ac", price: 2))
    }
  }

  @Test("A dead letter that cannot be retried or dropped stays, and the error is reported")
  func letterStays() async throws {
    let transport = ScriptedTransport([Self.refusal])
    try await withHalfWayStore(transport) { connect, _, rows, errors in
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      let letter = try #require(connect.outbox.deadLetters.first)
      rows.failures.withLock { $0 = 2 }
      #expect(!connect.outbox.retry(letter))
      #expect(!connect.outbox.drop(letter))
      #expect(try await eventually { errors.entries.count == 2 })
      #expect(connect.outbox.deadLetters.count == 1 && transport.requests.count == 1)
      #expect(try connect.shown(1)?.title == "")
      #expect(connect.outbox.retry(letter))
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "a" && connect.outbox.deadLetters.isEmpty)
    }
  }

  @Test("An answer that finds its store detached is forgotten, and asked for again when the store is back")
  func detachedInBetween() async throws {
    let detaching = Locked<(@Sendable () -> Void)?>(nil)
    let transport = ScriptedTransport { _ in
      detaching.withLock { detach in
        defer { detach = nil }
        return detach
      }?()
      return TransportResponse(status: 204)
    }
    try await withHalfWayStore(transport) { connect, store, rows, _ in
      let coordinator = connect.persistentStoreCoordinator
      // Not by the connect, which waits for what is being sent.
      detaching.withLock { $0 = { coordinator.detach(store) } }
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { coordinator.persistentStores.isEmpty && connect.outbox.pending.isEmpty })
      #expect(try await eventually { connect.outbox.state.withLock { $0.running.isEmpty } })
      let stored = try rows.inner.read { try $0.outbox(after: nil).rows.map(\.state) }
      #expect(stored == [.pending] && transport.requests.count == 1)
      try coordinator.attach(store)
      #expect(try await eventually { transport.requests.count == 2 })
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "a"] && Set(transport.keys).count == 1)
      #expect(try connect.kept(1) == Book(id: 1, title: "a", price: 1))
      #expect(try connect.shown(1) == Book(id: 1, title: "a", price: 1))
    }
  }
}
