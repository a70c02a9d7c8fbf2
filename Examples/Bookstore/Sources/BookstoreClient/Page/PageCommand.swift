import BookstoreKit
import BookstoreWeb
import ConcordConnect
import FlyingFox
import Foundation

/// What a button of the page asks for.
struct PageCommand: Decodable {
  var book: Book.ID?
  var author: Author.ID?
  var cents: Int?
  var stars: Int?
  var text: String?
  var name: String?
  var key: String?
  var isOn: Bool?

  /// Does it; says why if it cannot be done.
  static func perform(_ request: HTTPRequest, _ model: PageModel) async -> HTTPResponse {
    do {
      let command = try JSONDecoder().decode(PageCommand.self, from: try await request.boundedBody())
      guard try await command.perform(request.path, model) else { return HTTPResponse(statusCode: .notFound) }
      return HTTPResponse(statusCode: .noContent)
    } catch {
      let body = try? Wire.data(Wire.Refusal(error: (error as? TransportError)?.refusal ?? error.decodingReason))
      return HTTPResponse(
        statusCode: .unprocessableContent, headers: [.contentType: "application/json"], body: body ?? Data())
    }
  }

  private func perform(_ path: String, _ model: PageModel) async throws -> Bool {
    let storefront = model.storefront
    switch path {
    case "/select": await model.select(try needed(book))
    case "/online": await model.setOnline(try needed(isOn))
    case "/refusing": try await model.setRefusing(try needed(isOn))
    case "/price": try await storefront.changePrice(of: try needed(book), by: try needed(cents))
    case "/cart":
      let book = try await model.book(try needed(book))
      try await storefront.forward(AddToCart(book: book.id, title: book.title))
    case "/review":
      let book = try await model.book(try needed(book))
      let text = try needed(text).trimmingCharacters(in: .whitespacesAndNewlines)
      let stars = try needed(stars)
      try await storefront.forward(WriteReview(book: book.id, title: book.title, stars: stars, text: text))
    case "/rename":
      let name = try needed(name).trimmingCharacters(in: .whitespacesAndNewlines)
      try await storefront.forward(RenameAuthor(author: try needed(author), newName: name))
    case "/retry": try storefront.retry(try needed(key))
    case "/drop": try storefront.drop(try needed(key))
    default: return false
    }
    return true
  }

  private func needed<T>(_ value: T?) throws -> T {
    guard let value else { throw ActionProblem.incomplete }
    return value
  }
}
