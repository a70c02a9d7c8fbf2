import ConcordConnect
import Foundation

/// What a customer does: a change that is seen at once, and the request that carries it to the server.
protocol ShopAction: Codable, Sendable {
  /// In words, for the page.
  var summary: String { get }
  func apply(to store: EntityStore) throws
  func send(with transport: any Transport, key: IdempotencyKey) async throws
}

extension ShopAction {
  func send(
    _ method: String, _ path: String, _ body: some Encodable, with transport: any Transport, key: IdempotencyKey
  ) async throws {
    let headers: HeaderFields = ["Content-Type": "application/json", "Idempotency-Key": key.rawValue]
    let data = try JSONEncoder().encode(body)
    _ = try await transport.send(TransportRequest(method, path, headers: headers, body: data)).successful()
  }
}

/// Why an action cannot be done here. The server is not asked.
enum ActionProblem: Error, CustomStringConvertible {
  case noBook(String)
  case noAuthor(String)
  case noCart
  case incomplete

  var description: String {
    switch self {
    case .noBook(let id): "there is no book \"\(id)\""
    case .noAuthor(let id): "there is no author \"\(id)\""
    case .noCart: "there is no cart"
    case .incomplete: "the command is incomplete"
    }
  }
}
