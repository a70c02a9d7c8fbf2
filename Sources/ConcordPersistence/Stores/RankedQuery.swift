package import ConcordModel

/// A query for the best hits of a search.
package struct RankedQuery: Sendable {
  package let entity: EntityDescription
  /// The condition of the hits, of which the search is a part.
  package var condition: StoredCondition
  package let search: SearchQuery
  /// The greatest number of hits.
  package let limit: Int

  package init(_ entity: EntityDescription, where condition: StoredCondition, by search: SearchQuery, limit: Int) {
    (self.entity, self.condition, self.search, self.limit) = (entity, condition, search, max(0, limit))
  }

  /// The query for the rows of all hits.
  package var rows: RowQuery { RowQuery(entity, where: condition) }

  /// The conditions beside the search.
  package var otherConditions: [StoredCondition] {
    let search = StoredCondition.matches(search, in: entity.searchablePositions)
    return condition.conjuncts.filter { $0 != search && $0 != .always(true) }
  }
}

/// A hit of a search, and its rank.
package struct RankedHit: Sendable, Equatable {
  package let rank: Double
  package let key: StoredValue

  package init(rank: Double, key: StoredValue) { (self.rank, self.key) = (rank, key) }

  /// Whether the hit comes before another: the greater rank, then the smaller key.
  package func precedes(_ other: RankedHit) -> Bool {
    rank > other.rank || rank == other.rank && StoredValue.precedes(key, other.key)
  }
}

/// The best of the hits that are passed one by one.
package struct BestHits {
  private let limit: Int
  private var hits: [RankedHit] = []
  /// The rank that a hit has at least that is one of the best.
  private var least = -Double.infinity

  package init(_ limit: Int) { self.limit = limit }

  /// - Parameter key: is asked for where the rank may suffice.
  /// - Complexity: amortised, the logarithm of the limit.
  package mutating func add(_ rank: Double, _ key: @autoclosure () -> StoredValue) {
    if rank < least { return }
    hits.append(RankedHit(rank: rank, key: key()))
    if hits.count / 2 > max(limit, 32) { cut() }
  }

  private mutating func cut() {
    hits.sort { $0.precedes($1) }
    if hits.count >= limit { hits.removeSubrange(limit...) }
    if hits.count == limit, let last = hits.last { least = last.rank }
  }

  /// The best hits, in order.
  package mutating func inOrder() -> [RankedHit] {
    cut()
    return hits
  }
}

/// A reading of a store that finds the best hits without passing the rows of all.
package protocol RankingReading: RowReading {
  /// Returns the best hits in order; `nil` if the store cannot tell them, so that the rows are read.
  func best(_ query: RankedQuery) throws -> [RankedHit]?

  /// The steps of that, and the plan; `nil` if the store cannot tell them.
  func explainBest(_ query: RankedQuery) throws -> (steps: [String], plan: QueryPlan)?
}

extension RowReading {
  /// Returns the best hits of a search in order.
  package func bestHits(_ query: RankedQuery) throws -> [RankedHit] {
    if query.limit == 0 { return [] }
    if let found = try (self as? any RankingReading)?.best(query) { return found }
    var best = BestHits(query.limit)
    try rows(query.rows) { key, source in
      best.add(query.search.rank(query.entity) { source.value(at: $0) }, key)
      return true
    }
    return best.inOrder()
  }
}
