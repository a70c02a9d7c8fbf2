#if Inspector
  import Concord
  import ConcordConnect
  import ConcordInspector
  import ConcordSync
  import Foundation
  import Synchronization
  import Testing

  private struct Note: PersistentEntity, Equatable {
    let id: String
    var likes = 0

    static let persistentProperties: [PersistentProperty<Note>] = [.init("id", \.id), .init("likes", \.likes)]

    init(id: String, likes: Int = 0) { (self.id, self.likes) = (id, likes) }
    init(from row: inout RowReader) throws { self.init(id: try row.read(), likes: try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(likes)
    }
  }

  private struct Like: ForwardAction {
    var note: String
    static let name = "like"
    var entity: AnyEntityReference { .init(Note.self, id: note) }
    func apply(to store: EntityStore) throws { store.update(Note.self, id: note) { $0.likes += 1 } }
    func send(with transport: any Transport, key: IdempotencyKey) async throws {
      _ = try await transport.send(TransportRequest("POST", "/like")).successful()
    }
  }

  /// A web service that refuses everything until it is told otherwise.
  private final class Service: Transport {
    let takes = Mutex(false)
    func send(_ request: TransportRequest) async throws -> TransportResponse {
      TransportResponse(status: takes.withLock { $0 } ? 200 : 422, body: Data(#"{"error":"<b>no</b>"}"#.utf8))
    }
  }

  @Suite("What the inspector shows beside the store")
  struct PartTests {
    private func connect(_ service: Service) async throws -> GenericConnect<ContextStrategy.Mixed> {
      let connect = GenericConnect<ContextStrategy.Mixed>(
        name: "Notes", model: try Model("Notes", entities: [Note.self]), transport: service, forwarding: [Like.self])
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      let context = connect.newBackgroundContext()
      try await context.perform {
        context.insert(Note(id: "a"))
        try context.save()
      }
      return connect
    }

    private func part(_ client: Client, _ number: Int = 0) async throws -> JSON {
      try await client.get("api/part", ["number": "\(number)"]).json
    }

    @Test("The outbox shows what is pending and what was refused, which is sent again or given up")
    func outbox() async throws {
      let service = Service()
      let connect = try await connect(service)
      try await inspecting(connect.viewContext.store, showing: connect.outbox) { client, _ in
        #expect(try await client.overview()["parts"].list.map(\.text) == ["Outbox"])
        // It is not started, and so nothing is sent.
        try await connect.forward(Like(note: "a"))
        let pending = try await part(client)["sections"][0]["rows"].list
        #expect(pending.map { $0["title"].text } == ["like"])
        #expect(pending[0]["details"].list.contains { $0["text"].text?.hasPrefix("Note ") ?? false })
        #expect(try await part(client)["sections"][1]["rows"].list.isEmpty)

        try await connect.start()
        await connect.outbox.idle()
        let letters = try await part(client)["sections"][1]["rows"].list
        #expect(letters.count == 1)
        #expect(letters[0]["actions"].list.map(\.text) == ["Retry", "Drop"])
        let key = try #require(letters[0]["id"].text)

        // Refused again, and then given up.
        let retry = #"{"part":0,"action":"Retry","row":"\#(key)"}"#
        #expect(try await client.post("api/perform", retry).status == 200)
        await connect.outbox.idle()
        #expect(connect.outbox.deadLetters.count == 1)
        let drop = #"{"part":0,"action":"Drop","row":"\#(key)"}"#
        #expect(try await client.post("api/perform", drop).json["sections"][1]["rows"].list.isEmpty)
        #expect(connect.outbox.deadLetters.isEmpty)
        #expect(try await client.post("api/perform", drop).status == 409)

        service.takes.withLock { $0 = true }
        try await connect.forward(Like(note: "a"))
        await connect.outbox.idle()
        #expect(try await part(client)["sections"][0]["rows"].list.isEmpty)
      }
      try await connect.stop()
    }

    @Test("Large actions, and thousands of them, are shown in part")
    func large() async throws {
      let connect = try await connect(Service())
      try await inspecting(connect.viewContext.store, showing: connect.outbox) { client, _ in
        try await connect.forward(Like(note: String(repeating: "x", count: 1_000_000)))
        for number in 0..<209 { try await connect.forward(Like(note: "\(number)")) }
        let answer = try await client.get("api/part", ["number": "0"])
        #expect(answer.data.count < 1_000_000)
        let pending = answer.json["sections"][0]
        #expect(pending["rows"].list.count == 200)
        #expect(pending["total"].int == 210)
      }
    }

    @Test("Synchronisation shows its status and its subscriptions")
    func sync() async throws {
      let connect = try await connect(Service())
      let sync = connect.sync(with: try #require(URL(string: "http://127.0.0.1:9"))) { nil }
      sync.subscribe("notes", ["of": .text("me")])
      try await inspecting(connect.viewContext.store, showing: connect.outbox, sync) { client, _ in
        #expect(try await client.overview()["parts"].list.map(\.text) == ["Outbox", "Sync"])
        let sections = try await part(client, 1)["sections"].list
        #expect(sections[0]["rows"][0]["title"].text == "Offline")
        _ = try await sync.subscriptions()
        let rows = try await part(client, 1)["sections"][1]["rows"].list
        #expect(rows.map { $0["title"].text } == ["notes"])
        #expect(rows[0]["details"][0]["text"].text == #"of "me""#)
      }
    }

    @Test(
      "Live queries over the stores show their plans, their sizes, their cost and their observers",
      arguments: [false, true])
    func storedQueries(isForwarding: Bool) async throws {
      var container: any PersistentContainer = try await connect(Service())
      if !isForwarding {
        container = GenericPersistentContainer<ContextStrategy.Mixed>(
          name: "Notes", model: try Model("Notes", entities: [Note.self]))
        try container.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
        let context = container.newBackgroundContext()
        context.insert(Note(id: "a"))
        try context.save()
      }
      let (view, context) = (container.viewContext, container.newBackgroundContext())
      try await inspecting(view.store, showing: view) { client, _ in
        #expect(try await part(client)["sections"][0]["rows"].list.isEmpty)
        let one = try view.query(FetchDescriptor<Note>(predicate: #Predicate { $0.id == "a" }))
        let all = try view.query(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.likes)]))
        func rows() async throws -> [JSON] { try await part(client)["sections"][0]["rows"].list }
        var shown = try await rows()
        #expect(shown.map { $0["title"].text } == ["Note (query 1)", "Note (query 2)"])
        #expect(shown[0]["details"][0]["text"].text == "1 shown, 1 known")
        #expect(shown[0]["details"][1]["text"].text?.hasPrefix("found by id = ") ?? false)
        #expect(shown[1]["details"][1]["text"].text == "each changed row of the type is compared with its condition")
        // What was fetched, and then what was changed: the second query alone has to look at that.
        #expect(shown.map { $0["details"][2]["text"].text } == ["1 row looked at so far", "1 row looked at so far"])
        context.insert(Note(id: "b", likes: 1))
        try context.save()
        try await container.flush()
        let subscription = all.observe { _ in }
        let line = #line - 1
        shown = try await rows()
        #expect(shown.map { $0["details"][2]["text"].text } == ["1 row looked at so far", "2 rows looked at so far"])
        for _ in 0..<100 where !isForwarding {
          shown = try await rows()
          if shown[1]["observers"][0]["places"][0]["line"].int != nil { break }
          try await Task.sleep(for: .milliseconds(50))
        }
        #expect(shown[0]["observers"].list.isEmpty && shown[1]["observers"].list.count == (isForwarding ? 0 : 1))
        // Where layers count, the observers are those of a query over the view.
        #expect(shown[1]["observers"][0]["places"][0]["line"].int == (isForwarding ? nil : line))
        let other = shown[1]["details"].list.first { $0["name"].text == "Observers" }?["text"].text
        #expect(other?.hasPrefix("those of a query over the view") == (isForwarding ? true : nil))
        withExtendedLifetime((one, all, subscription)) {}
      }
    }

    @Test("The inspector retains nothing that is shown beside the store")
    func parts() async throws {
      let store = EntityStore(delivery: .immediate)
      weak var outbox: Outbox?
      let inspector: Inspector
      do {
        let connect = try await connect(Service())
        outbox = connect.outbox
        inspector = try await store.inspect(showing: connect.outbox)
      }
      for _ in 0..<1_000 where outbox != nil { try await Task.sleep(for: .milliseconds(20)) }
      #expect(outbox == nil)
      #expect(try await part(Client(url: inspector.url))["sections"].list.isEmpty)
      await inspector.stop()
    }
  }
#endif
