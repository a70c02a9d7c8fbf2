#if Server
  import ConcordServer
  import ConcordSync
  import Foundation
  import Hummingbird
  import Testing

  // README shows parts of what stands here. The article "Every device" has the same as files of a package, which Scripts/test builds and runs.

  struct Wish: PersistentEntity, Equatable {
    let id: UUID
    var owner: String
    var text: String
    var isGranted = false

    static let persistentProperties: [PersistentProperty<Wish>] = [
      .init("id", \.id), .init("owner", \.owner, .indexed), .init("text", \.text),
      .init("isGranted", \.isGranted, default: false),
    ]
    init(from row: inout RowReader) throws {
      (id, owner, text, isGranted) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(owner)
      try row.write(text)
      try row.write(isGranted)
    }
    init(id: UUID, owner: String, text: String) { (self.id, self.owner, self.text) = (id, owner, text) }
  }

  struct AddWish: SyncAction {
    var id = UUID()
    var owner: String
    var text: String

    static let name = "add-wish"
    var entity: AnyEntityReference { .init(Wish.self, id: id) }
    func apply(to store: EntityStore) throws { store.store(Wish(id: id, owner: owner, text: text)) }
  }

  struct Grant: SyncAction {
    var wish: UUID

    static let name = "grant"
    var entity: AnyEntityReference { .init(Wish.self, id: wish) }
    func apply(to store: EntityStore) throws { store.update(Wish.self, id: wish) { $0.isGranted = true } }
  }

  struct Person: Identifiable, Sendable { let id: String }

  func wishService(_ container: any PersistentContainer) -> SyncService<Person> {
    let tokens = ["token-of-anna": "anna", "token-of-ben": "ben"]
    let service = SyncService<Person>(container, actions: [AddWish.self, Grant.self]) { request in
      let token = request.headers[.authorization]?.replacing("Bearer ", with: "")
      return token.flatMap { tokens[$0] }.map { Person(id: $0) }
    }
    service.publish("wishes", of: Wish.self) { person, _ in
      let name = person.id
      return #Predicate<Wish> { $0.owner == name }
    }
    service.allow(AddWish.self) { action, person, store in
      // A wish that is stored under this id may be somebody else's.
      action.owner == person.id && store.find(Wish.self, id: action.id) == nil
    }
    service.allow(Grant.self) { action, person, store in
      store.find(Wish.self, id: action.wish)?.value.owner == person.id
    }
    return service
  }

  func serveWishes(in folder: URL, port: Int) async throws {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(
      name: "Wishes", model: try Model("Wishes", entities: [Wish.self]))
    try container.attachPersistentStore(at: folder, for: StoreConfiguration(type: .sqlite))
    let service = wishService(container)
    let router = Router()
    service.addRoutes(to: router, path: "sync")
    let app = Application(
      router: router, server: .http1(configuration: .init(additionalChannelHandlers: service.channelHandlers())),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)), services: [service])
    try await app.runService()
  }

  func openWishes(in folder: URL, at url: URL, token: String) async throws -> (
    connect: GenericConnect<ContextStrategy.Mixed>, sync: Sync
  ) {
    let connect = GenericConnect<ContextStrategy.Mixed>(
      name: "Wishes", model: try Model("Wishes", entities: [Wish.self]), forwarding: [AddWish.self, Grant.self])
    try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: .sqlite))
    try await connect.start()
    return (connect, connect.sync(with: url, token: { token }))
  }

  func makeWish(_ text: String, in folder: URL, at url: URL, token: String, owner: String) async throws {
    let (connect, sync) = try await openWishes(in: folder, at: url, token: token)
    try await sync.subscribe("wishes").ready()
    if !text.isEmpty { try await connect.forward(AddWish(owner: owner, text: text)) }
    try await sync.checkpoint()
    for wish in try connect.viewContext.fetch(FetchDescriptor<Wish>()) { print(wish.text) }
    try await connect.stop()
  }

  @Suite(.timeLimit(.minutes(1)))
  struct ArticleTests {
    @Test("Two devices and a server, as README and the article say")
    func everyDevice() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "wishes-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      // Below those that the system gives to others.
      let port = Int.random(in: 20_000..<30_000)
      let running = Task { try await serveWishes(in: folder.appending(path: "server"), port: port) }
      let url = try #require(URL(string: "http://127.0.0.1:\(port)/sync"))
      let health = HTTPTransport(baseURL: url)
      while await (try? health.send(TransportRequest("GET", "health/ready")))?.status != 200 {
        try await Task.sleep(for: .milliseconds(20))
      }

      let phone = try await openWishes(in: folder.appending(path: "phone"), at: url, token: "token-of-anna")
      let tablet = try await openWishes(in: folder.appending(path: "tablet"), at: url, token: "token-of-anna")
      for device in [phone, tablet] { try await device.sync.subscribe("wishes").ready() }

      let action = AddWish(owner: "anna", text: "a bicycle")
      try await phone.connect.forward(action)
      try await phone.sync.checkpoint()
      try await tablet.sync.checkpoint()
      let wishes = try tablet.connect.viewContext.fetch(FetchDescriptor<Wish>())

      #expect(wishes.map(\.text) == ["a bicycle"])

      try await tablet.connect.forward(AddWish(owner: "ben", text: "for somebody else"))
      try await tablet.sync.checkpoint()
      let reason = tablet.connect.outbox.deadLetters.first?.reason

      #expect(reason == "it is not allowed")
      #expect(try tablet.connect.viewContext.fetch(FetchDescriptor<Wish>()).count == 1)
      try await tablet.connect.forward(Grant(wish: action.id))
      try await tablet.sync.checkpoint()
      try await phone.sync.checkpoint()
      #expect(try phone.connect.viewContext.find(Wish.self, id: action.id)?.value.isGranted == true)
      let ben = try await openWishes(in: folder.appending(path: "ben"), at: url, token: "token-of-ben")
      try await ben.sync.subscribe("wishes").ready()
      #expect(try ben.connect.viewContext.fetch(FetchDescriptor<Wish>()).isEmpty)
      // Who knows the id of another's wish does not get it.
      try await ben.connect.forward(AddWish(id: action.id, owner: "ben", text: "mine"))
      try await ben.sync.checkpoint()
      #expect(ben.connect.outbox.deadLetters.map(\.reason) == ["it is not allowed"])
      try await phone.sync.checkpoint()
      #expect(try phone.connect.viewContext.find(Wish.self, id: action.id)?.value.text == "a bicycle")

      try await tablet.connect.outbox.clear()
      for subscription in try await tablet.sync.subscriptions() { try await subscription.cancel() }

      #expect(try tablet.connect.viewContext.fetch(FetchDescriptor<Wish>()).isEmpty)
      for device in [phone, tablet, ben] { try await device.connect.stop() }
      try await makeWish("a kite", in: folder.appending(path: "ben"), at: url, token: "token-of-ben", owner: "ben")
      let again = try await openWishes(in: folder.appending(path: "ben"), at: url, token: "token-of-ben")
      #expect(try again.connect.viewContext.fetch(FetchDescriptor<Wish>()).map(\.text) == ["a kite"])
      try await again.connect.stop()
      running.cancel()
      _ = await running.result
    }
  }
#endif
