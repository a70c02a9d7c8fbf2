import BookstoreKit
import BookstoreServer
import BookstoreShared
import BookstoreWeb
import ConcordSync
import Foundation
import HTTPTypes
import Testing

@testable import BookstoreClient

@MainActor
@Suite("A customer")
struct ClientTests {
  /// A customer of a server, both in this process.
  private func withCustomer(
    _ body: @MainActor (BookstoreServer, URL, @MainActor () throws -> Storefront) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let server = try await BookstoreServer(
        port: 0, place: .folder(folder.appendingPathComponent("server")), catalogue: try Catalogue.open(nil))
      let customer = folder.appendingPathComponent("customer")
      try await body(server, customer) { try Storefront(server: server.url, folder: customer) }
      await server.stop()
    }
  }

  @Test("What was done offline is on the screens before the server is heard of, also after a restart, and reaches it")
  func restart() async throws {
    try await withCustomer { server, folder, open in
      let first = try open()
      #expect(try await eventually { first.books.value.count == 591 })
      first.isOnline = false
      try await first.forward(AddToCart(customer: "reader", book: "emma", title: "Emma"))
      try await first.forward(RenameAuthor(author: "jane-austen", newName: "J. A."))
      try await first.close()

      let second = try Storefront(server: server.url, folder: folder, isOnline: false)
      let screens = FourScreens(second) {}
      screens.select("emma")
      #expect(screens.cartContents?.copies == 1)
      #expect(screens.authorContents?.name == "J. A.")
      #expect(screens.compared().disagreements == [])
      #expect(second.outboxContents.pending.map(\.subject) == ["emma", "jane-austen"])
      second.isOnline = true
      try await second.sync.checkpoint()
      #expect(screens.cartContents?.copies == 1)
      let other = try Storefront(server: server.url, folder: folder.appendingPathComponent("other"))
      try await other.sync.checkpoint()
      #expect(
        try await eventually { other.cart.value == second.cart.value && other.books.value == second.books.value })
      #expect(other.books.value.first { $0.id == "emma" }?.author.name == "J. A.")
      for customer in [second, other] { try await customer.close() }
    }
  }

  @Test("What the server refuses leaves the screens, with the server's reason, and can be given up or tried again")
  func refused() async throws {
    try await withCustomer { _, _, open in
      let customer = try open()
      #expect(try await eventually { customer.books.value.count == 591 && customer.isConnected })
      let screens = FourScreens(customer) {}
      try await customer.setRefusing(true)
      for _ in 1...2 { try await customer.forward(AddToCart(customer: "reader", book: "emma", title: "Emma")) }
      #expect(try await eventually { customer.outboxContents.refused.count == 2 && screens.cartContents?.copies == 0 })
      let letters = customer.outboxContents.refused
      #expect(letters.map(\.reason) == Array(repeating: "The shop takes nothing at the moment.", count: 2))
      try await customer.setRefusing(false)
      try customer.drop(letters[0].key)
      try customer.retry(letters[1].key)
      #expect(try await eventually { customer.outboxContents == OutboxContents() && screens.cartContents?.copies == 1 })
      #expect(throws: CommandProblem.self) { try customer.retry(letters[0].key) }
      try await customer.close()
    }
  }

  @Test("Who knows the id of another customer's review cannot write in its place")
  func foreignReview() async throws {
    try await withCustomer { server, folder, open in
      let ada = try open()
      #expect(try await eventually { ada.books.value.count == 591 })
      let mine = WriteReview(customer: "reader", book: "emma", title: "Emma", stars: 5, text: "Mine")
      try await ada.forward(mine)
      try await ada.sync.checkpoint()
      let ben = try Storefront(server: server.url, folder: folder.appendingPathComponent("ben"), customer: "ben")
      #expect(
        try await eventually {
          ben.books.value.first { $0.id == "emma" }?.reviews.contains { $0.id == mine.review.id } ?? false
        })
      var his = ben.review(try #require(ben.books.value.first { $0.id == "emma" }), stars: 1, text: "His")
      his.review = Review(id: mine.review.id, stars: 1, by: "ben", text: "His")
      try await ben.forward(his)
      try await ben.sync.checkpoint()
      try await ada.sync.checkpoint()
      #expect(ben.outboxContents.refused.map(\.reason) == ["There is such a review already."])
      let reviews = ada.books.value.first { $0.id == "emma" }?.reviews.filter { $0.id == mine.review.id }
      #expect(reviews == [mine.review])
      for customer in [ada, ben] { try await customer.close() }
    }
  }

  @Test("A customer that is a machine says each state that its file has, however fast they follow each other")
  func eachState() async throws {
    try await withCustomer { server, folder, _ in
      let file = folder.deletingLastPathComponent().appendingPathComponent("said")
      try Data().write(to: file)
      let output = try FileHandle(forWritingTo: file)
      let machine = try Machine(output: output.fileDescriptor, showsRows: false) {
        try Storefront(server: server.url, folder: folder, recording: $0)
      }
      let customer = machine.storefront
      func said() throws -> [DeviceLine] { try lines(of: Data(contentsOf: file)) }
      #expect(try await eventually { try said().contains { $0.position != nil } })
      customer.isOnline = false
      #expect(try await eventually { !customer.books.value.isEmpty })
      let book = try #require(customer.books.value.first)
      for _ in 1...20 { try await customer.forward(customer.addToCart(book)) }
      customer.isOnline = true
      try await machine.finish()
      let counts = try said().compactMap { $0.pending?.count }
      #expect(Set(0...20).isSubset(of: counts), "\(counts)")
      try await customer.close()
    }
  }

  @Test("What others change while a connection is broken is heard of when it is there again")
  func others() async throws {
    try await withCustomer { _, _, open in
      let customer = try open()
      #expect(try await eventually { customer.books.value.count == 591 && customer.isConnected })
      customer.isOnline = false
      #expect(try await eventually { !customer.isConnected })
      let price = try #require(customer.books.value.first { $0.id == "emma" }).cents
      for cents in [12_345, 5] { try await customer.changePrice(of: "emma", by: cents) }
      customer.isOnline = true
      #expect(
        try await eventually { customer.books.value.contains { $0.id == "emma" && $0.cents == price + 12_350 } })
      try await customer.close()
    }
  }

  @Test("What one customer does, another sees, but for her cart, which is on her own devices")
  func two() async throws {
    try await withCustomer { server, folder, open in
      let ada = try open()
      let devices = try ["reader", "ben"].map {
        try Storefront(server: server.url, folder: folder.appendingPathComponent("with-\($0)"), customer: $0)
      }
      #expect(try await eventually { (devices + [ada]).allSatisfy { $0.books.value.count == 591 } })
      try await ada.forward(AddToCart(customer: "reader", book: "emma", title: "Emma"))
      try await ada.forward(RenameAuthor(author: "jane-austen", newName: "J. A."))
      // Nobody puts anything into another's cart, or speaks in her name.
      try await devices[1].forward(AddToCart(customer: "reader", book: "emma", title: "Emma"))
      try await devices[1].forward(WriteReview(customer: "reader", book: "emma", title: "Emma", stars: 5, text: ""))
      for device in [ada] + devices { try await device.sync.checkpoint() }
      #expect(try await eventually { devices[0].cart.value == ada.cart.value && ada.cart.value != nil })
      #expect(try await eventually { devices[1].books.value == ada.books.value })
      #expect(ada.books.value.first { $0.id == "emma" }?.author.name == "J. A.")
      #expect(ada.cart.value?.lines.map(\.copies.count) == [1])
      #expect(devices[1].cart.value == nil)
      #expect(devices[1].outboxContents.refused.map(\.reason) == ["it is not allowed", "it is not allowed"])
      for device in [ada] + devices { try await device.close() }
    }
  }

  @Test("The scenario ends well as a process of its own")
  func scenario() async throws {
    try await withServer { server in
      let store = server.folder.appendingPathComponent("customer").path
      let running = try Running(
        ["page", "--headless", "--server", server.url.absoluteString, "--store", store], in: server.folder)
      let lines = running.lines()
      #expect(running.status() == 0, "\(running.complaints) \(lines)")
      #expect(lines.last?.hasPrefix("all screens agree: ") ?? false, "\(lines)")
    }
  }

  @Test("A comparison finds what screens say differently")
  func comparison() {
    var agreement = Agreement()
    let fact = Fact(subject: "book emma", property: "price")
    agreement.add([fact: "1"], on: "List")
    agreement.add([fact: "1"], on: "Book")
    #expect(agreement.disagreements == [])
    agreement.add([fact: "2"], on: "Cart")
    #expect(agreement.disagreements == ["the price of book emma is '1' for List, and '2' for Cart"])
  }

  @Test(
    "The page answers what it asks for itself, and refuses what other pages ask for",
    arguments: [
      (.get, [:], nil), (.get, ["Sec-Fetch-Site": "none"], nil), (.get, ["Sec-Fetch-Site": "same-origin"], nil),
      (.get, ["Host": "localhost:1234"], nil), (.get, ["Host": "example.org"], 421), (.get, ["Host": "127.0.0.1"], 421),
      (.get, ["Host": "127.0.0.1:1235"], 421), (.get, ["Sec-Fetch-Site": "cross-site"], 403),
      (.get, ["Sec-Fetch-Site": "same-site"], 403),
      (.get, ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe"], nil),
      (.get, ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"], 403),
      (.post, ["Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "iframe", "Content-Type": "application/json"], 403),
      (.get, ["Origin": "http://127.0.0.1:1235"], 403),
      (.post, ["Content-Type": "application/json"], nil),
      (.post, ["Content-Type": "application/json; charset=utf-8", "Origin": "http://127.0.0.1:1234"], nil),
      (.post, ["Content-Type": "application/json", "Origin": "null"], 403),
      (.post, ["Content-Type": "application/json", "Origin": "http://localhost:1234"], 403),
      (.post, ["Content-Type": "text/plain"], 415), (.post, [:], 415), (.options, [:], 405), (.delete, [:], 405),
    ] as [(HTTPRequest.Method, [String: String], Int?)])
  func gate(method: HTTPRequest.Method, fields: [String: String], status: Int?) {
    let gate = Gate()
    func refusal() -> Int? {
      var request = HTTPRequest(
        method: method, scheme: "http", authority: fields["Host"] ?? "127.0.0.1:1234", path: "/")
      for (name, value) in fields where name != "Host" {
        if let name = HTTPField.Name(name) { request.headerFields[name] = value }
      }
      return gate.refusal(request)?.code
    }
    #expect(refusal() == 421, "it is not open yet")
    gate.open(1234)
    #expect(refusal() == status)
  }
}
