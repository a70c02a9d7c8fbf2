import BookstoreKit
import ConcordConnect
import Foundation

/// What a customer does: a change that is seen at once, and the request that carries it to the server.
protocol ShopAction: ForwardAction {
  /// In words, for the page.
  var summary: String { get }
  /// The book that it is about, or the author.
  var subject: String { get }
}

extension ShopAction {
  func send(
    _ method: String, _ path: String, _ body: some Encodable, with transport: any Transport, key: IdempotencyKey
  ) async throws {
    let headers: HeaderFields = ["Content-Type": "application/json", "Idempotency-Key": key.rawValue]
    let request = TransportRequest(method, path, headers: headers, body: try Wire.data(body))
    do {
      _ = try await transport.send(request).successful()
    } catch let error as TransportError {
      // What the server gave as its reason is all that a person wants to read.
      if let reason = error.refusal { throw NonRetriableError(reason) }
      throw error
    }
  }
}

extension TransportError {
  /// Why the server refused a request, in its own words.
  var refusal: String? {
    guard case .status(400..<500, let excerpt, _) = self else { return nil }
    return (try? JSONDecoder().decode(Wire.Refusal.self, from: Data(excerpt.utf8)))?.error
  }
}

/// Why an action cannot be done here. The server is not asked.
enum ActionProblem: Error, CustomStringConvertible {
  case noBook(String)
  case noAuthor(String)
  case noCart
  case noLetter
  case stars
  case incomplete

  var description: String {
    switch self {
    case .noBook(let id): "there is no book \"\(id)\""
    case .noAuthor(let id): "there is no author \"\(id)\""
    case .noCart: "there is no cart"
    case .noLetter: "there is no such refused action any more"
    case .stars: "a review has one to five stars"
    case .incomplete: "the command is incomplete"
    }
  }
}
