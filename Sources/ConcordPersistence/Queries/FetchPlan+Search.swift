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
  /// Returns the best hits of a search. Only these are made of their rows.
  func best(
    _ limit: Int, of search: SearchQuery, _ reading: any RowReading, _ loader: EntityLoader
  ) throws -> [T] {
    var hits: [(rank: Double, offset: Int, key: StoredValue)] = []
    try reading.rows(unordered) { key, source in
      hits.append((search.rank(entity) { source.value(at: $0) }, hits.count, key))
      return true
    }
    hits.sort { $0.rank > $1.rank || $0.rank == $1.rank && $0.offset < $1.offset }
    let wanted = hits.dropFirst(max(0, descriptor.fetchOffset ?? 0)).prefix(limit).map(\.key)
    try reading.prepare(wanted.map { EntityKey(entity, $0) })
    return try wanted.compactMap { try loader.find(T.self, key: $0) }
  }
}
