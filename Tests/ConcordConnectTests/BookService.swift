import Concord
import ConcordConnect
import FlyingFox
import Foundation

/// A service that keeps books, two on a page.
final class BookService: Sendable {
  let books = Locked<[Book]>([])
  let broken = Locked<Set<String>>([])

  func set(_ ids: some Sequence<Int>, _ title: String = "Emma") {
    books.withLock { $0 = ids.map { Book(id: $0, title: title, price: 1) } }
  }

  func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
    let query = Dictionary(request.query.map { ($0.name, $0.value) }) { $1 }
    if broken.withLock({ $0.contains(request.path + (query["page"].map { "?page=\($0)" } ?? "")) }) {
      return .json("broken", status: .internalServerError)
    }
    let parts = request.path.split(separator: "/").map(String.init)
    let body = try await request.bodyData
    switch (request.method, parts.count) {
    case (.GET, 1): return try list(parts[0], query, request.headers[HTTPHeader("If-None-Match")])
    case (.POST, 1), (.PUT, 2):
      let book = try JSONDecoder().decode(Book.self, from: body)
      books.withLock { books in
        books.removeAll { $0.id == book.id }
        books.append(book)
      }
      if request.method == .PUT { return HTTPResponse(statusCode: .noContent) }
      var made = book
      made.title += ", as made"
      return .json(String(decoding: try JSONEncoder().encode(made), as: UTF8.self), status: .created)
    case (.GET, 2):
      guard let book = books.withLock({ $0.first { "\($0.id)" == parts[1] } }) else {
        return .json("no such book", status: .notFound)
      }
      return .json(String(decoding: try JSONEncoder().encode(book), as: UTF8.self))
    case (.DELETE, 2):
      books.withLock { $0.removeAll { "\($0.id)" == parts[1] } }
      return HTTPResponse(statusCode: .noContent)
    default: return .json("", status: .notFound)
    }
  }

  private func list(_ name: String, _ query: [String: String], _ tag: String?) throws -> HTTPResponse {
    let all = books.withLock { $0 }
    let page = Int(query["page"] ?? query["cursor"] ?? "0") ?? 0
    let items = Array(all.dropFirst(page * 2).prefix(2))
    let isLast = all.count <= page * 2 + 2
    var text = String(decoding: try JSONEncoder().encode(items), as: UTF8.self)
    var headers: [String: String] = [:]
    if name == "cursors" {
      text = "{\"items\": \(text), \"next\": \(isLast ? "null" : "\"\(page + 1)\"")}"
    } else if !isLast {
      headers["Link"] =
        "</books?page=0>; rel=\"first\"; title=\"a, <b>; c\", </books?page=\(page + 1)>; rel=\"next last\""
    }
    // JSON objects have their keys in no order.
    let own = "\"\(items.map { "\($0)" }.joined())\(isLast)".hashed + "\""
    if tag == "\"" + own { return .json("", ["ETag": "\"" + own], status: .notModified) }
    headers["ETag"] = "\"" + own
    return .json(text, headers)
  }
}

extension String {
  /// The same for the same text.
  fileprivate var hashed: String { "\(utf8.reduce(UInt64(5381)) { $0 &* 33 &+ UInt64($1) })" }
}
