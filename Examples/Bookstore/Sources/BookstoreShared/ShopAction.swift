public import ConcordSync

/// What a customer does: seen at once on her device, and decided by the server.
public protocol ShopAction: SyncAction {
  /// In words, for the page.
  var summary: String { get }
  /// The book that it is about, or the author.
  var subject: String { get }
}

/// All that customers do.
public let shopActions: [any ShopAction.Type] = [AddToCart.self, WriteReview.self, RenameAuthor.self]

/// Why an action cannot be done.
public enum ShopProblem: Error, Equatable, CustomStringConvertible {
  case noBook(String)
  case noAuthor(String)
  case stars

  public var description: String {
    switch self {
    case .noBook(let id): "there is no book \"\(id)\""
    case .noAuthor(let id): "there is no author \"\(id)\""
    case .stars: "a review has one to five stars"
    }
  }
}
