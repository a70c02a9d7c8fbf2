#if Persistence
  import Concord
  import ConcordTestSupport
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordConnect

  extension DurableChangesTests {
    private var failure: ScriptedTransport.Step { .fail(TransportError.timedOut) }
    private var refusal: ScriptedTransport.Step { .answer(TransportResponse(status: 422, body: Data("sold out".utf8))) }

    @Test("What is pending in any attached store is shown, whichever was attached first")
    func otherStoreFirst() async throws {
      try await withFolder { folder in
        let stores = ["a", "b"].map { folder.appending(path: $0) }
        func open(_ order: [Int]) throws -> TestConnect {
          let connect = TestConnect(name: "Library", model: try libraryModel(), forwarding: [Raise.self])
          for index in order { try connect.attachPersistentStore(at: stores[index]) }
          return connect
        }
        let first = try open([0])
        try first.store([Book(id: 1, title: "")])
        try await first.forward(Raise(book: 1, note: "a"))
        for order in [[1, 0], [0, 1]] {
          let again = try open(order)
          #expect(again.outbox.pending.count == 1)
          // The book itself is read from the first store.
          #expect(try again.viewContext.find(Book.self, id: 1)?.value.title == (order[0] == 0 ? "a" : nil))
        }
        #expect(try open([1]).outbox.pending.isEmpty)
      }
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
        let rows = try await outboxFile(folder).read { db in
          try Row.fetchAll(
            db, sql: "SELECT action, entity, id, body, state, reason FROM concord_outbox ORDER BY number"
          )
          .map { row in (0..<6).map { "\(row[$0] ?? "–")".replacingOccurrences(of: "\"", with: "'") } }
        }
        #expect(
          rows.map { $0.joined(separator: " ") } == [
            "raise Book 1 {'book':1,'note':'a'} refused the service answered 422: sold out",
            "raise Book 2  sent –", "raise Book 1 {'book':1,'note':'c'} pending –",
          ])
      }
    }

    @Test("With several stores the outbox is in the first that has a file, and entities are where they belong")
    func severalStores() async throws {
      try await withFolder { folder in
        let model = try Model(
          "Library", entities: [Book.self, Author.self],
          configurations: ["Transient": [Author.self], "Books": [Book.self]])
        let transport = ScriptedTransport([.wait])
        let connect = TestConnect(name: "Library", model: model, transport: transport, forwarding: [Raise.self])
        try connect.attachPersistentStores(
          at: folder,
          for: [StoreConfiguration(name: "Transient", type: .inMemory), StoreConfiguration(name: "Books")])
        try connect.store([Book(id: 1, title: "")])
        try await connect.start()
        #expect(connect.persistentStoreCoordinator.outboxHome?.configurationName == "Books")
        let book = try #require(try connect.viewContext.find(Book.self, id: 1))
        try await connect.forward(Raise(book: 1, note: "a"))
        #expect(book.value.title == "a")
        #expect(try await eventually { transport.waiting == 1 })
        transport.release()
        try await connect.settled()
        #expect(try book.value.title == "a" && connect.kept(1)?.title == "a")
        try await connect.stop()
      }
    }

    @Test("If it cannot be written, `forward` throws, nothing is kept, and nobody has seen anything")
    func cannotBeWritten() async throws {
      try await withFolder { folder in
        let connect = TestConnect(name: "Library", model: try libraryModel(), forwarding: [Raise.self])
        try connect.attachPersistentStore(
          at: folder, for: StoreConfiguration(options: [ConcordBusyTimeoutOption: 0.05]))
        try connect.store([Book(id: 1, title: "")])
        let seen = Log<String>()
        let book = try #require(try connect.viewContext.find(Book.self, id: 1))
        let subscription = book.map(\.title).observe(buffering: .every) { seen.add($0) }
        let events = collect(connect.outbox)
        let other = try outboxFile(folder)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: StoreError.self) { try await connect.forward(Raise(book: 1, note: "a")) }
        #expect(connect.outbox.pending.isEmpty && book.value.title == "")
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        try await connect.forward(Raise(book: 1, note: "b"))
        await connect.viewContext.store.settled()
        #expect(seen.entries == ["", "b"])
        #expect(try await eventually { events.entries == ["forwarded"] })
        withExtendedLifetime(subscription) {}
      }
    }

    @Test("A power failure may take the last transactions, and never a part of one")
    func powerFailure() async throws {
      try await withFolder { folder in
        try await withOutbox(.sqlite, in: folder) { connect in
          for note in 0..<8 { try await connect.forward(Raise(book: 1, note: "\(note),")) }
          await connect.outbox.idle()
          connect.suspended = true
          for note in 8..<12 { try await connect.forward(Raise(book: 1, note: "\(note),")) }
          // What of the log has not reached the disk is missing, wherever that begins.
          let (database, log) = (
            try Data(contentsOf: folder.appending(path: "Library.sqlite")),
            try Data(contentsOf: folder.appending(path: "Library.sqlite-wal"))
          )
          var found: Set<[Int]> = []
          for number in 0...60 {
            let copy = folder.appending(path: "copy\(number)")
            try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
            try database.write(to: copy.appending(path: "Library.sqlite"))
            try log.prefix(log.count * number / 60).write(to: copy.appending(path: "Library.sqlite-wal"))
            let state = try await outboxFile(copy).read { db in
              guard try db.tableExists("concord_outbox") else { return [0, 0, 0] }
              let sent = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM concord_outbox WHERE state = 'sent'") ?? -1
              let waiting = try String.fetchAll(
                db, sql: "SELECT body FROM concord_outbox WHERE state = 'pending' ORDER BY number")
              // They are those that follow on what is stored.
              let notes = waiting.map { $0.filter(\.isNumber).dropFirst() }.compactMap { Int($0) }
              #expect(notes == Array(sent..<sent + waiting.count))
              let book = try Row.fetchOne(db, sql: "SELECT price, title FROM Book WHERE id = 1")
              #expect(book?["title"] == (0..<sent).map { "\($0)," }.joined())
              return [Int(book?["price"] as Double? ?? -1), sent, waiting.count]
            }
            #expect(state[0] == state[1])
            found.insert(state)
          }
          #expect(found.count > 5 && found.contains([8, 8, 4]))
        }
      }
    }
  }
#endif
