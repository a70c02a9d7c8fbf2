public import Foundation

/// A description of a fetch: a predicate, an order and limits.
///
/// ```swift
/// FetchDescriptor<Book>(predicate: #Predicate { $0.year < 1900 }, sortBy: [SortDescriptor(\.title)], fetchLimit: 20)
/// ```
///
/// It describes what ``EntityStore/query(_:)`` finds in memory, and what contexts of `ConcordPersistence` fetch. Without `sortBy` the order is
/// that of the ids, as they are stored.
public struct FetchDescriptor<T>: Sendable {
  /// The condition that fetched entities meet; all are fetched if it is `nil`.
  public var predicate: Predicate<T>?
  /// The order of the result. Entities that the descriptors do not tell apart are in the order of their ids.
  public var sortBy: [SortDescriptor<T>]
  /// The greatest number of entities to fetch; no limit if it is `nil`.
  public var fetchLimit: Int?
  /// The number of entities to leave out at the beginning of the result.
  public var fetchOffset: Int?

  /// Creates a description of a fetch.
  ///
  /// - Parameters:
  ///   - predicate: the condition of the entities; `nil` for all.
  ///   - sortBy: the order of the result; that of the ids where it does not tell entities apart.
  ///   - fetchLimit: the greatest number of entities in the result; no limit if it is `nil`.
  ///   - fetchOffset: the number of entities to leave out at the beginning of the result; none if it is `nil`.
  public init(
    predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = [], fetchLimit: Int? = nil, fetchOffset: Int? = nil
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }
}
