import ConcordModel

extension PendingReading: AggregatingReading {
  func aggregate(_ aggregation: RowAggregation) throws -> RowGroups? {
    guard let unchanged = unchanged(aggregation) else { return nil }
    var groups = RowGroups(aggregation)
    groups.merge(try base.aggregated(unchanged))
    for key in changedKeys(aggregation.entity) {
      guard let row = try row(of: key), try aggregation.rows.holds(row, key: key.id, self) else { continue }
      try groups.add(key.id) { row.values[$0] }
    }
    return groups
  }

  func explain(_ aggregation: RowAggregation) throws -> (steps: [String], plan: QueryPlan)? {
    guard let unchanged = unchanged(aggregation), let reading = base as? any AggregatingReading,
      var found = try reading.explain(unchanged)
    else { return nil }
    let changed = changedKeys(aggregation.entity).count
    if changed > 0 { found.steps.append("\(Self.unsaved(changed)) added to these") }
    return found
  }

  func mayHaveIndexes(_ entity: EntityDescription) throws -> Bool {
    try (base as? any AggregatingReading)?.mayHaveIndexes(entity) ?? false
  }

  /// Without the rows that are changed; `nil` if the store cannot tell which those are.
  private func unchanged(_ aggregation: RowAggregation) -> RowAggregation? {
    if aggregation.condition.otherEntities.contains(where: pending.mayChange) { return nil }
    let changed = changedKeys(aggregation.entity)
    if changed.isEmpty { return aggregation }
    guard changed.count <= Self.mostLeftOut else { return nil }
    var unchanged = aggregation
    unchanged.condition = aggregation.condition.leavingOut(Set(changed.map(\.id)))
    return unchanged
  }
}
