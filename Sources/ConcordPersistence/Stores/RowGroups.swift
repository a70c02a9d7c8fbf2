package import ConcordModel

/// The measures of groups of rows, by the value that the rows of each have in common.
package struct RowGroups: Sendable {
  package let aggregation: RowAggregation
  package private(set) var values: [StoredValue: [MeasuredValue]] = [:]

  package init(_ aggregation: RowAggregation) { self.aggregation = aggregation }

  /// A value that is the same for all that are equal: of texts the composed form, of numbers one NaN and one 0.
  package static func key(_ value: StoredValue, isReal: Bool) -> StoredValue {
    if case .text(let text) = value { return .text(text.canonicallyComposed) }
    guard isReal, let number = value.number else { return value }
    return number.isNaN ? Double.nan.storedValue : .real(number == 0 ? 0 : number)
  }

  private func key(_ value: StoredValue) -> StoredValue {
    Self.key(value, isReal: aggregation.group.map { aggregation.entity.columns[$0].isReal } ?? false)
  }

  /// Takes what was measured of rows of a group.
  package mutating func merge(_ others: [MeasuredValue], for group: StoredValue) {
    aggregation.merge(others, into: &values[key(group), default: aggregation.measures.map { MeasuredValue($0) }])
  }

  package mutating func merge(_ other: RowGroups) {
    for (group, others) in other.values { merge(others, for: group) }
  }

  /// Takes a row.
  package mutating func add(_ key: StoredValue, _ value: (Int) -> StoredValue) throws {
    let group = aggregation.group.map { self.key(value($0)) } ?? .null
    try aggregation.add(key, value, to: &values[group, default: aggregation.measures.map { MeasuredValue($0) }])
  }
}

/// A reading of a store that computes of rows without passing each of them.
package protocol AggregatingReading: RowReading {
  /// Measures the rows of each group; `nil` if the store cannot, so that the rows are read.
  func aggregate(_ aggregation: RowAggregation) throws -> RowGroups?

  /// The steps of that, and the plan; `nil` if the store cannot.
  func explain(_ aggregation: RowAggregation) throws -> (steps: [String], plan: QueryPlan)?

  /// Whether an index may tell the first row of an order, which is then better read than all rows are looked through.
  func mayHaveIndexes(_ entity: EntityDescription) throws -> Bool
}

extension RowReading {
  /// Measures the rows of each group.
  package func aggregated(_ aggregation: RowAggregation) throws -> RowGroups {
    guard aggregation.group == nil, aggregation.measures.contains(where: { $0.extreme != nil }),
      try (self as? any AggregatingReading)?.mayHaveIndexes(aggregation.entity) == true
    else { return try aggregatedAtOnce(aggregation) }
    let others = aggregation.others
    var found = try others.measures.isEmpty ? [] : aggregatedAtOnce(others).whole
    let values = try aggregation.measures.map { measure in
      guard let (position, isLeast) = measure.extreme else { return found.removeFirst() }
      return .extreme(try extreme(at: position, isLeast: isLeast, measure, aggregation))
    }
    var groups = RowGroups(aggregation)
    groups.merge(values, for: .null)
    return groups
  }

  private func aggregatedAtOnce(_ aggregation: RowAggregation) throws -> RowGroups {
    if let groups = try (self as? any AggregatingReading)?.aggregate(aggregation) { return groups }
    var groups = RowGroups(aggregation)
    try rows(aggregation.rows) { key, source in
      try groups.add(key) { source.value(at: $0) }
      return true
    }
    return groups
  }

  /// The value of the first row in the order of a column, or of one of the few whose numbers are kept as bits.
  private func extreme(
    at position: Int, isLeast: Bool, _ measure: RowMeasure, _ aggregation: RowAggregation
  ) throws -> StoredValue {
    let single = RowAggregation(aggregation.entity, where: aggregation.condition, by: nil, [measure])
    var groups = RowGroups(single)
    let isReal = aggregation.entity.columns[position].isReal
    for query in [aggregation.row(withExtremeAt: position, isLeast: isLeast)]
      + (isReal ? [aggregation.rows(withBitsAt: position)] : [])
    {
      try rows(query) { key, source in
        try groups.add(key) { source.value(at: $0) }
        return true
      }
    }
    guard case .extreme(let value)? = groups.whole.first else { return .null }
    return value
  }

  /// Explains how the rows of each group are measured. `isInStore` tells whether no rows are read for it but those with the wanted values.
  package func explained(
    _ aggregation: RowAggregation
  ) throws -> (isInStore: Bool, steps: [String], plan: QueryPlan) {
    let reading = self as? any AggregatingReading
    var queries: [RowQuery] = []
    var rest: RowAggregation? = aggregation
    if aggregation.group == nil, try reading?.mayHaveIndexes(aggregation.entity) == true {
      queries = aggregation.measures.compactMap(\.extreme).map {
        aggregation.row(withExtremeAt: $0.position, isLeast: $0.isLeast)
      }
      rest = aggregation.others.measures.isEmpty && !queries.isEmpty ? nil : aggregation.others
    }
    var (isInStore, steps, plan) = (true, [String](), QueryPlan())
    if let rest {
      if let found = try reading?.explain(rest) {
        (steps, plan) = found
      } else {
        (isInStore, steps, plan) = (false, try self.steps(of: rest.rows), try self.plan(of: rest.rows))
      }
    }
    for query in queries {
      steps += try self.steps(of: query)
      plan.add(try self.plan(of: query))
    }
    return (isInStore, steps, plan)
  }
}

extension RowAggregation {
  /// The aggregation without the least and the greatest values.
  fileprivate var others: RowAggregation {
    RowAggregation(entity, where: condition, by: group, measures.filter { $0.extreme == nil })
  }
}

extension RowGroups {
  /// The measures of all rows, which are one group.
  package var whole: [MeasuredValue] { values[.null] ?? aggregation.measures.map { MeasuredValue($0) } }
}
