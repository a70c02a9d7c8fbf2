import BookstoreKit
import ConcordPersistence
import Foundation

/// A request that changes something.
struct ChangeRequest: Sendable {
  /// By which it is recognised when it comes again.
  var key: String?
  /// The name of the action in ``Applied``.
  var action: String
  /// The id of the book or the author that the request concerns.
  var subject: String
  /// What distinguishes it from another request that has the same key by mistake.
  var fingerprint: Data
  /// Whether the shop may refuse it, as it does with what customers send.
  var isCustomers: Bool
}

extension ShopStore {
  /// Applies a change, its row in ``Applied`` and its answer in one transaction; a request whose key is known changes nothing,
  /// and gets the answer that it got before. Refusals are not kept: what is refused may be tried again.
  ///
  /// - Throws: ``Refusal``; a `StoreError` if the store cannot be written to.
  func apply(
    _ request: ChangeRequest, isRefusing: Bool,
    _ body: @escaping @Sendable (BackgroundContext, _ version: Int) throws -> (Answer, ServerEvent)
  ) async throws -> Answer {
    // Each conflict means that another server has made a change, so the attempts end.
    for _ in 0..<1_000 {
      do {
        return try await writer.perform { context in
          defer { context.rollback() }
          return try Self.apply(request, isRefusing: isRefusing, to: context, body)
        }
      } catch StoreError.conflict {
        try await Task.sleep(for: .milliseconds(.random(in: 1...10)))
      }
    }
    throw Refusal(status: 503, reason: "Too many changes are made at the same time.")
  }

  private static func apply(
    _ request: ChangeRequest, isRefusing: Bool, to context: BackgroundContext,
    _ body: (BackgroundContext, _ version: Int) throws -> (Answer, ServerEvent)
  ) throws -> Answer {
    if let key = request.key, let given = try context.find(Given.self, id: key) {
      guard given.request == request.fingerprint else {
        throw Refusal.invalid("Another request had this idempotency key.")
      }
      return Answer(status: given.status, body: given.body)
    }
    if isRefusing, request.isCustomers { throw Refusal.conflict("The shop takes nothing at the moment.") }
    // What is read after this is still so when it is saved, or the save conflicts.
    try context.update(ShopVersion.self, id: ShopVersion.only) { $0.number += 1 }
    let version = try context.shopVersion()
    let (answer, event) = try body(context, version)
    if let key = request.key {
      context.insert(Applied(sequence: version, key: key, book: request.subject, action: request.action))
      context.insert(Given(key: key, request: request.fingerprint, status: answer.status, body: answer.body))
    }
    context.insert(Change(version: version, event: try Wire.data(event)))
    try context.delete(Change.self, id: version - Change.kept)
    try context.save()
    return answer
  }
}

// MARK: What changes

extension BackgroundContext {
  func setPrice(_ id: Book.ID, _ cents: Int, _ version: Int) throws -> ServerEvent {
    _ = try book(id)
    try update(Book.self, id: id) { ($0.cents, $0.version) = (cents, version) }
    return ServerEvent(version: version, book: try book(id))
  }

  func add(_ review: Review, to id: Book.ID, _ version: Int) throws -> ServerEvent {
    _ = try book(id)
    if try find(Review.self, id: review.id) != nil {
      throw Refusal.conflict("There is a review \"\(review.id)\" already.")
    }
    try update(Book.self, id: id) { book in
      book.reviews.append(review)
      book.version = version
    }
    return ServerEvent(version: version, book: try book(id))
  }

  func rename(_ id: Author.ID, _ name: String, _ version: Int) throws -> ServerEvent {
    _ = try author(id)
    try update(Author.self, id: id) { ($0.name, $0.version) = (name, version) }
    return ServerEvent(version: version, author: try author(id))
  }

  func put(_ copy: Wire.Copy, into customer: String, _ version: Int) throws -> ServerEvent {
    _ = try book(copy.book)
    if try find(Copy.self, id: copy.id) != nil {
      throw Refusal.conflict("There is a copy \"\(copy.id)\" already.")
    }
    let id = Line.id(customer, copy.book)
    if try find(Line.self, id: id) == nil {
      insert(Line(id: id, customer: customer, book: copy.book, number: version, copies: [], version: version))
    }
    try update(Line.self, id: id) { line in
      line.copies.append(Copy(id: copy.id))
      line.version = version
    }
    return ServerEvent(version: version, line: try find(Line.self, id: id).map(LineOfCart.init))
  }
}
