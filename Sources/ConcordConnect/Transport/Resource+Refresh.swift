import ConcordPersistence
public import Foundation

extension Resource {
  /// Makes the stored entities equal to those of the service: each page is stored as it arrives, and entities that were
  /// on none of the pages are deleted after the last one. If a page fails, nothing is deleted. Local changes,
  /// insertions and deletions during a request are fresher than its page, and stay.
  ///
  /// ```swift
  /// func execute(context: ActionContext) async throws { try await books.refresh(in: context) }
  /// ```
  ///
  /// - Parameters:
  ///   - context: the context of an action, which saves each page.
  ///   - query: the items of the address's query, by which the service selects entities.
  ///   - ignoreAttributes: names of properties whose stored values stay.
  ///   - subsetFilter: the condition of the stored entities that `query` selects; `nil` for all. It has to mean the same entities, since those
  ///     that the service does not return are deleted.
  ///   - condition: the condition of the stored entities that may be updated or deleted; `nil` for all.
  /// - Throws: ``TransportError`` of a page, `CancellationError`, or an error of
  ///   ``ActionContext/merge(objects:for:ignoreAttributes:subsetFilter:condition:modifiedAt:)``. The pages before it stay stored.
  /// - Complexity: all entities that the service returns are in memory at the end.
  public func refresh(
    in context: ActionContext, _ query: [URLQueryItem] = [], ignoreAttributes: [String] = [],
    subsetFilter: Predicate<Entity>? = nil, condition: Predicate<Entity>? = nil
  ) async throws {
    var all: [Entity] = []
    // The stamp of a page is the date of its request, so that local changes during the request are fresher.
    let start = context.nextStamp()
    var stamp = start
    try await forEachPage(query) { page in
      try Task.checkCancellation()
      all += page.items
      if page.next != nil || stamp > start {
        try context.merge(page.items, ignoreAttributes, nil, condition, keepsMissing: true, stamp)
      }
      stamp = context.nextStamp()
    }
    // The pages are stored, unless there is only one. Entities on none of them are deleted if they are older than the
    // first request.
    try context.merge(all, ignoreAttributes, subsetFilter, condition, keepsMissing: false, start)
  }
}
