import BookstoreKit
import BookstoreServer
import BookstoreShared
import ConcordSync
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import BookstoreClient

@MainActor
@Suite("The page's server")
struct PageTests {
  private func withPage(_ body: @MainActor (PageModel) async throws -> Void) async throws {
    try await withFolder { folder in
      let server = try await BookstoreServer(
        port: 0, place: .folder(folder.appendingPathComponent("server")), catalogue: try Catalogue.open(nil))
      let customer = try Storefront(server: server.url, folder: folder.appendingPathComponent("customer"))
      #expect(try await eventually { customer.books.value.count == 591 })
      let model = PageModel(customer)
      try await body(model)
      model.close()
      try await customer.close()
      await server.stop()
    }
  }

  private func post(_ path: String, _ body: String, _ model: PageModel) async -> Int {
    let head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: path)
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
    do {
      return try await PageCommand.perform(request, model).status.code
    } catch {
      return (error as? any HTTPResponseError)?.status.code ?? 500
    }
  }

  @Test(
    "A command that makes no sense is refused, and leaves nothing behind",
    arguments: [
      ("/review", #"{"book":"emma","text":"","stars":-1}"#), ("/review", #"{"book":"emma","text":"","stars":0}"#),
      ("/review", #"{"book":"emma","text":"","stars":9223372036854775807}"#),
      ("/review", #"{"book":"none","text":"","stars":5}"#), ("/cart", #"{"book":"none"}"#), ("/cart", "{}"),
      ("/price", #"{"book":"none","cents":1}"#), ("/retry", #"{"key":"none"}"#),
    ])
  func nonsense(_ path: String, _ body: String) async throws {
    try await withPage { model in
      model.setOnline(false)
      #expect(await post(path, body, model) == 422)
      #expect(model.storefront.outboxContents == OutboxContents())
    }
  }

  @Test(
    "What is no command is refused, and leaves nothing behind",
    arguments: [
      ("/cart", "[]", 400), ("/cart", "", 400), ("/nothing", "{}", 404),
      ("/cart", #"{"book":"\#(String(repeating: "x", count: 100_000))"}"#, 413),
    ])
  func noCommand(_ path: String, _ body: String, _ status: Int) async throws {
    try await withPage { model in
      #expect(await post(path, body, model) == status)
      #expect(model.storefront.outboxContents == OutboxContents())
    }
  }

  @Test("A review that an earlier version has kept, with stars that none has, is read nevertheless")
  func kept() {
    for stars in [Int.min, -1, 6, .max] {
      #expect(WriteReview(customer: "reader", book: "emma", title: "Emma", stars: stars, text: "").summary.count < 30)
    }
  }

  @Test("Who reads slowly is told the newest of all, at once")
  func slow() async throws {
    try await withPage { model in
      let listener = model.listen()
      for name in ["A", "B", "C"] {
        try await model.storefront.forward(RenameAuthor(author: "jane-austen", newName: name))
        #expect(try await eventually { model.four?.authorContents?.name == name })
        _ = model.listen()
      }
      let message = try #require(listener.take())
      #expect(message.rows?.count == 591)
      #expect(message.author?.name == "C")
      #expect(message.rows?.filter { $0.author == "C" }.count == message.author?.books.count)
      #expect(listener.take() == nil)
    }
  }
}
