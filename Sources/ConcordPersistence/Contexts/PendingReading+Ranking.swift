import ConcordModel

extension PendingReading: RankingReading {
  /// The number of changed rows from which on the rows of all hits are read.
  private static let mostChanged = 300

  func best(_ query: RankedQuery) throws -> [RankedHit]? {
    guard let unchanged = unchanged(query) else { return nil }
    var best = BestHits(query.limit)
    for hit in try base.bestHits(unchanged) { best.add(hit.rank, hit.key) }
    for key in changedKeys(query.entity) {
      guard let row = try row(of: key), try query.rows.holds(row, key: key.id, self) else { continue }
      best.add(query.search.rank(query.entity) { row.values[$0] }, key.id)
    }
    return best.inOrder()
  }

  func explainBest(_ query: RankedQuery) throws -> (steps: [String], plan: QueryPlan)? {
    guard let unchanged = unchanged(query), var found = try (base as? any RankingReading)?.explainBest(unchanged) else {
      return nil
    }
    let changed = changedKeys(query.entity).count
    if changed > 0 { found.steps.append("\(Self.unsaved(changed)) merged with these") }
    return found
  }

  /// Without the rows that are changed; `nil` if the store cannot tell which those are.
  private func unchanged(_ query: RankedQuery) -> RankedQuery? {
    if query.condition.otherEntities.contains(where: pending.mayChange) { return nil }
    let changed = changedKeys(query.entity)
    if changed.isEmpty { return query }
    guard changed.count <= Self.mostChanged else { return nil }
    var unchanged = query
    // In front, since the condition may fail for a row as it is stored.
    unchanged.condition = .all([.not(.isIn(.key, Set(changed.map(\.id))))] + query.condition.conjuncts)
    return unchanged
  }
}
