import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Durable changes")
struct DurableChangesTests {
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

  @Test("What an action makes is found in the view while it is pending; what it removes is found as removed")
  func found() async throws {
    try await withOutbox(network: ReachabilitySwitch(isReachable: false)) { connect in
      #expect(try connect.viewContext.find(Book.self, id: 10) == nil)
      try await connect.forward(AddBook(book: Book(id: 10, title: "new")))
      let made = try #require(try connect.viewContext.find(Book.self, id: 10))
      try await connect.forward(Raise(book: 10, note: "!"))
      #expect(made.value.title == "new!" && made.value.price == 1)
      try await connect.forward(RemoveBook(book: 1, counter: 2))
      #expect(try connect.viewContext.find(Book.self, id: 1)?.isRemoved == true)
      #expect(try connect.kept(10) == nil && connect.kept(1) != nil)
      try await connect.outbox.clear()
      #expect(made.isRemoved)
      #expect(try connect.viewContext.find(Book.self, id: 10) == nil)
      #expect(try connect.viewContext.find(Book.self, id: 1)?.isRemoved == false)
    }
  }

  @Test("An action that does not apply is refused by `forward`, and leaves nothing behind")
  func doesNotApply() async throws {
    try await withOutbox { connect in
      await #expect(throws: Failure(text: "it does not apply")) { try await connect.forward(Impossible()) }
      #expect(connect.outbox.pending.isEmpty)
    }
  }

  @Test("What cannot be encoded is refused, and leaves nothing behind")
  func cannotBeEncoded() async throws {
    struct Reprice: ForwardAction {
      var price: Double
      static let name = "reprice"
      var entity: AnyEntityReference { .init(Book.self, id: 1) }
      func apply(to store: EntityStore) throws { store.update(Book.self, id: 1) { $0.price = price } }
      func send(with transport: any Transport, key: IdempotencyKey) async throws {}
    }
    try await withOutbox { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      await #expect(throws: Errors.self) { try await connect.forward(Reprice(price: .nan)) }
      #expect(connect.outbox.pending.isEmpty && book.value.price == 0)
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

  @Test("An entity that is not in the model is refused")
  func unmanaged() async throws {
    struct Strange: ForwardAction {
      static let name = "strange"
      var entity: AnyEntityReference { .init(Stranger.self, id: 1) }
      func apply(to store: EntityStore) throws {}
      func send(with transport: any Transport, key: IdempotencyKey) async throws {}
    }
    try await withOutbox { connect in
      await #expect(throws: StoreError.self) { try await connect.forward(Strange()) }
      #expect(connect.outbox.pending.isEmpty)
    }
  }

  @Test("An action whose name another type has, or that cannot be read again, is refused, and leaves nothing behind")
  func unreadable() async throws {
    try await withOutbox { connect in
      for action in [Twin(book: 1), OneWay(book: 1)] as [any ForwardAction] {
        do {
          try await connect.forward(action)
          Issue.record("\(action) was taken")
        } catch Errors.unreadableAction {}
      }
      #expect(connect.outbox.pending.isEmpty && connect.outbox.unknown.isEmpty)
      #expect(try connect.shown(1)?.title == "")
      // Nothing waits behind them.
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "a")
    }
  }

  @Test("What is pending outlives a stop, in a file; in memory it is gone", arguments: StoreKind.allCases)
  func detached(_ kind: StoreKind) async throws {
    try await withOutbox(kind) { connect in
      connect.suspended = true
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.stop()
      #expect(connect.outbox.pending.isEmpty)
      try await connect.start()
      #expect(connect.outbox.pending.count == (kind == .memory ? 0 : 1))
    }
  }

  @Test("Where no store has a file the outbox is in the first")
  func inMemory() throws {
    let model = try Model(
      "Library", entities: [Book.self, Author.self], configurations: ["A": [Author.self], "B": [Book.self]])
    let connect = TestConnect(name: "Library", model: model)
    try connect.attachPersistentStores(
      at: FileManager.default.temporaryDirectory,
      for: [StoreConfiguration(name: "A", type: .inMemory), StoreConfiguration(name: "B", type: .inMemory)])
    #expect(connect.persistentStoreCoordinator.outboxHome?.configurationName == "A")
  }
}

/// Has the name of another type.
private struct Twin: ForwardAction {
  var book: Int
  static let name = Raise.name
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.title += "twin" } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}

/// Reads something else than what it writes.
private struct OneWay: ForwardAction {
  var book: Int
  static let name = "one-way"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  init(book: Int) { self.book = book }
  init(from decoder: any Decoder) throws { throw Failure(text: "it cannot be read") }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(book)
  }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.title += "one way" } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}
