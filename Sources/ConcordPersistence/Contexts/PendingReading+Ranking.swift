import ConcordModel

extension PendingReading: RankingReading {
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
    guard changed.count <= Self.mostLeftOut else { return nil }
    var unchanged = query
    unchanged.condition = query.condition.leavingOut(Set(changed.map(\.id)))
    return unchanged
  }
}
