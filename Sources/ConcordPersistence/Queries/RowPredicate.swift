package import ConcordModel
package import Foundation

/// A predicate on the rows of a type, for whoever decides which rows it concerns.
package struct RowPredicate: Sendable {
  /// The type of the rows.
  package let entity: EntityDescription
  /// The condition that a store evaluates; the weakest that follows from the predicate if it cannot evaluate all of it.
  package let condition: StoredCondition
  /// Whether the predicate depends on nothing but the columns of the row, and a store can evaluate it.
  package let isOfColumns: Bool
  private let find: @Sendable (any RowReading) throws -> [StoredValue]

  /// Creates a predicate; `nil` stands for all rows.
  package init<T: PersistentEntity>(_ predicate: Predicate<T>?, in model: Model) throws {
    let entity = try model.entity(T.self)
    let plan = FetchPlan(FetchDescriptor<T>(predicate: predicate), entity, model)
    self.entity = entity
    condition = plan.condition
    isOfColumns = plan.isExact && plan.condition.isOfRow
    let isExact = plan.isExact
    find = { reading in
      var keys: [StoredValue] = []
      if isExact {
        try reading.rows(plan.unordered) { key, _ in
          keys.append(key)
          return true
        }
      } else {
        for value in try plan.finish(plan.load(reading, EntityLoader(reading, model: model))) {
          keys.append(try T.storedKey(of: value.id))
        }
      }
      return keys
    }
  }

  /// Returns the keys of the rows that it holds for, in any order.
  package func keys(_ reading: any RowReading) throws -> [StoredValue] { try find(reading) }

  /// Whether it holds for a row with these columns, if it depends on nothing else.
  package func holds(_ values: [StoredValue], key: StoredValue) throws -> Bool {
    let row = StoredRow(values: values, collections: [], stamp: 0)
    return try StoredEvaluation(EvaluatedRow(key, row), nil).holds(condition)
  }

  /// A column that the predicate compares for equality, and the value; `nil` if there is none.
  package var equality: (position: Int, value: StoredValue)? {
    for part in condition.conjuncts {
      if case .isEqual(.position(let position), let value) = part { return (position, value) }
    }
    return nil
  }
}
