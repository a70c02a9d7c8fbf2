import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("What is forwarded, and what is shown")
struct OutboxShowingTests {
  @Test("Stopping while something is pending tells of no error, and shows nothing of it", arguments: StoreKind.allCases)
  func stopping(_ kind: StoreKind) async throws {
    let errors = Log<String>()
    try await withFolder { folder in
      let connect = TestConnect(
        name: "Library", model: try libraryModel(), asyncErrorBlock: { errors.add("\($0)") },
        transport: ScriptedTransport(), forwarding: [Raise.self, AddBook.self])
      try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: kind.type))
      try connect.store([Book(id: 1, title: "")])
      try await connect.start()
      connect.suspended = true
      let (stored, made) = (
        try connect.viewContext.find(Book.self, id: 1), connect.viewContext.store.observer(Book.self, id: 10)
      )
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.forward(AddBook(book: Book(id: 10, title: "new")))
      #expect(stored?.value.title == "a" && made.value != nil)
      try await connect.stop()
      #expect(try await eventually { stored?.isRemoved == true && made.value == nil })
      #expect(errors.entries == [])
    }
  }

  @Test(
    "A change to what is not stored here is shown when that comes, and sent meanwhile", arguments: StoreKind.allCases)
  func comesLater(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(kind, transport) { connect in
      let book = connect.viewContext.store.observer(Book.self, id: 77)
      try await connect.forward(Raise(book: 77, note: "a"))
      #expect(book.value == nil)
      try connect.store([Book(id: 77, title: "late ", price: 5)])
      #expect(try await eventually { book.value?.title == "late a" && book.value?.price == 6 })
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(try connect.kept(77)?.title == "late a" && book.value?.title == "late a")
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

  @Test("A live query shows what is pending, and what it changes when it is stored")
  func liveQuery() async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(.memory, transport) { connect in
      let books = try connect.viewContext.query(
        FetchDescriptor<Book>(predicate: #Predicate { $0.price < 1 }, sortBy: [SortDescriptor(\.id)]))
      #expect(books.value.count == 9)
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(books.value.count == 9 && books.value.first?.title == "a")
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(try await eventually { books.value.count == 8 })
    }
  }

  @Test("A view that follows nothing shows what is forwarded, before and after it was sent")
  func independentView() async throws {
    let transport = ScriptedTransport([.wait, .answer(TransportResponse(status: 400))])
    let connect = try GenericConnect<ContextStrategy.DirectIndependent>.inMemory(
      try libraryModel(), transport: transport, forwarding: [Raise.self])
    try connect.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
    try await connect.start()
    let (first, second) = (
      try #require(try connect.viewContext.find(Book.self, id: 1)),
      try #require(try connect.viewContext.find(Book.self, id: 2))
    )
    try await connect.forward(Raise(book: 1, note: "a"))
    #expect(try await eventually { transport.waiting == 1 })
    try connect.store([Book(id: 2, title: "changed by others")])
    try await connect.forward(Raise(book: 2, note: "b"))
    #expect(first.value.title == "a")
    transport.release()
    try await connect.settled()
    #expect(first.value.title == "a" && second.value.title == "" && first.value.price == 1)
    #expect(try connect.kept(1)?.title == "a")
    try await connect.stop()
  }

  @Test("Any strategy shows and stores the same")
  func strategies() async throws {
    func run<S: ContextStrategyType>(_ strategy: S.Type) async throws {
      let transport = ScriptedTransport([.wait])
      let connect = try GenericConnect<S>.inMemory(try libraryModel(), transport: transport, forwarding: [Raise.self])
      try connect.store([Book(id: 1, title: "")])
      try await connect.start()
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      try connect.viewContext.update(Book.self, id: 1) { $0.title = "Emma " }
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(book.value.title == "Emma a", "\(S.self)")
      try connect.viewContext.save()
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      try await connect.settled()
      #expect(book.value.title == "Emma a" && book.value.price == 1, "\(S.self)")
      #expect(try connect.kept(1)?.title == "Emma a", "\(S.self)")
      try await connect.stop()
    }
    try await run(ContextStrategy.Direct.self)
    try await run(ContextStrategy.IndirectNested.self)
    try await run(ContextStrategy.Mixed.self)
  }

  #if Persistence
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
  #endif

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
}
