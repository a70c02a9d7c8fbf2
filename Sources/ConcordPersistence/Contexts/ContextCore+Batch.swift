import Concord
import ConcordModel

extension ContextCore {
  /// Changes all entities that a predicate finds; all of them, or none if it throws.
  func update<T: PersistentEntity>(
    _ type: T.Type, where predicate: Predicate<T>?, _ stamp: Stamp?, _ body: (inout T) throws -> Void
  ) throws -> Int {
    let entity = try model.entity(type)
    let found = try load(predicate, entity)
    let before = pending
    do {
      var count = 0
      // What was read stays current as long as each step changes nothing but its entity, which no other one contains.
      var isCurrent = true
      for (value, key, row) in found {
        let (revision, ownStamp) = (pending.revision, pending[key]?.stamp)
        let isTaken =
          isCurrent ? try update(value, key, row, stamp, nil, body) : try update(type, value.id, stamp, body)
        if isTaken { count += 1 }
        if pending.revision == revision { continue }
        let isOwnOnly = pending.revision == revision + 1 && pending[key]?.stamp != ownStamp
        if !isOwnOnly || model.isRecursive(entity) { isCurrent = false }
      }
      return count
    } catch {
      let changed = Array(pending.keys)
      pending = before
      // A view may have shown some of it, if the closure has used the view.
      pending.noteTouched(changed)
      throw error
    }
  }

  /// The entities that a predicate finds, with their rows in the same state.
  private func load<T: PersistentEntity>(
    _ predicate: Predicate<T>?, _ entity: EntityDescription
  ) throws -> [(value: T, key: EntityKey, row: StoredRow)] {
    let plan = FetchPlan(FetchDescriptor<T>(predicate: predicate), entity, model)
    let found = try read(entity) { reading in
      reading.mayReadAgain()
      let values = try plan.load(reading, EntityLoader(reading, model: model)).values
      let keys = try values.map { EntityKey(entity, try T.storedKey(of: $0.id)) }
      try reading.prepare(keys)
      return try zip(values, keys).compactMap { value, key in
        try reading.row(of: key).map { (value: value, key: key, row: $0) }
      }
    }
    // Outside of the reading, since a computed property is the user's code.
    guard !plan.isExact, let predicate else { return found }
    let checked = CheckedPredicate(predicate)
    return try found.filter { try checked.holds($0.value) }
  }

  /// Deletes all entities that a predicate finds; all of them, or none if it throws.
  func delete<T: PersistentEntity>(_ type: T.Type, where predicate: Predicate<T>?, _ stamp: Stamp?) throws -> Int {
    let entity = try model.entity(type)
    let rows = try RowPredicate(predicate, in: model)
    return try read(model.connected(with: [entity])) { reading in
      let base = (reading as? PendingReading)?.base ?? reading
      var keys = try rows.keys(reading).map { EntityKey(entity, $0) }
      if let stamp {
        try reading.prepare(keys)
        keys = try keys.filter { stamp > (try reading.row(of: $0)?.stamp ?? -.infinity) }
      }
      try remove(Set(keys), base) { last in stamp.map { max($0, last) } ?? self.parent.nextStamp(after: last) }
      for key in keys { if let stamp { noteDeletion(key, stamp) } }
      return keys.count
    }
  }
}
