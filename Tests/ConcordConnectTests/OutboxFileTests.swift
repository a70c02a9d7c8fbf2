#if Persistence
  import Concord
  import ConcordTestSupport
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordConnect

  @Suite("The outbox in a file")
  struct OutboxFileTests {
    private let failure = ScriptedTransport.Step.fail(TransportError.timedOut)
    private let refusal = ScriptedTransport.Step.answer(TransportResponse(status: 422, body: Data("sold out".utf8)))

    /// A connect that is not started, and so sends nothing.
    private func resting(
      _ folder: URL, _ types: [any ForwardAction.Type] = [Raise.self], transport: (any Transport)? = nil
    ) throws -> TestConnect {
      let connect = TestConnect(
        name: "Library", model: try libraryModel(), transport: transport, forwarding: types)
      try connect.attachPersistentStore(at: folder)
      return connect
    }

    private func file(_ folder: URL) throws -> DatabaseQueue {
      try DatabaseQueue(path: folder.appending(path: "Library.sqlite").path)
    }

    @Test("After a restart what was pending is shown at once, in order, and sent with its key")
    func restart() async throws {
      try await withFolder { folder in
        var keys: [String] = []
        do {
          let first = try resting(folder)
          try first.store([Book(id: 1, title: "Emma ")])
          for note in ["a", "b", "c"] { keys.append(try await first.forward(Raise(book: 1, note: note)).key.rawValue) }
          for store in first.persistentStores { try first.detach(persistentStore: store) }
          #expect(first.outbox.pending.isEmpty)
        }
        let transport = ScriptedTransport([failure])
        let second = try resting(folder, transport: transport)
        let seen = Log<String>()
        let book = try #require(try second.viewContext.find(Book.self, id: 1))
        let subscription = book.map(\.title).observe(buffering: .every) { seen.add($0) }
        #expect(second.outbox.pending.map(\.key.rawValue) == keys)
        try await second.start()
        await second.outbox.idle()
        try await second.settled()
        #expect(seen.entries == ["Emma abc"])
        #expect(transport.keys == [keys[0]] + keys && transport.bodies == ["a", "a", "b", "c"])
        #expect(try second.kept(1)?.title == "Emma abc")
        try await second.stop()
        withExtendedLifetime(subscription) {}
      }
    }

    @Test("An observer that waits for a file to be attached sees what is stored and what is pending at once")
    func waiting() async throws {
      try await withFolder { folder in
        do {
          let first = try resting(folder)
          try first.store([Book(id: 1, title: "Emma ")])
          try await first.forward(Raise(book: 1, note: "a"))
          for store in first.persistentStores { try first.detach(persistentStore: store) }
        }
        let second = TestConnect(name: "Library", model: try libraryModel(), forwarding: [Raise.self])
        let seen = Log<String?>()
        let book = second.viewContext.store.observer(Book.self, id: 1)
        let subscription = book.map { $0?.title }.observe(buffering: .every) { seen.add($0) }
        try second.attachPersistentStore(at: folder)
        try await second.flush()
        await second.viewContext.store.settled()
        #expect(seen.entries == [nil, "Emma a"])
        withExtendedLifetime(subscription) {}
      }
    }

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

    @Test("Actions of a type that is not known stay and are reported; later ones of their entity wait; registering sends them")
    func unknown() async throws {
      try await withFolder { folder in
        do {
          let first = try resting(folder)
          try first.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
          try await first.forward(AddBook(book: Book(id: 1, title: "new")))
          try await first.forward(Raise(book: 1, note: "a"))
          try await first.forward(Raise(book: 2, note: "b"))
          for store in first.persistentStores { try first.detach(persistentStore: store) }
        }
        let transport = ScriptedTransport()
        let second = TestConnect(
          name: "Library", model: try libraryModel(), transport: transport, forwarding: [Raise.self])
        let events = collect(second.outbox)
        try second.attachPersistentStore(at: folder)
        try await second.start()
        await second.outbox.idle()
        #expect(transport.bodies == ["b"])
        #expect(second.outbox.unknown.map(\.name) == ["add-book"] && second.outbox.pending.count == 2)
        #expect(second.outbox.unknown.first?.action == nil)
        #expect(try second.shown(1)?.title == "a")
        #expect(try await eventually { events.entries.first == "unknown" })
        second.outbox.register(AddBook.self)
        await second.outbox.idle()
        #expect(transport.bodies == ["b", "", "a"] && second.outbox.pending.isEmpty)
        #expect(try second.kept(1)?.title == "newa")
        try await second.stop()
      }
    }

    @Test("What nobody knows can be dropped, and what follows it is sent then")
    func dropUnknown() async throws {
      try await withFolder { folder in
        do {
          let first = try resting(folder)
          try await first.forward(AddBook(book: Book(id: 1, title: "new")))
          try await first.forward(Raise(book: 1, note: "a"))
          for store in first.persistentStores { try first.detach(persistentStore: store) }
        }
        let transport = ScriptedTransport()
        let second = try resting(folder, transport: transport)
        try await second.start()
        let known = try #require(second.outbox.pending.last)
        #expect(!second.outbox.drop(unknown: known))
        #expect(second.outbox.drop(unknown: try #require(second.outbox.unknown.first)))
        await second.outbox.idle()
        #expect(transport.bodies == ["a"] && second.outbox.pending.isEmpty)
        try await second.stop()
      }
    }

    @Test("The file has a table that a person can read, and that says what is pending, refused and sent")
    func table() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport([refusal, .pass])
        let policy = OutboxPolicy(maximumConcurrentSends: 1)
        try await withOutbox(.sqlite, transport, policy: policy, in: folder) { connect in
          try await connect.forward(Raise(book: 1, note: "a"))
          await connect.outbox.idle()
          try await connect.forward(Raise(book: 2, note: "b"))
          await connect.outbox.idle()
          try await connect.forward(Raise(book: 1, note: "c"))
        }
        let rows = try await file(folder).read { db in
          try Row.fetchAll(db, sql: "SELECT action, entity, id, body, state, reason FROM concord_outbox ORDER BY number")
            .map { row in (0..<6).map { "\(row[$0] ?? "–")".replacingOccurrences(of: "\"", with: "'") } }
        }
        #expect(
          rows.map { $0.joined(separator: " ") } == [
            "raise Book 1 {'book':1,'note':'a'} refused the service answered 422: sold out",
            "raise Book 2  sent –", "raise Book 1 {'book':1,'note':'c'} pending –",
          ])
      }
    }

    @Test("After signing out nothing of what was forwarded is left in the file")
    func clear() async throws {
      try await withFolder { folder in
        try await withOutbox(.sqlite, ScriptedTransport([.pass, refusal, .wait]), in: folder) { connect in
          for (book, note) in [(1, "a"), (2, "b"), (3, "c")] {
            try await connect.forward(Raise(book: book, note: note))
          }
          try await connect.outbox.clear()
          let count = try await file(folder).read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM concord_outbox") }
          #expect(count == 0)
        }
      }
    }

    @Test("What the service has accepted is stored with the end of its action, or neither is")
    func oneCommit() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport()
        try await withOutbox(.sqlite, transport, policy: OutboxPolicy(backoff: Backoff(base: .zero)), in: folder) {
          connect in
          let other = try file(folder)
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
        let other = try file(folder)
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

    @Test("Of two connects with one file one sends what both forward, and the other takes over when that stops")
    func oneSends() async throws {
      try await withFolder { folder in
        let (first, second) = (ScriptedTransport(), ScriptedTransport())
        try await withOutbox(.sqlite, first, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(.sqlite, second, in: folder) { b in
            try await a.forward(Raise(book: 1, note: "a"))
            try await b.forward(Raise(book: 1, note: "b"))
            try await b.forward(Raise(book: 2, note: "c"))
            #expect(try b.shown(1)?.title.hasSuffix("b") == true && b.shown(2)?.title == "c")
            await a.outbox.idle()
            #expect(try await eventually { try a.kept(1)?.title == "ab" && a.kept(2)?.title == "c" })
            #expect(first.bodies.sorted() == ["a", "b", "c"] && second.requests.isEmpty && !b.outbox.isSender)
            #expect(try await eventually { b.outbox.pending.isEmpty })
            #expect(try await eventually { try b.shown(1)?.title == "ab" && a.shown(1)?.title == "ab" })
            let stopped = ContinuousClock.now
            try await a.stop()
            try await b.forward(Raise(book: 1, note: "d"))
            await b.outbox.idle()
            #expect(second.bodies == ["d"] && ContinuousClock.now - stopped < .seconds(2))
          }
        }
      }
    }

    @Test("Who lags behind reads all anew, and shows the same", arguments: [300, 1500])
    func lagging(_ count: Int) async throws {
      try await withFolder { folder in
        let follower = try resting(folder)
        let seen = follower.viewContext.store.observer(Book.self, id: 1)
        try await withOutbox(.sqlite, in: folder) { connect in
          // Written by another process, without being told.
          let other = try SQLiteStore(
            url: folder.appending(path: "Library.sqlite"), entities: try libraryModel().entities)
          try other.write(origin: nil) { writing in
            for number in 0..<count {
              var row = OutboxRow(
                key: "\(number)", action: "raise", entity: "Book", id: .integer(9), body: "", forwarded: 0)
              row.state = .sent
              try writing.writeOutbox(row)
            }
          }
          try other.close()
          try await connect.forward(Raise(book: 1, note: "a"))
          await connect.outbox.idle()
        }
        #expect(try await eventually { seen.value?.title == "a" && follower.outbox.pending.isEmpty })
        let rows = try await file(folder).read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM concord_outbox") }
        #expect((rows ?? .max) < 1400)
      }
    }
  }
#endif
