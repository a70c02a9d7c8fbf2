import Concord
import ConcordModel

/// Takes the changes of a step back, as changes of a context that are not saved yet. What other saves have changed since stays.
final class RowReversal {
  private let core: ContextCore
  private(set) var conflicts: [UndoConflict] = []
  /// The entities that the part inserted and other saves have changed since, with those that it inserted and that refer to such. They stay where
  /// the step has put them.
  private var kept: Set<EntityKey> = []

  init(_ core: ContextCore) { self.core = core }

  /// Takes back the changes of one part of a step.
  func revert(_ part: [any UndoableChange]) throws {
    let changes = part.compactMap { $0 as? RowEdit }
    try keep(changes)
    try restore(changes)
    for change in changes { try update(change) }
    try remove(changes)
  }

  /// Reads rows with what is pending by now.
  private func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    try core.read(core.model.connected(with: entities), body)
  }

  private func keep(_ changes: [RowEdit]) throws {
    kept = []
    var inserted: [EntityKey: StoredRow] = [:]
    for change in changes where change.old == nil { inserted[change.key] = change.new }
    if inserted.isEmpty { return }
    kept = try read(Set(inserted.keys.map(\.entity))) { reading in
      var kept: Set<EntityKey> = []
      var referrers: [EntityKey: [EntityKey]] = [:]
      for (key, new) in inserted {
        guard let present = try reading.row(of: key) else { continue }
        if key.entity.properties.contains(where: { !$0.isSame(present, new) }) { kept.insert(key) }
        for inside in key.entity.referencedKeys(of: present, in: core.model) where inserted[inside] != nil {
          referrers[inside, default: []].append(key)
        }
      }
      var open = Array(kept)
      while let key = open.popLast() {
        for referrer in referrers[key] ?? [] where kept.insert(referrer).inserted { open.append(referrer) }
      }
      return kept
    }
  }

  private func report(_ reason: UndoConflict.Reason, _ property: String?, _ key: EntityKey) {
    func id<T: PersistentEntity>(_ type: T.Type) -> AnyHashable {
      (try? T.id(storedKey: key.id)).map { AnyHashable($0) } ?? AnyHashable("\(key.id)")
    }
    conflicts.append(UndoConflict(type: key.entity.type, id: id(key.entity.type), property: property, reason: reason))
  }

  private func put(_ row: StoredRow, _ key: EntityKey, base: PendingChange.Base) {
    var row = row
    row.stamp = core.parent.nextStamp(after: max(row.stamp, core.pending[key]?.stamp ?? row.stamp))
    core.put(row, key, base: base, isUnstamped: true)
  }

  // MARK: Removed rows

  /// Inserts rows that the step removed.
  private func restore(_ changes: [RowEdit]) throws {
    var restored: [(key: EntityKey, row: StoredRow)] = []
    for change in changes where change.new == nil {
      guard let old = change.old else { continue }
      let present = try read([change.key.entity]) { try $0.row(of: change.key) }
      if let present {
        if !present.holdsSame(as: old) { report(.storedSince, nil, change.key) }
      } else {
        restored.append((change.key, old))
      }
    }
    if restored.isEmpty { return }
    for (key, row) in restored { put(row, key, base: .unknown) }
    // What refers to an entity that another save has deleted since loses it, or is not there either.
    try core.reconcile(with: Set(restored.map(\.key.entity)))
    for (key, row) in restored {
      guard let present = try read([key.entity], { try $0.row(of: key) }) else {
        report(.notStored, nil, key)
        continue
      }
      for property in key.entity.properties where !property.isSame(row, present) {
        report(.notStored, property.name, key)
      }
    }
  }

  // MARK: Changed rows

  private func update(_ change: RowEdit) throws {
    guard let old = change.old, let new = change.new else { return }
    let key = change.key
    var problems: [(UndoConflict.Reason, String?)] = []
    let found: (present: StoredRow, result: StoredRow)? = try read([key.entity]) { reading in
      // A reading may be run again.
      problems = []
      guard let present = try reading.row(of: key) else {
        problems = [(.notStored, nil)]
        return nil
      }
      var result = present
      for property in key.entity.properties where !property.isSame(old, new) && !property.isSame(present, old) {
        if property.isSame(present, new), !wouldLose(property, of: present, becoming: old, key) {
          let missing = try missing(property, of: old, instead: present, key, reading)
          if missing.isEmpty {
            property.copy(from: old, to: &result)
            continue
          }
          problems.append((.notStored, property.name))
        } else if !property.hasElements(key.entity) {
          problems.append((.changedSince, property.name))
          continue
        }
        guard property.hasElements(key.entity) else { continue }
        let missing = try missing(property, of: old, instead: present, key, reading)
        let isWhole = property.revertElements(
          from: new, to: old, in: &result, key.entity, without: missing, keeping: kept, core.model)
        if !isWhole, !problems.contains(where: { $0.1 == property.name }) {
          problems.append((.changedSince, property.name))
        }
      }
      return (present, result)
    }
    for (reason, property) in problems { report(reason, property, key) }
    guard let (present, result) = found, !result.holdsSame(as: present) else { return }
    put(result, key, base: .row(present))
  }

  /// Whether a property of a row would no longer refer to an entity that stays where it is.
  private func wouldLose(
    _ property: PropertyRange, of present: StoredRow, becoming row: StoredRow, _ key: EntityKey
  ) -> Bool {
    if kept.isEmpty || property.targets.isEmpty { return false }
    var candidate = present
    property.copy(from: row, to: &candidate)
    return !kept.isDisjoint(
      with: key.entity.referencedKeys(of: present, differingFrom: candidate, in: core.model))
  }

  /// Returns the entities that a property of a row refers to and that are not stored.
  private func missing(
    _ property: PropertyRange, of row: StoredRow, instead present: StoredRow, _ key: EntityKey,
    _ reading: any RowReading
  ) throws -> Set<EntityKey> {
    if property.targets.isEmpty { return [] }
    var candidate = present
    property.copy(from: row, to: &candidate)
    let keys = key.entity.referencedKeys(of: candidate, differingFrom: present, in: core.model)
    return try keys.filter { try reading.withRow(of: $0, { _ in true }) == nil }
  }

  // MARK: Inserted rows

  /// Removes the rows that the step inserted.
  private func remove(_ changes: [RowEdit]) throws {
    var leaving: Set<EntityKey> = []
    for change in changes where change.old == nil {
      guard let new = change.new else { continue }
      guard let present = try read([change.key.entity], { try $0.row(of: change.key) }) else { continue }
      if let changed = change.key.entity.properties.first(where: { !$0.isSame(present, new) }) {
        report(.changedSince, changed.name, change.key)
      } else if kept.contains(change.key) {
        report(.changedSince, nil, change.key)
      } else {
        leaving.insert(change.key)
      }
    }
    if leaving.isEmpty { return }
    let entities = core.model.connected(with: Set(leaving.map(\.entity)))
    // Those that stay keep what they contain.
    while true {
      let staying = try read(entities) { reading in
        try leaving.filter { key in
          try entities.contains { entity in
            guard entity.targets.contains(where: { $0 == key.entity.type }) else { return false }
            return try reading.referrers(to: key, in: entity).contains { !leaving.contains(EntityKey(entity, $0)) }
          }
        }
      }
      if staying.isEmpty { break }
      for key in staying { report(.inUse, nil, key) }
      leaving.subtract(staying)
    }
    if leaving.isEmpty { return }
    try core.parent.read(entities) { base in
      try core.remove(leaving, base) { self.core.parent.nextStamp(after: $0) }
    }
  }
}
