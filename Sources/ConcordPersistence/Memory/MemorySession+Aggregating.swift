import ConcordModel

extension MemorySession: AggregatingReading {
  func aggregate(_ aggregation: RowAggregation) throws -> RowGroups? {
    var groups = RowGroups(aggregation)
    let rows = aggregation.rows
    for (key, row) in tables.rows[aggregation.entity] ?? [:] where try rows.holds(row, key: key, self) {
      try groups.add(key) { row.values[$0] }
    }
    return groups
  }

  func explain(_ aggregation: RowAggregation) -> (steps: [String], plan: QueryPlan)? {
    ([], plan(of: aggregation.rows))
  }

  func mayHaveIndexes(_ entity: EntityDescription) -> Bool { false }
}
