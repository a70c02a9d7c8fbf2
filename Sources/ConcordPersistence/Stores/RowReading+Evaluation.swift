import ConcordModel

extension RowReading {
  /// Returns the rows of a query whose condition concerns rows that the store does not have, or has in another version:
  /// the store evaluates the condition's parts on the row alone, this function the rest.
  func rowsEvaluated(
    _ query: RowQuery, _ store: any RowReading, _ body: (StoredValue, RowSource) throws -> Bool
  ) throws {
    var toSkip = query.start
    var remaining = query.maximum
    guard remaining > 0 else { return }
    try store.rows(query.wider) { key, source in
      guard try StoredEvaluation(EvaluatedRow(key, source), self).holds(query.condition) else { return true }
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      remaining -= 1
      return try body(key, source) && remaining > 0
    }
  }

  /// Returns the number of rows of a query.
  func countEvaluated(_ query: RowQuery) throws -> Int {
    var count = 0
    try rows(query) { _, _ in
      count += 1
      return true
    }
    return count
  }
}

extension RowQuery {
  /// The query for all rows that fulfil the condition's parts on the row alone.
  var wider: RowQuery { RowQuery(entity, where: condition.ofRow, order: order) }
}
