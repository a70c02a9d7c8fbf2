import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("One sender")
struct OneSenderTests {
  #if Persistence
    @Test(
      "Of two connects with one store one sends what both forward, and the other takes over when that stops",
      arguments: StoreKind.lasting)
    func oneSends(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (first, second) = (ScriptedTransport(), ScriptedTransport())
        try await withOutbox(kind, first, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(kind, second, in: folder) { b in
            try await a.forward(Raise(book: 1, note: "a"))
            try await b.forward(Raise(book: 1, note: "b"))
            try await b.forward(Raise(book: 2, note: "c"))
            #expect(try b.shown(1)?.title.hasSuffix("b") == true && b.shown(2)?.title == "c")
            await a.outbox.idle()
            #expect(try await eventually { try a.kept(1)?.title == "ab" && a.kept(2)?.title == "c" })
            #expect(first.bodies.sorted() == ["a", "b", "c"] && second.requests.isEmpty && !b.outbox.isSender)
            #expect(try await eventually { b.outbox.pending.isEmpty })
            #expect(try await eventually { try b.shown(1)?.title == "ab" && a.shown(1)?.title == "ab" })
            let time = try await timeBesidesLoad {
              try await a.stop()
              try await b.forward(Raise(book: 1, note: "d"))
              await b.outbox.idle()
            }
            #expect(second.bodies == ["d"] && time < .seconds(2))
          }
        }
      }
    }

    @Test(
      "Who takes over sends what has no answer, in the same order, with the same keys",
      arguments: StoreKind.lasting)
    func sameKeys(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (hanging, transport) = (HangingTransport(), ScriptedTransport())
        try await withOutbox(kind, in: folder) { a in
          a.outbox.transport = hanging
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(kind, transport, in: folder) { b in
            var keys: [String] = []
            for note in ["a", "b", "c"] { keys.append(try await a.forward(Raise(book: 1, note: note)).key.rawValue) }
            #expect(try await eventually { hanging.keys.entries == [keys[0]] })
            try await a.stop()
            #expect(try await eventually { b.outbox.isSender && b.outbox.pending.isEmpty })
            #expect(transport.keys == keys && transport.bodies == ["a", "b", "c"])
            #expect(try b.kept(1)?.title == "abc")
          }
        }
      }
    }

    @Test(
      "Who is suspended keeps the place, and sends what others forward when it goes on",
      arguments: StoreKind.lasting)
    func suspended(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (first, second) = (ScriptedTransport(), ScriptedTransport())
        try await withOutbox(kind, first, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          a.suspended = true
          try await withOutbox(kind, second, in: folder) { b in
            try await b.forward(Raise(book: 1, note: "b"))
            if kind == .sqlite {
              #expect(FileManager.default.fileExists(atPath: folder.appending(path: "Library.sqlite-outbox").path))
            }
            #expect(try #require(b.persistentStoreCoordinator.outboxHome).rows.holdOutbox() == nil)
            #expect(try await eventually { a.outbox.pending.count == 1 })
            a.suspended = false
            await a.outbox.idle()
            #expect(first.bodies == ["b"] && second.requests.isEmpty)
          }
        }
      }
    }

    @Test("What the sender cannot read waits for it, though who forwarded it could", arguments: StoreKind.lasting)
    func senderCannotRead(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let (first, second) = (ScriptedTransport(), ScriptedTransport())
        let a = TestConnect(name: "Library", model: try libraryModel(), transport: first)
        try a.attachPersistentStore(at: folder, for: kind.configuration(folder))
        try await a.start()
        #expect(try await eventually { a.outbox.isSender })
        try await withOutbox(kind, second, in: folder) { b in
          try await b.forward(Raise(book: 1, note: "b"))
          #expect(try await eventually { a.outbox.unknown.count == 1 })
          #expect(b.outbox.unknown.isEmpty && b.outbox.pending.count == 1 && !b.outbox.isSender)
          a.outbox.register(Raise.self)
          await a.outbox.idle()
          #expect(first.bodies == ["b"] && second.requests.isEmpty)
        }
        try await a.stop()
      }
    }

    @Test("All are told what becomes of actions, and any of them may drop a dead letter", arguments: StoreKind.lasting)
    func told(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let refusal = ScriptedTransport.Step.answer(TransportResponse(status: 422))
        try await withOutbox(kind, ScriptedTransport([.pass, refusal]), in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(kind, in: folder) { b in
            let events = collect(b.outbox)
            try await b.forward(Raise(book: 1, note: "a"))
            #expect(try await eventually { b.outbox.pending.isEmpty })
            try await b.forward(Raise(book: 1, note: "b"))
            #expect(try await eventually { b.outbox.deadLetters.count == 1 })
            b.outbox.drop(try #require(b.outbox.deadLetters.first))
            #expect(try await eventually { a.outbox.deadLetters.isEmpty && a.outbox.pending.isEmpty })
            // What is sent at once is not seen pending.
            let all = ["accepted", "refused", "dropped"]
            #expect(try await eventually { events.entries.filter { $0 != "forwarded" } == all })
          }
        }
      }
    }

    @Test(
      "A dead letter that another process than the sender retries has all its attempts again",
      arguments: StoreKind.lasting)
    func retriedElsewhere(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let failure = ScriptedTransport.Step.fail(TransportError.timedOut)
        let transport = ScriptedTransport([failure, failure, failure])
        let policy = OutboxPolicy(backoff: Backoff(base: .zero), maximumAttempts: 2)
        try await withOutbox(kind, transport, policy: policy, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          try await a.forward(Raise(book: 1, note: "a"))
          #expect(try await eventually { a.outbox.deadLetters.count == 1 })
          try await withOutbox(kind, in: folder) { b in
            let letter = try #require(b.outbox.deadLetters.first)
            #expect(b.outbox.retry(letter))
            let isSent = try await eventually { a.outbox.pending.isEmpty && a.outbox.deadLetters.isEmpty }
            #expect(isSent)
            #expect(transport.requests.count == 4)
          }
        }
      }
    }

    @Test(
      "A process that is stopped but not dead keeps its place, and loses it when it dies",
      arguments: StoreKind.lasting)
    func stoppedProcess(_ kind: StoreKind) async throws {
      try await withFolder { folder in
        let server = try FaultyServer(folder.appending(path: "Server.sqlite"), faults: 0, seed: 1)
        try await server.start()
        let child = try ChildProcess(["forward", kind.place(folder), server.url.absoluteString, "1000000", "4", "7"])
        #expect(try await eventually { child.lines.contains("sends") && child.lines.contains("queued 5") })
        let connect = try tallyConnect(at: kind.place(folder), server: server.url, tallies: 4)
        try await connect.start()
        child.pause()
        #expect(try #require(connect.persistentStoreCoordinator.outboxHome).rows.holdOutbox() == nil)
        #expect(!connect.outbox.isSender)
        child.kill()
        #expect(try await eventually { connect.outbox.isSender })
        try await connect.stop()
        await server.stop()
      }
    }
  #endif
}
