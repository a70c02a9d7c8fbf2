import BookstoreKit
import FlyingFox
import Foundation

extension Service {
  func page(_ request: HTTPRequest) async throws -> Answer {
    let size = 100
    let text = request.query.first { $0.name == "after" }?.value ?? "-1"
    guard let after = Int(text), after >= -1 else { throw Refusal.malformed("\"after\" must be a number.") }
    let books = try await store.books(after: after, count: size)
    var answer = try Answer(books)
    if books.count == size, let last = books.last {
      answer.fields["Link"] = "</books?after=\(last.number)>; rel=\"next\""
    }
    let newest = books.map { max($0.version, $0.author.version) }.max() ?? 0
    return answer.tagged("\(after).\(books.count).\(newest)", request)
  }

  func book(_ request: HTTPRequest, _ id: Book.ID) async throws -> Answer {
    let book = try await store.book(id)
    return try Answer(book).tagged("\(book.version).\(book.author.version)", request)
  }

  func author(_ request: HTTPRequest, _ id: Author.ID) async throws -> Answer {
    let author = try await store.author(id)
    return try Answer(author).tagged("\(author.version)", request)
  }

  func cart(_ request: HTTPRequest, _ customer: String) async throws -> Answer {
    let lines = try await store.cart(of: customer)
    return try Answer(lines).tagged("\(lines.count).\(lines.map(\.version).max() ?? 0)", request)
  }
}
