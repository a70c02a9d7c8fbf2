import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

#if Persistence
  import GRDB
#endif

@Suite("Once")
struct OnceTests {
  @Test("However often it comes to a service that remembers keys, it is applied once, and stored once")
  func remembersKeys() async throws {
    let (seen, applied) = (Locked<Set<String?>>([]), Log<String?>())
    let steps: [ScriptedTransport.Step] = [
      .loseAnswer(TransportError.timedOut), .fail(TransportError.timedOut),
      .loseAnswer(TransportError.unreachable(reason: "reset")), .answer(TransportResponse(status: 503)),
    ]
    let transport = ScriptedTransport(steps) { request in
      let key = request.headers["Idempotency-Key"]
      if seen.withLock({ $0.insert(key).inserted }) { applied.add(key) }
      return TransportResponse(status: 204)
    }
    try await withOutbox(.memory, transport, policy: OutboxPolicy(backoff: Backoff(base: .zero))) { connect in
      let entry = try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(transport.keys == Array(repeating: entry.key.rawValue, count: 5))
      #expect(applied.entries == [entry.key.rawValue])
      #expect(try connect.kept(1)?.price == 1)
    }
  }

  @Test("The same action, forwarded twice, is two")
  func twice() async throws {
    let transport = ScriptedTransport()
    try await withOutbox(.memory, transport) { connect in
      let keys = [
        try await connect.forward(Raise(book: 1, note: "a")).key,
        try await connect.forward(Raise(book: 1, note: "a")).key,
      ]
      await connect.outbox.idle()
      #expect(Set(keys).count == 2 && transport.keys == keys.map(\.rawValue))
      #expect(try connect.kept(1)?.title == "aa")
    }
  }

  @Test("What the service has accepted and what does not apply here any longer is told, and not sent again")
  func notApplied() async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(.memory, transport) { connect in
      let events = collect(connect.outbox)
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { transport.waiting == 1 })
      try await connect.forward(Raise(book: 1, note: "b"))
      let context = connect.newBackgroundContext()
      try context.delete(Book.self, id: 1)
      try context.save()
      transport.release()
      await connect.outbox.idle()
      #expect(try connect.kept(1) == nil && connect.outbox.pending.isEmpty && transport.bodies == ["a", "b"])
      #expect(
        try await eventually {
          events.entries == [
            "forwarded", "sending", "forwarded", "notApplied", "accepted", "sending", "notApplied", "accepted",
          ]
        })
    }
  }

  #if Persistence
    @Test("A stop cancels what is being sent, which is sent with the same key after the next start")
    func stop() async throws {
      try await withFolder { folder in
        let hanging = HangingTransport()
        let connect = try resting(folder, transport: hanging)
        try await connect.start()
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { hanging.keys.entries.count == 1 })
        try await connect.stop()
        #expect(connect.outbox.pending.isEmpty)
        let transport = ScriptedTransport()
        connect.outbox.transport = transport
        try await connect.start()
        await connect.outbox.idle()
        #expect(transport.keys == hanging.keys.entries)
        try await connect.stop()
      }
    }

    @Test("A refusal that comes while the connect stops counts, and any other failure does not")
    func refusalInStop() async throws {
      for status in [409, 503] {
        let gate = Gate()
        let transport = ScriptedTransport { _ in
          await withTaskCancellationHandler {
            await gate.passed()
          } onCancel: {
            gate.open()
          }
          return TransportResponse(status: status)
        }
        try await withFolder { folder in
          let connect = try resting(folder, transport: transport)
          try connect.store([Book(id: 1, title: "")])
          try await connect.start()
          try await connect.forward(Raise(book: 1, note: "a"))
          #expect(try await eventually { transport.requests.count == 1 })
          try await connect.stop()
          let after = try resting(folder)
          #expect(after.outbox.deadLetters.map(\.reason) == (status == 409 ? ["the service answered 409"] : []))
          #expect(after.outbox.pending.count == (status == 409 ? 0 : 1))
        }
      }
    }

    @Test("An answer that comes while the connect stops counts")
    func answerInStop() async throws {
      let gate = Gate()
      // Answers when it is cancelled, as if the answer had come just then.
      let transport = ScriptedTransport { _ in
        await withTaskCancellationHandler {
          await gate.passed()
        } onCancel: {
          gate.open()
        }
        return TransportResponse(status: 204)
      }
      try await withOutbox(.sqlite, transport) { connect in
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { transport.requests.count == 1 })
        try await connect.stop()
        try await connect.start()
        await connect.outbox.idle()
        #expect(transport.requests.count == 1 && connect.outbox.pending.isEmpty)
        #expect(try connect.kept(1)?.price == 1)
      }
    }

    @Test("What the service has accepted is stored with the end of its action, or neither is")
    func oneCommit() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport()
        try await withOutbox(.sqlite, transport, policy: OutboxPolicy(backoff: Backoff(base: .zero)), in: folder) {
          connect in
          let other = try outboxFile(folder)
          let seen = Log<[Double]>()
          let done = Locked(false)
          // A reader of its own, which sees committed states only.
          let reader = Task.detached {
            while !done.withLock({ $0 }) {
              let state = try await other.read { db in
                [
                  try Double.fetchOne(db, sql: "SELECT price FROM Book WHERE id = 1") ?? -1,
                  Double(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM concord_outbox WHERE state = 'sent'") ?? -1),
                ]
              }
              seen.add(state)
            }
          }
          try await connect.forward(Raise(book: 1, note: "a"))
          for note in 1..<100 { try await connect.forward(Raise(book: 1, note: "\(note)")) }
          await connect.outbox.idle()
          done.withLock { $0 = true }
          _ = await reader.result
          #expect(seen.entries.allSatisfy { $0[0] == $0[1] || $0[1] == -1 })
          #expect(try connect.kept(1)?.price == 100)
        }
      }
    }

    @Test("A failure to write leaves the action pending, and it is sent again")
    func failingWrite() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport([.wait])
        let policy = OutboxPolicy(backoff: Backoff(base: .milliseconds(1)))
        let connect = TestConnect(
          name: "Library", model: try libraryModel(), asyncErrorBlock: { _ in }, transport: transport,
          forwarding: [Raise.self], outboxPolicy: policy)
        try connect.attachPersistentStore(
          at: folder, for: StoreConfiguration(options: [ConcordBusyTimeoutOption: 0.05]))
        try connect.store([Book(id: 1, title: "")])
        try await connect.start()
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { transport.waiting == 1 })
        let other = try outboxFile(folder)
        // Holds the file while the answer comes.
        try await other.writeWithoutTransaction { db in
          try db.execute(sql: "BEGIN IMMEDIATE")
          transport.release()
          for _ in 0..<400 where transport.requests.count < 2 { usleep(5000) }
          try db.execute(sql: "COMMIT")
        }
        await connect.outbox.idle()
        #expect(transport.requests.count >= 2 && Set(transport.keys).count == 1)
        #expect(try connect.kept(1)?.price == 1 && connect.shown(1)?.price == 1)
        try await connect.stop()
      }
    }
  #endif
}
