import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Unknown actions")
struct UnknownActionsTests {
  #if Persistence
    @Test(
      "Actions of a type that is not known stay, and are told; later ones of their entity wait until it is registered")
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

    @Test("What becomes known while all rows are read again is shown once")
    func knownInWholeReading() async throws {
      try await withFolder { folder in
        do {
          let first = try resting(folder)
          try first.store([Book(id: 1, title: "")])
          try await first.forward(Raise(book: 1, note: "a"))
          for store in first.persistentStores { try first.detach(persistentStore: store) }
        }
        let second = try resting(folder, [])
        #expect(second.outbox.unknown.count == 1)
        let book = try #require(try second.viewContext.find(Book.self, id: 1))
        #expect(book.value.title == "")
        second.outbox.overlay.readAll()
        second.outbox.register(Raise.self)
        #expect(book.value.title == "a")
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

    @Test("What its type cannot decode stays as it was written, unseen and unsent, until it is dropped")
    func cannotDecode() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport()
        let first = try resting(folder)
        try first.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
        let row = OutboxRow(
          key: "k", action: Raise.name, entity: "Book", id: .integer(1), body: "{\"volume\":1}", forwarded: 0)
        let home = try #require(first.persistentStoreCoordinator.homeAttachment)
        let written = try first.persistentStoreCoordinator.writeOutbox(of: home) { try $0.writeOutbox(row) }
        for store in first.persistentStores { try first.detach(persistentStore: store) }
        let second = try resting(folder, transport: transport)
        try await second.start()
        try await second.forward(Raise(book: 1, note: "a"))
        try await second.forward(Raise(book: 2, note: "b"))
        await second.outbox.idle()
        #expect(transport.bodies == ["b"] && second.outbox.unknown.map(\.key.rawValue) == ["k"])
        #expect(try second.shown(1)?.title == "a" && second.kept(1)?.title == "")
        #expect(try second.persistentStoreCoordinator.outboxes(after: [:]).values.first?.rows.first == written)
        #expect(second.outbox.drop(unknown: try #require(second.outbox.unknown.first)))
        await second.outbox.idle()
        #expect(transport.bodies == ["b", "a"] && second.outbox.unknown.isEmpty)
        try await second.stop()
      }
    }

    @Test("Forwarding makes a type known, too: what was left of it is sent first")
    func byForwarding() async throws {
      try await withFolder { folder in
        do {
          let first = try resting(folder)
          try await first.forward(AddBook(book: Book(id: 1, title: "new")))
          for store in first.persistentStores { try first.detach(persistentStore: store) }
        }
        let transport = ScriptedTransport()
        let second = try resting(folder, transport: transport)
        try await second.start()
        #expect(second.outbox.unknown.count == 1)
        try await second.forward(AddBook(book: Book(id: 5, title: "")))
        await second.outbox.idle()
        #expect(second.outbox.unknown.isEmpty && transport.requests.count == 2)
        try await second.stop()
      }
    }

    @Test("What becomes known is shown at its old place; what was told before is told by `unknown`")
    func oldPlace() async throws {
      try await withFolder { folder in
        do {
          let first = try resting(folder)
          try first.store([Book(id: 1, title: "old")])
          try await first.forward(AddBook(book: Book(id: 1, title: "new")))
          try await first.forward(Raise(book: 1, note: "a"))
          for store in first.persistentStores { try first.detach(persistentStore: store) }
        }
        let second = try resting(folder)
        let events = collect(second.outbox)
        let book = try #require(try second.viewContext.find(Book.self, id: 1))
        #expect(book.value.title == "olda" && second.outbox.unknown.count == 1)
        second.outbox.register(AddBook.self)
        #expect(book.value.title == "newa" && second.outbox.unknown.isEmpty)
        // It was told when the store was attached.
        try await second.forward(Raise(book: 1, note: "b"))
        #expect(try await eventually { events.entries.contains("forwarded") })
        #expect(!events.entries.contains("unknown"))
      }
    }
  #endif
}
