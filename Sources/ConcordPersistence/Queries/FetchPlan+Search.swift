import Concord
import ConcordModel
import Foundation

extension FetchDescriptor where T: PersistentEntity {
  /// The search that is a part of a condition, if the best hits come first, and nothing else orders them.
  func rankedSearch(_ condition: StoredCondition) -> SearchQuery? {
    guard sortBy.count == 1, let order = sortBy.first, order.order == .reverse else { return nil }
    return condition.conjuncts.lazy.compactMap(\.search).first { order.keyPath == \T.[searchRank: $0] }
  }
}

extension StoredCondition {
  fileprivate var search: SearchQuery? { if case .matches(let query, _) = self { query } else { nil } }
}

extension FetchPlan {
  /// The query for the best hits, if the result is nothing else.
  var rankedQuery: RankedQuery? {
    guard isExact, let rankedSearch, let limit = descriptor.fetchLimit else { return nil }
    let needed = max(0, limit).addingReportingOverflow(rankedOffset)
    return RankedQuery(
      entity, where: condition, by: rankedSearch, limit: limit <= 0 ? 0 : needed.overflow ? .max : needed.partialValue)
  }

  private var rankedOffset: Int { max(0, descriptor.fetchOffset ?? 0) }

  /// Returns the best hits of a search. Only these are made of their rows.
  func best(_ query: RankedQuery, _ reading: any RowReading, _ loader: EntityLoader) throws -> [T] {
    let wanted = try reading.bestHits(query).dropFirst(rankedOffset).map(\.key)
    try reading.prepare(wanted.map { EntityKey(entity, $0) })
    return try wanted.compactMap { try loader.find(T.self, key: $0) }
  }
}
