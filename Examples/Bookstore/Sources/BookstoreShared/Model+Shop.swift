import BookstoreKit
public import ConcordSync

extension Model {
  /// The entities that the server and its customers know.
  public static func shop() throws -> Model {
    try Model("Shop", entities: [Author.self, Book.self, Review.self, Cart.self, CartLine.self])
  }
}
