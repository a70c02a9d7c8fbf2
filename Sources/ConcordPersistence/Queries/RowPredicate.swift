package import ConcordModel
import Foundation

/// A predicate on the rows of a type, for whoever decides which rows it concerns.
package struct RowPredicate: Sendable {
  /// The type of the rows.
  package let entity: EntityDescription
  /// The condition that a store evaluates; the weakest that follows from the predicate if it cannot evaluate all of it.
  package let condition: StoredCondition
  /// Whether the predicate depends on nothing but the columns of the row, and a store can evaluate it.
  package let isOfColumns: Bool
  /// A text that is equal only for predicates that hold for the same rows, whatever the state of the store. The texts of such predicates may differ.
  package let fingerprint: String
  private let find: @Sendable (any RowReading, LeaveOut?) throws -> [StoredValue]

  /// A closure that receives the key of a row for which the predicate has no answer, and which is left out, and the error.
  package typealias LeaveOut = (StoredValue, any Error) -> Void

  /// Creates a predicate; `nil` stands for all rows.
  package init<T: PersistentEntity>(_ predicate: Predicate<T>?, in model: Model) throws {
    let entity = try model.entity(T.self)
    let plan = FetchPlan(FetchDescriptor<T>(predicate: predicate), entity, model)
    self.entity = entity
    condition = plan.condition
    isOfColumns = plan.isExact && plan.condition.isOfRow
    let isExact = plan.isExact
    var text = StructureText()
    text.add(entity.name)
    text.add(plan.condition)
    if !isExact, let predicate { text.add(predicate) }
    fingerprint = text.text
    find = { reading, leaveOut in
      if isExact {
        do { return try plan.keys(reading) } catch {
          guard let leaveOut, StoreError.isOfPredicate(error) else { throw error }
          return try plan.answeredKeys(reading, leaveOut)
        }
      }
      let found: FetchPlan<T>.Found
      do { found = try plan.load(reading, EntityLoader(reading, model: model)) } catch {
        guard let leaveOut, StoreError.isOfOneRow(error) else { throw error }
        return try plan.answeredEntities(reading, leaveOut)
      }
      guard let leaveOut else { return try plan.finish(found).map { try T.storedKey(of: $0.id) } }
      return try plan.answered(found, leaveOut)
    }
  }

  /// The types whose rows it looks at beside the row itself.
  package var otherEntities: Set<EntityDescription> { condition.otherEntities }

  /// Returns the keys of the rows that it holds for, in any order.
  package func keys(_ reading: any RowReading) throws -> [StoredValue] { try find(reading, nil) }

  /// Returns the keys of the rows that it holds for, in any order, without those for which it has no answer.
  package func keys(_ reading: any RowReading, leavingOut leaveOut: LeaveOut) throws -> [StoredValue] {
    try withoutActuallyEscaping(leaveOut) { try find(reading, $0) }
  }

  /// Whether the predicate holds for a row with these columns, if it depends on nothing else.
  package func holds(_ values: [StoredValue], key: StoredValue) throws -> Bool {
    let row = StoredRow(values: values, collections: [], stamp: 0)
    return try entity.evaluating { try StoredEvaluation(EvaluatedRow(key, row), nil).holds(condition) }
  }

  /// Whether the predicate holds for a row with these columns; it does not for a row for which it has no answer.
  package func holds(_ values: [StoredValue], key: StoredValue, leavingOut leaveOut: LeaveOut) throws -> Bool {
    do { return try holds(values, key: key) } catch {
      guard StoreError.isOfPredicate(error) else { throw error }
      leaveOut(key, error)
      return false
    }
  }

  /// A column that the predicate compares for equality, and the values, one of which it has where the predicate holds; `nil` if there is
  /// none. Texts are equal as Swift compares them.
  package var equality: (column: StoredColumn, values: Set<StoredValue>)? {
    condition.conjuncts.lazy.compactMap(\.equality).first
  }
}

extension FetchPlan {
  /// The keys of the rows that the store finds.
  fileprivate func keys(_ reading: any RowReading) throws -> [StoredValue] {
    var keys: [StoredValue] = []
    try entity.evaluating {
      try reading.rows(unordered) { key, _ in
        keys.append(key)
        return true
      }
    }
    return keys
  }

  /// Returns the keys row by row, without the rows for which the condition has no answer.
  fileprivate func answeredKeys(_ reading: any RowReading, _ leaveOut: RowPredicate.LeaveOut) throws -> [StoredValue] {
    var keys: [StoredValue] = []
    try evaluateRows(reading) { key, answer in
      switch answer {
      case .success(let holds): if holds { keys.append(key) }
      case .failure(let error): leaveOut(key, error)
      }
    }
    return keys
  }

  /// Evaluates the condition for each row of which its certain part holds, one by one. All other rows may be damaged, and concern nobody.
  private func evaluateRows(
    _ reading: any RowReading, _ body: (StoredValue, Result<Bool, any Error>) -> Void
  ) throws {
    let certain = RowQuery(entity, where: .all(condition.conjuncts.prefix { !$0.mayFail }))
    try reading.rows(certain) { key, source in
      let answer = Result {
        try entity.evaluating { try StoredEvaluation(EvaluatedRow(key, source), reading).holds(condition) }
      }
      if case .failure(let error) = answer, !StoreError.isOfPredicate(error) { throw error }
      body(key, answer)
      return true
    }
  }

  /// The keys of the entities for which the whole predicate holds, loaded one by one, without those that refer to a row that is not stored
  /// and those for which there is no answer.
  fileprivate func answeredEntities(
    _ reading: any RowReading, _ leaveOut: @escaping RowPredicate.LeaveOut
  ) throws -> [StoredValue] {
    var open: [StoredValue] = []
    // Where the store's part has no answer, the whole may have one.
    try evaluateRows(reading) { key, answer in if (try? answer.get()) ?? true { open.append(key) } }
    var keys: [StoredValue] = []
    var loader = EntityLoader(reading, model: model)
    for start in stride(from: 0, to: open.count, by: 1000) {
      let batch = open[start..<min(start + 1000, open.count)]
      try reading.prepare(batch.map { EntityKey(entity, $0) })
      for key in batch {
        do {
          guard let value = try loader.find(T.self, key: key) else { continue }
          keys += try answered(([value], false), leaveOut)
        } catch {
          guard StoreError.isDangling(error) else { throw error }
          leaveOut(key, error)
          // It may have loaded a part of it.
          loader = EntityLoader(reading, model: model)
        }
      }
    }
    return keys
  }

  /// The keys of those entities for which the whole predicate holds, without those for which it has no answer.
  fileprivate func answered(_ found: Found, _ leaveOut: @escaping RowPredicate.LeaveOut) throws -> [StoredValue] {
    try finish(found) { value, error in
      if let key = try? T.storedKey(of: value.id) { leaveOut(key, error) }
    }.map { try T.storedKey(of: $0.id) }
  }
}

extension StoreError {
  fileprivate static func isDangling(_ error: any Error) -> Bool {
    if case danglingReference = error { true } else { false }
  }

  /// Whether an error is about one row, which can be left out where the other rows are wanted.
  fileprivate static func isOfOneRow(_ error: any Error) -> Bool { isOfPredicate(error) || isDangling(error) }
}

extension StoredCondition {
  fileprivate var equality: (column: StoredColumn, values: Set<StoredValue>)? {
    switch self {
    case .isEqual(let column, let value): return (column, [value])
    case .isIn(let column, let values): return (column, values)
    case .relates(.column(let column), let relation, .value(let value)),
      .relates(.value(let value), let relation, .column(let column)):
      return relation == .same || relation == .sameText ? (column, [value]) : nil
    case .any(let parts):
      guard let first = parts.first?.equality else { return nil }
      return parts.dropFirst().reduce(first) { found, part in
        guard let found, let other = part.equality, other.column == found.column else { return nil }
        return (found.column, found.values.union(other.values))
      }
    default: return nil
    }
  }
}
