import BookstoreKit
import BookstoreWeb
import ConcordPersistence
import FlyingFox
import Foundation

extension Service {
  func setPrice(_ request: HTTPRequest, _ id: Book.ID) async throws -> Answer {
    let body = try await request.boundedBody()
    let price = try HTTPRequest.decode(Wire.Price.self, body)
    guard (0...100_000_000).contains(price.cents) else { throw Refusal.invalid("The price is out of range.") }
    return try await apply(request, body, "price", id, isCustomers: false) { context, version in
      let event = try context.setPrice(id, price.cents, version)
      return (try Answer(event.book), event)
    }
  }

  func review(_ request: HTTPRequest, _ id: Book.ID) async throws -> Answer {
    let body = try await request.boundedBody()
    let review = try HTTPRequest.decode(Review.self, body)
    guard (1...5).contains(review.stars) else { throw Refusal.invalid("A review has one to five stars.") }
    guard review.text.count <= 2000 else { throw Refusal.invalid("The review is longer than 2,000 characters.") }
    return try await apply(request, body, "review", id, isCustomers: true) { context, version in
      (try Answer(review, status: 201), try context.add(review, to: id, version))
    }
  }

  func rename(_ request: HTTPRequest, _ id: Author.ID) async throws -> Answer {
    let body = try await request.boundedBody()
    let name = try HTTPRequest.decode(Wire.Name.self, body).name
    guard (1...200).contains(name.count) else { throw Refusal.invalid("A name has 1 to 200 characters.") }
    return try await apply(request, body, "rename", id, isCustomers: true) { context, version in
      let event = try context.rename(id, name, version)
      return (try Answer(event.author), event)
    }
  }

  func put(_ request: HTTPRequest, into customer: String) async throws -> Answer {
    let body = try await request.boundedBody()
    let copy = try HTTPRequest.decode(Wire.Copy.self, body)
    return try await apply(request, body, "cart", copy.book, isCustomers: true) { context, version in
      (try Answer(copy, status: 201), try context.put(copy, into: customer, version))
    }
  }

  private func apply(
    _ request: HTTPRequest, _ body: Data, _ action: String, _ subject: String, isCustomers: Bool,
    _ change: @escaping @Sendable (BackgroundContext, _ version: Int) throws -> (Answer, ServerEvent)
  ) async throws -> Answer {
    let key = try request.idempotencyKey
    if isCustomers, key == nil { throw Refusal.malformed("An Idempotency-Key is missing.") }
    let line = "\(request.method.rawValue) \(request.path)\n"
    return try await store.apply(
      ChangeRequest(
        key: key, action: action, subject: subject, fingerprint: Data(line.utf8) + body, isCustomers: isCustomers),
      isRefusing: isRefusing, change)
  }
}
