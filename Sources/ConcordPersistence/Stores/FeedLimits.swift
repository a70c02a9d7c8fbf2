/// The limits of a store's feed of changes.
public struct FeedLimits: Sendable, Hashable {
  /// The number of changes that are kept one by one, with the rows as they were.
  public var changes: Int
  /// The number of rows whose last change is kept beyond that. A position before the changes that are kept is unknown to the feed.
  public var rows: Int

  /// Creates limits.
  public init(changes: Int = 100_000, rows: Int = 1_000_000) { (self.changes, self.rows) = (changes, rows) }
}
