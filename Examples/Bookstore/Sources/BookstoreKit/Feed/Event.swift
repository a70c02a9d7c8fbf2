public import Concord

/// One thing that happened in the shop.
public struct Event: Sendable, Equatable {
  public enum Change: Sendable, Equatable {
    case price(book: Book.ID, cents: Int)
    case stock(book: Book.ID, count: Int)
    case review(book: Book.ID, Review)
    case title(book: Book.ID, title: String)
    case name(author: Author.ID, name: String)
    case remove(book: Book.ID)
  }

  public var change: Change
  /// When it happened. An event without a time happened when it arrived.
  public var at: Stamp?

  public init(_ change: Change, at: Stamp? = nil) {
    self.change = change
    self.at = at
  }
}
