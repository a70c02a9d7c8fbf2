import Concord
import ConcordTestSupport
import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

#if Persistence
  import GRDB
#endif

@Suite("Signing out")
struct SigningOutTests {
  private let refusal = ScriptedTransport.Step.answer(TransportResponse(status: 422, body: Data("sold out".utf8)))

  @Test(
    "What is not saved stays when another store is attached, until it is rolled back",
    arguments: StoreKind.allCases)
  func unsaved(_ kind: StoreKind) async throws {
    try await withOutbox(kind) { connect in
      let context = connect.newBackgroundContext()
      context.insert(Book(id: 18, title: "hers"))
      connect.viewContext.insert(Book(id: 19, title: "hers"))
      let books = try connect.viewContext.query(FetchDescriptor<Book>())
      try connect.detach(persistentStores: connect.persistentStores)
      #expect(try await eventually { books.value.isEmpty })
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      #expect(try await eventually { books.value.map(\.title) == ["hers"] })
      #expect(context.hasChanges && connect.viewContext.hasChanges)
      connect.viewContext.rollback()
      context.rollback()
      #expect(books.value.isEmpty && !context.hasChanges && !connect.viewContext.hasChanges)
    }
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

  @Test("What is forwarded after signing out is not ended by an answer that comes late; entities stay")
  func forwardedMeanwhile() async throws {
    let gate = Gate()
    // Answers also who does not wait any longer.
    let transport = ScriptedTransport { request in
      if request.body == Data("a".utf8) { await gate.passed() }
      return TransportResponse(status: 204)
    }
    try await withOutbox(.memory, transport) { connect in
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { transport.requests.count == 1 })
      try await connect.outbox.clear()
      #expect(try connect.stored(Book.self).count == 9)
      let entry = try await connect.forward(Raise(book: 1, note: "b"))
      #expect(try connect.shown(1)?.title == "b")
      gate.open()
      await connect.outbox.idle()
      #expect(transport.bodies == ["a", "b"] && transport.keys.last == entry.key.rawValue)
      #expect(try connect.kept(1) == Book(id: 1, title: "b", price: 1))
    }
  }

  @Test("Requests on their way are cancelled")
  func cancelled() async throws {
    let hanging = HangingTransport()
    try await withOutbox { connect in
      connect.outbox.transport = hanging
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { hanging.keys.entries.count == 1 })
      try await connect.outbox.clear()
      await connect.outbox.idle()
    }
  }

  @Test("A request that begins while the outbox is being cleared is cancelled, too")
  func begunMeanwhile() async throws {
    let hanging = HangingTransport()
    try await withOutbox { connect in
      connect.outbox.transport = nil
      // From now on the outbox is read only when something is written to it.
      #expect(try await eventually { connect.outbox.isSender && connect.outbox.state.withLock { $0.holding == nil } })
      try await connect.forward(Raise(book: 1, note: "a"))
      // As long as the view is in a transaction, clearing does not go on behind the commit.
      let (held, goOn) = (Gate(), DispatchSemaphore(value: 0))
      DispatchQueue.global().async {
        connect.viewContext.store.transaction { _ in
          held.open()
          goOn.wait()
        }
      }
      await held.passed()
      let clearing = Task { try await connect.outbox.clear() }
      let isCleared = try await eventually {
        try connect.persistentStoreCoordinator.outboxes(after: [:]).values.allSatisfy { $0.rows.isEmpty }
      }
      connect.outbox.transport = hanging
      let hasBegun = try await eventually { hanging.keys.entries.count == 1 }
      goOn.signal()
      try await clearing.value
      #expect(isCleared && hasBegun)
      #expect(try await eventually { connect.outbox.state.withLock { $0.running.isEmpty } })
      #expect(connect.outbox.pending.isEmpty)
    }
  }

  #if Persistence
    @Test("After signing out nothing of what was forwarded is left in the file")
    func file() async throws {
      try await withFolder { folder in
        try await withOutbox(.sqlite, ScriptedTransport([.pass, refusal, .wait]), in: folder) { connect in
          for (book, note) in [(1, "a"), (2, "b"), (3, "c")] {
            try await connect.forward(Raise(book: book, note: note))
          }
          try await connect.outbox.clear()
          let count = try await outboxFile(folder).read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM concord_outbox")
          }
          #expect(count == 0)
        }
      }
    }

    @Test("If it cannot be written, signing out throws, and nothing has changed")
    func failing() async throws {
      try await withFolder { folder in
        let connect = TestConnect(name: "Library", model: try libraryModel(), forwarding: [Raise.self])
        try connect.attachPersistentStore(
          at: folder, for: StoreConfiguration(options: [ConcordBusyTimeoutOption: 0.05]))
        try connect.store([Book(id: 1, title: "")])
        try await connect.forward(Raise(book: 1, note: "a"))
        let other = try outboxFile(folder)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        await #expect(throws: StoreError.self) { try await connect.outbox.clear() }
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        #expect(connect.outbox.pending.count == 1)
        #expect(try connect.shown(1)?.title == "a")
      }
    }

    @Test("Signing out in one process is told in the other, where a late answer changes nothing")
    func otherProcess() async throws {
      try await withFolder { folder in
        let gate = Gate()
        let transport = ScriptedTransport { _ in
          await gate.passed()
          return TransportResponse(status: 204)
        }
        try await withOutbox(.sqlite, transport, in: folder) { a in
          let events = collect(a.outbox)
          try await a.forward(Raise(book: 1, note: "a"))
          try await a.forward(Raise(book: 1, note: "b"))
          #expect(try await eventually { transport.requests.count == 1 })
          try await withOutbox(.sqlite, in: folder) { b in
            #expect(b.outbox.pending.count == 2)
            try await b.outbox.clear()
          }
          #expect(try await eventually { events.entries.contains("cleared") })
          #expect(try await eventually { try a.outbox.pending.isEmpty && a.shown(1)?.title == "" })
          gate.open()
          await a.outbox.idle()
          #expect(try a.kept(1)?.price == 0 && a.shown(1)?.price == 0 && transport.requests.count == 1)
        }
      }
    }

    @Test("What cannot be read goes, too, and holds up nothing any longer")
    func unknown() async throws {
      try await withFolder { folder in
        let first = TestConnect(name: "Library", model: try libraryModel())
        try first.attachPersistentStore(at: folder)
        try await first.forward(AddBook(book: Book(id: 1, title: "new")))
        for store in first.persistentStores { try first.detach(persistentStore: store) }
        let transport = ScriptedTransport()
        let second = TestConnect(name: "Library", model: try libraryModel(), transport: transport)
        try second.attachPersistentStore(at: folder)
        try await second.start()
        #expect(second.outbox.unknown.count == 1)
        try await second.outbox.clear()
        try await second.forward(Raise(book: 1, note: "a"))
        await second.outbox.idle()
        #expect(second.outbox.unknown.isEmpty && transport.bodies == ["a"])
        try await second.stop()
      }
    }

    @Test("What is not attached is not cleared")
    func notAttached() async throws {
      try await withOutbox(.sqlite) { connect in
        connect.suspended = true
        try await connect.forward(Raise(book: 1, note: "a"))
        try await connect.stop()
        try await connect.outbox.clear()
        try await connect.start()
        #expect(connect.outbox.pending.count == 1)
      }
    }
  #endif
}
