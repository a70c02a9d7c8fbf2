#if Persistence
  import Concord
  import ConcordTestShared
  import ConcordTestSupport
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordConnect

  /// What happens to an outbox from outside.
  @Suite("An outbox whose file, clock or process somebody has meddled with")
  struct OutboxDamageTests {
    private func file(_ folder: URL) throws -> DatabaseQueue {
      try DatabaseQueue(path: folder.appending(path: "Library.sqlite").path)
    }

    /// Forwards while nothing is sent, changes the file by hand, and attaches it again.
    private func meddling(
      _ actions: [Raise], _ sql: String, _ body: (TestConnect, ScriptedTransport) async throws -> Void
    ) async throws {
      try await withFolder { folder in
        do {
          let connect = TestConnect(name: "Library", model: try libraryModel())
          try connect.attachPersistentStore(at: folder)
          try connect.store((1...3).map { Book(id: $0, title: "") })
          for action in actions { try await connect.forward(action) }
          for store in connect.persistentStores { try connect.detach(persistentStore: store) }
        }
        try await file(folder).write { try $0.execute(sql: sql) }
        let transport = ScriptedTransport()
        try await withOutbox(.sqlite, transport, in: folder) { try await body($0, transport) }
      }
    }

    @Test(
      "A row that cannot be read is reported, holds up its entity and nothing else, stays, and can be dropped",
      arguments: [
        "body = substr(body, 1, 9)", "body = ''", "body = x'7b22626f6f6b22'", "body = '[[[['", "body = '{\"book\":1}'",
        "body = '{\"book\":1e400,\"note\":\"a\"}'", "action = 'renamed'", "\"key\" = x'00'", "\"key\" = ''",
      ])
    func unreadable(_ change: String) async throws {
      let actions = [Raise(book: 1, note: "a"), Raise(book: 1, note: "b"), Raise(book: 2, note: "c")]
      try await meddling(actions, "UPDATE concord_outbox SET \(change) WHERE number = 1") { connect, transport in
        await connect.outbox.idle()
        #expect(transport.bodies == ["c"])
        #expect(connect.outbox.pending.count == 2 && connect.outbox.unknown.count == 1)
        let titles = (try connect.shown(1)?.title, try connect.kept(2)?.title)
        #expect(titles.0 == "b" && titles.1 == "c")
        let unknown = try #require(connect.outbox.unknown.first)
        #expect(connect.outbox.drop(unknown: unknown))
        await connect.outbox.idle()
        #expect(transport.bodies == ["c", "b"] && connect.outbox.pending.isEmpty)
        #expect(try connect.kept(1)?.title == "b")
      }
    }

    @Test(
      "What else is wrong in a row loses nothing",
      arguments: [
        "forwarded = -1e300", "forwarded = 9e999", "forwarded = 'yesterday'", "id = NULL", "id = x'00'", "number = 0",
        "number = -5", "reason = x'00'", "body = '{\"book\":1,\"note\":\"a\",\"of a later version\":[1]}'",
      ])
    func tolerable(_ change: String) async throws {
      let actions = [Raise(book: 1, note: "a"), Raise(book: 2, note: "b")]
      try await meddling(actions, "UPDATE concord_outbox SET \(change) WHERE number = 1") { connect, transport in
        await connect.outbox.idle()
        #expect(Set(transport.bodies) == ["a", "b"] && Set(transport.keys).count == 2)
        #expect(connect.outbox.pending.isEmpty && connect.outbox.deadLetters.isEmpty)
        let kept = try [connect.kept(1)?.title, connect.kept(2)?.title]
        let shown = try [connect.shown(1)?.title, connect.shown(2)?.title]
        #expect(kept == ["a", "b"] && shown == ["a", "b"])
      }
    }

    @Test("A row in a state that only a later version knows is left alone, however much is forwarded afterwards")
    func laterState() async throws {
      let actions = [Raise(book: 1, note: "a")]
      try await meddling(actions, "UPDATE concord_outbox SET state = 'paused'") { connect, transport in
        for number in 0..<20 { try await connect.forward(Raise(book: 2, note: "\(number)")) }
        await connect.outbox.idle()
        #expect(transport.requests.count == 20)
        // As many writes as let finished rows go.
        let store = try #require(connect.persistentStoreCoordinator.outboxHome)
        try store.rows.write(origin: nil) { writing in
          for number in 0..<1500 {
            var row = OutboxRow(
              key: "\(number)", action: "raise", entity: "Book", id: .integer(9), body: "", forwarded: 0)
            row.state = .sent
            try writing.writeOutbox(row)
          }
        }
        let row = try file(try #require(store.url).deletingLastPathComponent()).read {
          try Row.fetchOne($0, sql: "SELECT body FROM concord_outbox WHERE state = 'paused'")
        }
        #expect(row?["body"] == "{\"book\":1,\"note\":\"a\"}")
      }
    }

    @Test("A row that somebody deletes while it is being sent is not sent again and again, nor shown")
    func deleted() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport([.wait])
        try await withOutbox(.sqlite, transport, in: folder) { connect in
          try await connect.forward(Raise(book: 1, note: "a"))
          #expect(try await eventually { transport.waiting == 1 })
          try await file(folder).write { try $0.execute(sql: "DELETE FROM concord_outbox") }
          transport.release()
          await connect.outbox.idle()
          #expect(transport.requests.count == 1 && connect.outbox.pending.isEmpty)
          let titles = try [connect.shown(1)?.title, connect.kept(1)?.title]
          #expect(titles == ["", ""])
          try await connect.forward(Raise(book: 1, note: "b"))
          await connect.outbox.idle()
          #expect(transport.bodies == ["a", "b"])
          #expect(try connect.kept(1)?.title == "b")
        }
      }
    }

    @Test(
      "A clock that was set back or forward by hours changes no order, and loses nothing", arguments: [-36_000, 36_000])
    func clock(_ hours: Double) async throws {
      let actions = ["a", "b", "c"].map { Raise(book: 1, note: $0) }
      let moved = "UPDATE concord_outbox SET forwarded = forwarded + \(hours) * number"
      try await meddling(actions, moved) { connect, transport in
        await connect.outbox.idle()
        #expect(transport.bodies == ["a", "b", "c"])
        // Stored by a clock that was ahead, or behind.
        let context = connect.newBackgroundContext()
        context.insert(
          Book(id: 1, title: "new "), modifiedAt: Date().timeIntervalSinceReferenceDate + max(0, hours) + 1)
        try context.save()
        try await connect.forward(Raise(book: 1, note: "d"))
        await connect.outbox.idle()
        #expect(try connect.kept(1)?.title == "new d")
        #expect(try await eventually { try connect.shown(1)?.title == "new d" })
      }
    }

    @Test("Of two that open one file, one by a link, one sends")
    func link() async throws {
      try await withFolder { folder in
        let (first, second) = (ScriptedTransport(), ScriptedTransport())
        try await withOutbox(.sqlite, first, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          let other = folder.appending(path: "other")
          try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
          try FileManager.default.createSymbolicLink(
            at: other.appending(path: "Library.sqlite"),
            withDestinationURL: folder.appending(path: "Library.sqlite"))
          try await withOutbox(.sqlite, second, in: other) { b in
            try await b.forward(Raise(book: 1, note: "b"))
            #expect(try await eventually { try a.kept(1)?.title == "b" })
            #expect(first.bodies == ["b"] && second.requests.isEmpty && !b.outbox.isSender)
            #expect(try await eventually { b.outbox.pending.isEmpty })
          }
        }
      }
    }

    /// Stops a process while it does not write to a file. One that is stopped while it does holds up all others.
    private func pause(_ child: ChildProcess, betweenWritesTo file: URL) async throws {
      let database = try DatabaseQueue(path: file.path)
      for _ in 0..<200 {
        child.pause()
        // The signal takes a moment.
        try await Task.sleep(for: .milliseconds(20))
        do {
          return try await database.writeWithoutTransaction { try $0.inTransaction(.immediate) { .rollback } }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
          child.goOn()
          try await Task.sleep(for: .milliseconds(5))
        }
      }
      Issue.record("it writes whenever it is stopped")
    }

    @Test("A process that is stopped but not dead keeps its place, and goes on where it was")
    func paused() async throws {
      try await withFolder { folder in
        let server = try FaultyServer(folder.appending(path: "Server.sqlite"), faults: 0, seed: 1)
        try await server.start()
        let child = try ChildProcess(["forward", folder.path, server.url.absoluteString, "300", "5", "1"])
        #expect(try await eventually { child.lines.contains("sends") && child.lines.contains("queued 20") })
        try await pause(child, betweenWritesTo: folder.appending(path: "Tallies.sqlite"))
        let connect = try tallyConnect(folder, server: server.url, tallies: 5)
        let before = try server.applied().count
        try await connect.start()
        try await connect.forward(AddNumber(tally: 0, number: 1000))
        try await Task.sleep(for: .seconds(3))
        // One that was on its way may have come.
        #expect(!connect.outbox.isSender && connect.outbox.pending.count > 0)
        #expect(try server.applied().count <= before + 6)
        child.goOn()
        #expect(try await eventually { child.lines.contains("done") || !child.isRunning })
        child.kill()
        await connect.outbox.idle()
        let applied = try server.applied()
        #expect(applied.map(\.number).sorted() == Array(0..<300) + [1000])
        #expect(try connect.stored(Tally.self).reduce(0) { $0 + $1.count } == 301)
        try await connect.stop()
        await server.stop()
      }
    }

    @Test("A disk without room refuses with a typed error, and loses nothing of what was forwarded or answered")
    func fullDisk() async throws {
      try await withFolder { folder in
        let child = try ChildProcess(["full-outbox", folder.path, "400"])
        child.waitUntilExit()
        var said: [String: String] = [:]
        for line in child.lines {
          let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
          said[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        for operation in ["forward", "once more"] {
          #expect(said[operation]?.hasPrefix("the store 'Tallies.sqlite' failed:") == true, "\(operation) \(said)")
        }
        for fact in ["pending", "kept", "shown", "asked", "sent", "empty", "stored", "in order", "all"] {
          #expect(said[fact] == "true", "\(fact) \(said)")
        }
        #expect(said["done"] != nil)
      }
    }
  }
#endif
