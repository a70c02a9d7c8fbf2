package import Concord
package import ConcordModel

/// A number or a value that is computed of many rows.
package enum RowMeasure: Sendable, Hashable {
  /// The number of rows.
  case count
  /// The sum and the number of the whole numbers at a position, all of which are within bounds.
  case integers(Int, within: ClosedRange<Int64>)
  /// The sum and the number of the numbers with a fraction at a position.
  case reals(Int)
  /// The least value at a position that is neither `null` nor NaN.
  case least(Int)
  /// The greatest value at a position that is neither `null` nor NaN.
  case greatest(Int)

  /// The position of a value that is one of the rows' own, and whether it is the least or the greatest.
  package var extreme: (position: Int, isLeast: Bool)? {
    switch self {
    case .least(let position): (position, true)
    case .greatest(let position): (position, false)
    default: nil
    }
  }
}

/// A computation over the rows that fulfil a condition, over all of them or over each group.
package struct RowAggregation: Sendable {
  package let entity: EntityDescription
  package var condition: StoredCondition
  /// The position of the value that the rows of a group have in common; `nil` if all rows are one group.
  package let group: Int?
  package let measures: [RowMeasure]

  package init(
    _ entity: EntityDescription, where condition: StoredCondition, by group: Int?, _ measures: [RowMeasure]
  ) {
    (self.entity, self.condition, self.group, self.measures) = (entity, condition, group, measures)
  }

  /// The query for the rows.
  package var rows: RowQuery { RowQuery(entity, where: condition) }

  /// The query for the row with the least or the greatest value at a position.
  package func row(withExtremeAt position: Int, isLeast: Bool) -> RowQuery {
    let column = StoredColumn.position(position)
    let isText = entity.columns[position].comparison == .text
    var parts = condition.conjuncts.filter { $0 != .always(true) }
    // Conditions that an index tells: otherwise all `null` would be looked through, which are in front.
    switch entity.columns[position].storageClass {
    // Behind the numbers are the bits of -0.0 and NaN.
    case .real: parts.append(.compares(column, .less, .blob(.init())))
    case .integer: parts.append(.compares(column, .greaterOrEqual, .integer(.min)))
    case .text: parts.append(.compares(column, .greaterOrEqual, .text("")))
    default: parts.append(.not(.isEqual(column, .null)))
    }
    return RowQuery(
      entity, where: parts.count == 1 ? parts[0] : .all(parts),
      order: [StoredOrder(column, isAscending: isLeast, collation: isText ? .lexical : .binary)], limit: 1)
  }

  /// The query for the rows with bits instead of a number at a position, which are few.
  package func rows(withBitsAt position: Int) -> RowQuery {
    let areBits = StoredCondition.compares(.position(position), .greaterOrEqual, .blob(.init()))
    return RowQuery(entity, where: .all(condition.conjuncts.filter { $0 != .always(true) } + [areBits]))
  }
}

/// A measure of some rows. Measures of different rows can be merged.
package enum MeasuredValue: Sendable {
  case count(Int)
  case integers(sum: Int128, count: Int)
  case reals(ExactSum, count: Int)
  /// `null` if there is none.
  case extreme(StoredValue)

  /// Creates the measure of no rows.
  package init(_ measure: RowMeasure) {
    self =
      switch measure {
      case .count: .count(0)
      case .integers: .integers(sum: 0, count: 0)
      case .reals: .reals(ExactSum(), count: 0)
      case .least, .greatest: .extreme(.null)
      }
  }
}

extension RowAggregation {
  /// Takes what was measured of further rows.
  package func merge(_ others: [MeasuredValue], into values: inout [MeasuredValue]) {
    for (index, measure) in measures.enumerated() {
      switch (values[index], others[index]) {
      case (.count(let a), .count(let b)): values[index] = .count(a + b)
      case (.integers(let a, let count), .integers(let b, let otherCount)):
        values[index] = .integers(sum: a &+ b, count: count + otherCount)
      case (.reals(var sum, let count), .reals(let other, let otherCount)):
        sum.add(other)
        values[index] = .reals(sum, count: count + otherCount)
      case (.extreme(let a), .extreme(let b)): values[index] = .extreme(extreme(measure, a, b))
      default: break
      }
    }
  }

  /// Takes a row.
  ///
  /// - Throws: ``/ConcordModel/StoreError/unreadableColumn(entity:id:column:reason:)`` where a number is to stand, and none does.
  package func add(_ key: StoredValue, _ value: (Int) -> StoredValue, to values: inout [MeasuredValue]) throws {
    for (index, measure) in measures.enumerated() {
      switch (measure, values[index]) {
      case (.count, .count(let count)): values[index] = .count(count + 1)
      case (.integers(let position, let bounds), .integers(let sum, let count)):
        let stored = value(position)
        if stored.isNull { continue }
        guard case .integer(let number) = stored, bounds.contains(number) else {
          throw unreadable(stored, position, key)
        }
        values[index] = .integers(sum: sum &+ Int128(number), count: count + 1)
      case (.reals(let position), .reals(var sum, let count)):
        let stored = value(position)
        if stored.isNull { continue }
        guard let number = stored.number else { throw unreadable(stored, position, key) }
        // The place is emptied, so that the sum is not copied.
        values[index] = .count(0)
        sum.add(number)
        values[index] = .reals(sum, count: count + 1)
      case (.least(let position), .extreme(let known)), (.greatest(let position), .extreme(let known)):
        values[index] = .extreme(extreme(measure, known, value(position)))
      default: break
      }
    }
  }

  private func unreadable(_ value: StoredValue, _ position: Int, _ key: StoredValue) -> StoreError {
    .unreadableColumn(
      entity: entity.name, id: "\(key)", column: entity.columns[position].name,
      reason: "\(value) is no number of its type")
  }

  private func extreme(_ measure: RowMeasure, _ a: StoredValue, _ b: StoredValue) -> StoredValue {
    guard let (position, isLeast) = measure.extreme else { return a }
    let (a, b) = (comparable(a, position), comparable(b, position))
    if a.isNull || b.isNull { return a.isNull ? b : a }
    return precedes(b, a) == isLeast && (isLeast || precedes(a, b)) ? b : a
  }

  /// A value as it is compared: `null` for NaN, 0.0 for -0.0.
  private func comparable(_ value: StoredValue, _ position: Int) -> StoredValue {
    guard entity.columns[position].isReal, let number = value.number else { return value }
    return number.isNaN ? .null : .real(number == 0 ? 0 : number)
  }

  private func precedes(_ a: StoredValue, _ b: StoredValue) -> Bool {
    if case .text(let a) = a, case .text(let b) = b { return TextOrder.compare(a, b) < 0 }
    return StoredValue.precedes(a, b)
  }
}
