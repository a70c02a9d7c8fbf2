import ConcordPersistence
public import Foundation

extension Resource {
  /// Makes the stored entities equal to what the service has: each page is stored as it arrives, and what was on none of them is
  /// deleted when the last one has come. If a page does not come, nothing is deleted. What is changed, inserted or deleted here
  /// while a page is on its way is fresher than it, and stays so.
  ///
  /// ```swift
  /// func execute(context: ActionContext) async throws { try await books.refresh(in: context) }
  /// ```
  ///
  /// `query` is what the service is asked for; `subsetFilter` has to mean the same entities. The other parameters are those of ``ActionContext/merge(objects:for:ignoreAttributes:subsetFilter:condition:modifiedAt:)``.
  public func refresh(
    in context: ActionContext, _ query: [URLQueryItem] = [], ignoreAttributes: [String] = [],
    subsetFilter: Predicate<Entity>? = nil, condition: Predicate<Entity>? = nil
  ) async throws {
    var all: [Entity] = []
    // A page is as fresh as the request for it: what is changed here while it is on its way is fresher.
    let removals = context.collectRemovals()
    let start = context.nextStamp()
    var stamp = start
    try await forEachPage(query) { page in
      try Task.checkCancellation()
      all += page.items
      if page.next != nil || stamp > start {
        try context.merge(
          page.items, ignoreAttributes, nil, condition, keepsMissing: true, stamp, removals: removals)
      }
      stamp = context.nextStamp()
    }
    // The pages are stored, unless there is but one. What is on none of them goes, if it was there before the first.
    try context.merge(
      all, ignoreAttributes, subsetFilter, condition, keepsMissing: false, start, removals: removals)
  }
}
