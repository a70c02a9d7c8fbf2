import BookstoreKit
import BookstoreServer
import ConcordConnect
import FlyingFox
import Foundation
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
    let request = HTTPRequest(
      method: .POST, version: .http11, path: path, query: [], headers: [:], body: Data(body.utf8))
    return await PageCommand.perform(request, model).statusCode.code
  }

  @Test(
    "A command that makes no sense is refused, and leaves nothing behind",
    arguments: [
      ("/review", #"{"book":"emma","text":"","stars":-1}"#), ("/review", #"{"book":"emma","text":"","stars":0}"#),
      ("/review", #"{"book":"emma","text":"","stars":9223372036854775807}"#),
      ("/review", #"{"book":"none","text":"","stars":5}"#), ("/cart", #"{"book":"none"}"#), ("/cart", "[]"),
      ("/price", #"{"book":"emma","cents":9223372036854775807}"#),
      ("/cart", #"{"book":"\#(String(repeating: "x", count: 100_000))"}"#),
    ])
  func nonsense(_ path: String, _ body: String) async throws {
    try await withPage { model in
      model.setOnline(false)
      #expect(await post(path, body, model) == 422)
      #expect(model.storefront.outboxContents == OutboxContents())
    }
  }

  @Test("A review that an earlier version has kept, with stars that none has, is read nevertheless")
  func kept() {
    for stars in [Int.min, -1, 6, .max] {
      #expect(WriteReview(book: "emma", title: "Emma", stars: stars, text: "").summary.count < 30)
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
