public import Foundation

/// Which entities to fetch, in which order, and how many.
///
/// ```swift
/// FetchDescriptor<Book>(predicate: #Predicate { $0.year < 1900 }, sortBy: [SortDescriptor(\.title)], fetchLimit: 20)
/// ```
///
/// Without `sortBy` the order is that of the ids, as they are stored.
public struct FetchDescriptor<T: PersistentEntity>: Sendable {
  /// Which; all if `nil`.
  public var predicate: Predicate<T>?
  /// In which order. Entities that it does not tell apart are in the order of their ids.
  public var sortBy: [SortDescriptor<T>]
  /// How many at most.
  public var fetchLimit: Int?
  /// How many of the first to leave out.
  public var fetchOffset: Int?

  public init(
    predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = [], fetchLimit: Int? = nil, fetchOffset: Int? = nil
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }
}
