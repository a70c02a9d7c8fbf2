import Concord
import ConcordModel
import Foundation

/// The removal of the rows of a type that a rule does not keep, and that nothing needs.
struct Purge<T: PersistentEntity> {
  let retention: Retention<T>
  let entity: EntityDescription
  let model: Model
  /// The times at which entities were found last.
  let uses: [StoredValue: TimeInterval]
  /// The entities that are pending.
  let pending: Set<EntityKey>
  /// Finds those of some entities that something contains of which the model, or its stores, know nothing.
  let containedElsewhere: (Set<EntityKey>) throws -> Set<EntityKey>
  let isObserved: (EntityKey) -> Bool
  /// A closure that receives the observed entities, where the rule asks when entities were used; `nil` if nobody wants to know.
  let noteObserved: ((StoredValue) -> Void)?
  /// The entities that the rule does not keep, with their stamps, where it had to be evaluated in memory; `nil` if stores evaluate it.
  let refused: [StoredValue: Stamp]?

  /// Removes the rows.
  ///
  /// - Returns: the keys of the removed entities, and of those that are left because they are pending.
  func run(_ writing: any RowWriting) throws -> (removed: Set<EntityKey>, pending: Set<EntityKey>) {
    let all = try Set(candidates(writing).lazy.map { EntityKey(entity, $0) })
    var going = all.filter { !pending.contains($0) && !isObserved($0) }
    try keepContained(in: &going, writing)
    // No stamp: that they were deleted is not remembered, so that they can come again as they were.
    // In the order in which a file has them, so that it reads and writes each of its pages once.
    for key in going.sorted(by: { StoredValue.precedes($0.id, $1.id) }) { try writing.delete(key) }
    return (going, all.intersection(pending))
  }

  /// The keys of the rows that the rule does not keep.
  private func candidates(_ reading: any RowReading) throws -> [StoredValue] {
    switch retention.rule {
    case .atMost(let count):
      let rows = try rowsByUse(reading)
      if rows.count <= count { return [] }
      let sorted = rows.sorted { $0.use != $1.use ? $0.use > $1.use : StoredValue.precedes($0.key, $1.key) }
      return sorted.dropFirst(count).map(\.key)
    case .usedWithin(let time):
      let first = Date().timeIntervalSinceReferenceDate - time
      return try rowsByUse(reading).filter { $0.use < first }.map(\.key)
    case .matching(let predicate):
      if let refused {
        // What has changed since then stays until the next time.
        return try refused.filter { key, stamp in
          try reading.withRow(of: EntityKey(entity, key)) { $0.stamp } == stamp
        }.map(\.key)
      }
      var found: [StoredValue] = []
      let plan = FetchPlan(FetchDescriptor(predicate: predicate), entity, model)
      try reading.rows(RowQuery(entity, where: .not(plan.condition))) { key, _ in
        found.append(key)
        return true
      }
      return found
    }
  }

  private func rowsByUse(_ reading: any RowReading) throws -> [(key: StoredValue, use: TimeInterval)] {
    var rows: [(key: StoredValue, use: TimeInterval)] = []
    try reading.rows(RowQuery(entity)) { key, source in
      rows.append((key, max(source.stamp, uses[key] ?? -.infinity)))
      if let noteObserved, isObserved(EntityKey(entity, key)) { noteObserved(key) }
      return true
    }
    return rows
  }

  /// Leaves what stands in something that stays.
  private func keepContained(in going: inout Set<EntityKey>, _ reading: any RowReading) throws {
    let owners = model.entities.filter { owner in owner.targets.contains { $0 == entity.type } }
    let elsewhere = try containedElsewhere(going)
    var staying: [EntityKey] = []
    for key in going {
      if try elsewhere.contains(key)
        || owners.contains(where: { try isContained(key, in: $0, besides: going, reading) })
      {
        staying.append(key)
      }
    }
    while let key = staying.popLast() {
      going.remove(key)
      guard let row = try reading.row(of: key) else { continue }
      staying += entity.referencedKeys(of: row, in: model).filter(going.contains)
    }
  }

  private func isContained(
    _ key: EntityKey, in owner: EntityDescription, besides going: Set<EntityKey>, _ reading: any RowReading
  ) throws -> Bool {
    try reading.referrers(to: key, in: owner).contains { !going.contains(EntityKey(owner, $0)) }
  }
}
