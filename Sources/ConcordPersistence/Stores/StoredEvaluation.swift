import ConcordModel

/// A row that a condition is evaluated for.
package struct EvaluatedRow {
  let key: StoredValue
  let value: (Int) -> StoredValue
  let collection: (Int) throws -> StoredElements

  init(_ key: StoredValue, _ row: StoredRow) {
    self.key = key
    value = { row.values[$0] }
    collection = { row.collections[$0] }
  }

  package init(_ key: StoredValue, _ source: RowSource) {
    self.key = key
    value = { source.value(at: $0) }
    collection = { try source.collection($0) }
  }
}

/// Evaluates conditions in memory, with the results that a store gives.
package struct StoredEvaluation {
  /// The reading of referenced rows; `nil` where a condition depends on its row alone.
  private let reading: (any RowReading)?
  /// The row that is looked at, after those outside of it.
  private let rows: [EvaluatedRow]

  package init(_ row: EvaluatedRow, _ reading: (any RowReading)?) { self.init([row], reading) }

  private init(_ rows: [EvaluatedRow], _ reading: (any RowReading)?) {
    self.rows = rows
    self.reading = reading
  }

  private func value(_ column: StoredColumn) -> StoredValue {
    guard let row = rows.last else { return .null }
    return switch column {
    case .key: row.key
    case .position(let position): row.value(position)
    }
  }

  package func holds(_ condition: StoredCondition) throws -> Bool {
    switch condition {
    case .always(let isTrue): return isTrue
    case .isEqual(let column, let wanted): return StoredRelation.same.holds(value(column), wanted)
    case .isIn(let column, let wanted):
      let value = value(column)
      return wanted.contains(value) || wanted.contains { StoredRelation.same.holds(value, $0) }
    case .compares(let column, let comparison, let other): return comparison.holds(value(column), other)
    case .areEqual(let a, let b): return StoredRelation.same.holds(value(a), value(b))
    case .areOrdered(let a, let comparison, let b): return comparison.holds(value(a), value(b))
    case .relates(let a, let relation, let b): return relation.holds(try value(a), try value(b))
    case .hasElement(let index, let target, let condition): return try hasElement(index, target, condition)
    case .matches(let query, let positions): return query.matches(positions.map { value(.position($0)).text })
    case .not(let condition): return try !holds(condition)
    case .all(let conditions): return try conditions.allSatisfy { try holds($0) }
    case .any(let conditions): return try conditions.contains { try holds($0) }
    }
  }

  private func hasElement(_ index: Int, _ target: EntityDescription, _ condition: StoredCondition) throws -> Bool {
    let elements = try rows.last?.collection(index) ?? []
    for key in elements.column(elements.width - 1) {
      guard let row = try reading?.row(of: EntityKey(target, key)) else { continue }
      if try StoredEvaluation(rows + [EvaluatedRow(key, row)], reading).holds(condition) { return true }
    }
    return false
  }

  func value(_ expression: StoredExpression) throws -> StoredValue {
    switch expression {
    case .value(let value): return value
    case .column(let column): return value(column)
    case .outer(let expression): return try StoredEvaluation(rows.dropLast(), reading).value(expression)
    case .reference(let position, let target, let expression):
      let key = value(.position(position))
      guard !key.isNull, let row = try reading?.row(of: EntityKey(target, key)) else { return .null }
      return try StoredEvaluation(EvaluatedRow(key, row), reading).value(expression)
    case .coalesce(let a, let b):
      let first = try value(a)
      return first.isNull ? try value(b) : first
    case .choice(let condition, let a, let b): return try holds(condition) ? value(a) : value(b)
    case .truth(let condition): return .integer(try holds(condition) ? 1 : 0)
    case .characterCount(let expression):
      guard case .text(let text) = try value(expression) else { return .null }
      return .integer(Int64(text.count))
    case .arithmetic(let operation, let type, let a, let b):
      return try operation.result(try value(a), try value(b), type)
    }
  }
}

extension StoredEvaluation {
  private init(_ rows: ArraySlice<EvaluatedRow>, _ reading: (any RowReading)?) { self.init(Array(rows), reading) }
}
