import BookstoreKit
import ConcordConnect
import Foundation

/// Corrects an author's name.
struct RenameAuthor: ShopAction {
  static let name = "rename-author"

  var author: Author.ID
  var newName: String

  var summary: String { "Call the author “\(newName)”" }
  var subject: String { author }
  var entity: AnyEntityReference { .init(Author.self, id: author) }

  func apply(to store: EntityStore) throws {
    guard store.find(Author.self, id: author) != nil else { throw ActionProblem.noAuthor(author) }
    store.update(Author.self, id: author) { $0.name = newName }
  }

  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    try await send("PUT", "/authors/\(author)/name", Wire.Name(name: newName), with: transport, key: key)
  }
}
