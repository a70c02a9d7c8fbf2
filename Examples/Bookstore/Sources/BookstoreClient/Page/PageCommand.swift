import BookstoreKit
import BookstoreWeb
import BookstoreShared
import ConcordSync
import Foundation
import HTTPTypes
import Hummingbird

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
  static func perform(_ request: Request, _ model: PageModel) async throws -> Response {
    let command = try await request.json(PageCommand.self)
    do {
      guard try await command.perform(request.uri.path, model) else { return Response(status: .notFound) }
      return Response(status: .noContent)
    } catch {
      return try Response.json(["error": "\(error)"], status: .unprocessableContent)
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
      try await storefront.forward(storefront.addToCart(try await model.book(try needed(book))))
    case "/review":
      let book = try await model.book(try needed(book))
      let text = try needed(text).trimmingCharacters(in: .whitespacesAndNewlines)
      try await storefront.forward(storefront.review(book, stars: try needed(stars), text: text))
    case "/rename":
      let name = try needed(name).trimmingCharacters(in: .whitespacesAndNewlines)
      try await storefront.forward(RenameAuthor(author: try needed(author), newName: name))
    case "/kill":
      // As if somebody did: nothing is ended in order.
      kill(getpid(), SIGKILL)
    case "/retry": try storefront.retry(try needed(key))
    case "/drop": try storefront.drop(try needed(key))
    default: return false
    }
    return true
  }

  private func needed<T>(_ value: T?) throws -> T {
    guard let value else { throw CommandProblem.incomplete }
    return value
  }
}

/// Why a command cannot be done.
enum CommandProblem: Error, CustomStringConvertible {
  case noLetter
  case incomplete

  var description: String {
    switch self {
    case .noLetter: "there is no such refused action any more"
    case .incomplete: "the command is incomplete"
    }
  }
}
