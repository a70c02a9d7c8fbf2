public import BookstoreKit
public import ConcordSync

/// Corrects an author's name.
public struct RenameAuthor: ShopAction {
  public static let name = "rename-author"

  public var author: Author.ID
  public var newName: String

  public init(author: Author.ID, newName: String) { (self.author, self.newName) = (author, newName) }

  public var summary: String { "Call the author “\(newName)”" }
  public var subject: String { author }
  public var entity: AnyEntityReference { .init(Author.self, id: author) }

  public func apply(to store: EntityStore) throws {
    guard store.find(Author.self, id: author) != nil else { throw ShopProblem.noAuthor(author) }
    store.update(Author.self, id: author) { $0.name = newName }
  }
}
