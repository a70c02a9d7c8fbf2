#if Server
  import Concord
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Sends the examples of the article "The wire" to a service with the model that it names, and compares the answers with its examples.
  @Suite("The examples of the wire", .timeLimit(.minutes(1)))
  struct WireArticleTests {
    private struct Customer: PersistentEntity, Equatable {
      let id: Int
      var name: String
      var books: Int

      static let persistentProperties: [PersistentProperty<Customer>] = [
        .init("id", \.id), .init("name", \.name), .init("books", \.books),
      ]
      init(from row: inout RowReader) throws { (id, name, books) = (try row.read(), try row.read(), try row.read()) }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(name)
        try row.write(books)
      }
      init(_ id: Int, _ name: String) { (self.id, self.name, books) = (id, name, 0) }
    }

    private struct Order: PersistentEntity, Aggregate, Equatable {
      let id: Int
      var owner: Int
      var placed: Date
      var total: Double
      var customers: [Customer]

      static let persistentProperties: [PersistentProperty<Order>] = [
        .init("id", \.id), .init("owner", \.owner), .init("placed", \.placed), .init("total", \.total),
        .init("customers", \.customers),
      ]
      init(from row: inout RowReader) throws {
        (id, owner, placed) = (try row.read(), try row.read(), try row.read())
        (total, customers) = (try row.read(), try row.read())
      }
      func write(to row: inout RowWriter) throws {
        try row.write(id)
        try row.write(owner)
        try row.write(placed)
        try row.write(total)
        try row.write(customers)
      }
      init(_ id: Int, owner: Int = 1, at seconds: Double, _ total: Double, _ customers: [Customer]) {
        (self.id, self.owner, self.total, self.customers) = (id, owner, total, customers)
        placed = Date(timeIntervalSinceReferenceDate: seconds)
      }
    }

    private struct AddToCart: SyncAction {
      var customer: Int
      var book: String
      static let name = "add-to-cart"
      var entity: AnyEntityReference { .init(Customer.self, id: customer) }
      func apply(to store: EntityStore) throws { store.update(Customer.self, id: customer) { $0.books += 1 } }
    }

    @Test("A service answers the requests of the article as that says")
    func examples() async throws {
      let article = try Article()
      let folder = FileManager.default.temporaryDirectory.appending(path: "wire-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let model = try Model("Shop", entities: [Order.self, Customer.self])
      let server = ServerContainer(name: "Shop", model: model)
      try server.attachPersistentStore(at: folder, for: StoreConfiguration(type: .sqlite))
      let service = SyncService<User>(server, actions: [AddToCart.self]) { _ in nil }
      service.publish("orders", of: Order.self) { user, parameters in
        let (id, since) = (user.id, parameters["since"]?.date ?? .distantPast)
        return #Predicate<Order> { $0.owner == id && $0.placed >= since }
      }
      service.allow(AddToCart.self) { action, user in action.customer == user.id }
      let transport = service.transport(as: User(id: 1))
      var names: [String: String] = [:]

      /// Sends an example, and compares the answer with the example that follows it.
      func exchange(_ path: String) async throws {
        let (request, answer) = (try article.next(), try article.next())
        let sent = try #require(request.lines.first)
        let body = Data(try Self.renamed(sent, names).bytes)
        let response = try await transport.send(TransportRequest("POST", path, body: body))
        let lines = try response.body.split(separator: 0x0A).map { try WireValue(parsing: $0) }
        #expect(response.status == 200 && lines.count == answer.lines.count)
        if path == "pages" {
          // A reader of the article gets as much of it as a device does.
          let (page, example) = (try Page(parsing: response.body, model), try Page(parsing: answer.bytes, model))
          #expect(page.rows.map(\.key) == example.rows.map(\.key) && !example.rows.isEmpty)
          #expect(page.subscriptions.count == example.subscriptions.count)
          // What the server makes anew each time.
          names[example.position] = page.position
          for (one, other) in zip(example.subscriptions, page.subscriptions) { names[one.condition] = other.condition }
        }
        let wanted = try answer.lines.map { try Self.renamed($0, names) }.map(Self.unstamped)
        #expect(lines.map(Self.unstamped) == wanted)
      }

      let context = server.newBackgroundContext()
      let (anna, ben) = (Customer(1, "Anna"), Customer(7, "Ben"))
      context.insert(Order(4, at: 710_000_000, 30, [anna]))
      context.insert(Order(5, at: 720_000_000, 12.5, [anna]))
      context.insert(Order(9, owner: 2, at: 720_000_000, 8, [ben]))
      try context.save()
      try await exchange("pages")
      try await exchange("actions")
      let refused = try article.next()
      #expect(try ActionDecision(try #require(refused.lines.first)) == .refused(reason: "it is not allowed"))
      let message = ActionMessage(
        device: "d", key: "k", name: AddToCart.name, body: .object(["customer": .integer(2), "book": .text("ACK")]),
        refusals: 0, since: 0)
      let decision = try await transport.send(
        TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
      #expect(try WireValue(parsing: decision.body) == refused.lines.first)
      let later = server.newBackgroundContext()
      try later.update(Order.self, id: 4) { $0.owner = 2 }
      later.insert(Order(6, at: 740_000_000, 99, [ben]))
      try later.save()
      try execute("DELETE FROM Customer WHERE id = 7", in: try #require(server.persistentStores.first?.url))
      try await exchange("pages")
      let error = try article.next()
      let other = TransportRequest("POST", "pages", body: Data(#"{"version": 2}"#.utf8))
      let response = try await transport.send(other)
      #expect(try response.status == 426 && WireValue(parsing: response.body) == error.lines.first)
      #expect(article.isAtEnd)
    }

    /// Exchanges texts that the server makes anew each time.
    private static func renamed(_ value: WireValue, _ names: [String: String]) throws -> WireValue {
      try WireValue(parsing: names.reduce(value.json) { $0.replacing(escaped($1.key), with: escaped($1.value)) }.utf8)
    }

    private static func escaped(_ text: String) -> String { WireValue.text(text).json }

    /// A line without the stamp of its row.
    private static func unstamped(_ line: WireValue) -> WireValue {
      guard case .object(let members) = line, case .array(var row)? = members["row"], row.count > 2 else { return line }
      row[2] = .null
      return .object(["row": .array(row)])
    }

    /// The blocks of JSON in the article, one after the other.
    private final class Article {
      struct Block {
        let lines: [WireValue]
        var bytes: [UInt8] { lines.flatMap { $0.bytes + [0x0A] } }
      }
      private var blocks: [Block]

      init() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().resolvingSymlinksInPath()
        let file = folder.appending(path: "../../Sources/ConcordServer/ConcordServer.docc/TheWire.md")
        let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```json\n").dropFirst()
        blocks = try parts.map { part in
          var lines: [String] = []
          for line in (part.components(separatedBy: "```").first ?? "").split(separator: "\n") {
            // What is indented goes on with the line before.
            if line.hasPrefix(" "), let last = lines.popLast() {
              lines.append(last + line)
            } else {
              lines.append(String(line))
            }
          }
          return Block(lines: try lines.map { try WireValue(parsing: $0.utf8) })
        }
      }

      var isAtEnd: Bool { blocks.isEmpty }

      func next() throws -> Block {
        try #require(!blocks.isEmpty)
        return blocks.removeFirst()
      }
    }
  }
#endif
