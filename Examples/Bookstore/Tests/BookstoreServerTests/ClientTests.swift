import BookstoreKit
import BookstoreServer
import BookstoreWeb
import ConcordConnect
import FlyingFox
import Foundation
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
      try await first.forward(AddToCart(book: "emma", title: "Emma"))
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
      await second.connect.outbox.idle()
      #expect(try await second.network.getAsStaff("/authors/jane-austen", Author.self).name == "J. A.")
      #expect(try await second.network.getAsStaff("/carts/reader", [LineOfCart].self).map(\.copies.count) == [1])
      #expect(screens.cartContents?.copies == 1)
      try await second.close()
    }
  }

  @Test("What the server refuses leaves the screens, with the server's reason, and can be given up or tried again")
  func refused() async throws {
    try await withCustomer { _, _, open in
      let customer = try open()
      #expect(try await eventually { customer.books.value.count == 591 && customer.connection.isConnected })
      let screens = FourScreens(customer) {}
      try await customer.setRefusing(true)
      for _ in 1...2 { try await customer.forward(AddToCart(book: "emma", title: "Emma")) }
      #expect(try await eventually { customer.outboxContents.refused.count == 2 && screens.cartContents?.copies == 0 })
      let letters = customer.outboxContents.refused
      #expect(letters.map(\.reason) == Array(repeating: "The shop takes nothing at the moment.", count: 2))
      try await customer.setRefusing(false)
      try customer.drop(letters[0].key)
      try customer.retry(letters[1].key)
      #expect(try await eventually { customer.outboxContents == OutboxContents() && screens.cartContents?.copies == 1 })
      #expect(throws: ActionProblem.self) { try customer.retry(letters[0].key) }
      try await customer.close()
    }
  }

  @Test("What others change while a connection is broken is heard of when it is there again")
  func others() async throws {
    try await withCustomer { _, _, open in
      let customer = try open()
      #expect(try await eventually { customer.books.value.count == 591 && customer.connection.isConnected })
      customer.isOnline = false
      #expect(try await eventually { !customer.connection.isConnected })
      try await customer.setPrice(of: "emma", cents: 12_345)
      try await customer.changePrice(of: "emma", by: 5)
      customer.isOnline = true
      #expect(try await eventually { customer.books.value.contains { $0.cents == 12_350 } })
      try await customer.close()
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
      (.GET, [:], nil), (.GET, ["Sec-Fetch-Site": "none"], nil), (.GET, ["Sec-Fetch-Site": "same-origin"], nil),
      (.GET, ["Host": "localhost:1234"], nil), (.GET, ["Host": "example.org"], 421), (.GET, ["Host": "127.0.0.1"], 421),
      (.GET, ["Host": "127.0.0.1:1235"], 421), (.GET, ["Sec-Fetch-Site": "cross-site"], 403),
      (.GET, ["Sec-Fetch-Site": "same-site"], 403), (.GET, ["Origin": "http://127.0.0.1:1235"], 403),
      (.POST, ["Content-Type": "application/json"], nil),
      (.POST, ["Content-Type": "application/json; charset=utf-8", "Origin": "http://127.0.0.1:1234"], nil),
      (.POST, ["Content-Type": "application/json", "Origin": "null"], 403),
      (.POST, ["Content-Type": "application/json", "Origin": "http://localhost:1234"], 403),
      (.POST, ["Content-Type": "text/plain"], 415), (.POST, [:], 415), (.OPTIONS, [:], 405), (.DELETE, [:], 405),
    ] as [(HTTPMethod, [String: String], Int?)])
  func gate(method: HTTPMethod, fields: [String: String], status: Int?) {
    let gate = Gate()
    func refusal() -> Int? {
      var headers: HTTPHeaders = [.host: "127.0.0.1:1234"]
      for (name, value) in fields { headers[HTTPHeader(name)] = value }
      return gate.refusal(
        of: HTTPRequest(
          method: method, version: .http11, path: "/", query: [], headers: headers, body: HTTPBodySequence())
      )?.code
    }
    #expect(refusal() == 421, "it is not open yet")
    gate.open(1234)
    #expect(refusal() == status)
  }
}
