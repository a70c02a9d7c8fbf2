import ConcordConnect

/// Removes rows that no subscription has any longer.
struct RowsLeaving {
  let model: Model
  let writing: any RowWriting
  let notes: RowNotes
  /// Entities that stay, as those that pending actions name.
  var held: Set<EntityKey>
  /// Rows that a subscription or another row has lost.
  var candidates: [EntityKey] = []
  private let subscriptions: [String]

  init(model: Model, writing: any RowWriting, held: Set<EntityKey>) throws {
    (self.model, self.writing, self.held, notes) = (model, writing, held, RowNotes(writing, model))
    var found: [String] = []
    try writing.notes(in: SyncNotes.subscriptions, after: nil) { text, _ in
      found.append(text)
      return true
    }
    subscriptions = found
  }

  /// Adds the rows that stayed because of actions that were pending, those of a detached store when that is attached again.
  mutating func addLingering() throws {
    var names: [String] = []
    try writing.notes(in: SyncNotes.lingering, after: nil) { name, _ in
      let key = EntityKey(noteName: name, in: model)
      if let key, !notes.hasStore(of: key.entity) { return true }
      names.append(name)
      if let key { candidates.append(key) }
      return true
    }
    for name in names { try writing.setNote(nil, for: NoteName(SyncNotes.lingering, name)) }
  }

  /// Removes the rows that stay for pending actions only, and have a unique value of another row or contain one that has.
  ///
  /// - Parameter needed: entities that stay all the same.
  /// - Returns: the keys of the removed rows.
  /// - Complexity: the number of the rows inside of each entity that pending actions name.
  mutating func makeWay(
    for row: StoredRow, _ entity: EntityDescription, keeping needed: Set<EntityKey>
  ) throws -> Set<EntityKey> {
    let unique = entity.columns.indices.filter { entity.columns[$0].isUnique }.compactMap { index in
      entity.columns[index].coding.key(of: row.values[index]).map { (index, $0) }
    }
    let all = held
    defer { held = all }
    for key in all.subtracting(needed) {
      let found = try inside(key).filter { other, row in
        other.entity == entity && unique.contains { entity.columns[$0].coding.key(of: row.values[$0]) == $1 }
      }
      if found.isEmpty { continue }
      held.remove(key)
      candidates += found.map(\.key) + [key]
    }
    return try run()
  }

  /// Returns a row, and those that it contains at any depth, as far as they are stored.
  private func inside(_ key: EntityKey) throws -> [KeyedRow] {
    var (open, seen, rows): ([EntityKey], Set<EntityKey>, [KeyedRow]) = ([key], [key], [])
    while let key = open.popLast() {
      guard notes.hasStore(of: key.entity), let row = try writing.row(of: key) else { continue }
      rows.append((key, row))
      open += key.entity.referencedKeys(of: row, in: model).filter { seen.insert($0).inserted }
    }
    return rows
  }

  /// Removes the candidates that nothing keeps, and what they alone contained.
  ///
  /// - Returns: the keys of the removed rows.
  /// - Complexity: the number of the candidates, of what is removed, and of the rows that contain them, each of which is visited once.
  mutating func run() throws -> Set<EntityKey> {
    var removed: Set<EntityKey> = []
    var isAnyDetached = false
    // What keeps a row does not change meanwhile: nothing keeps what is removed.
    var decided: Set<EntityKey> = []
    var keepers = RowKeepers(model: model, notes: notes, held: held, subscriptions: subscriptions)
    while let key = candidates.popLast() {
      guard decided.insert(key).inserted else { continue }
      guard notes.hasStore(of: key.entity) else {
        // The mark lets all rows there be looked at when the store is attached again.
        isAnyDetached = true
        continue
      }
      guard let row = try writing.row(of: key) else {
        // The app's own code has removed it.
        try notes.set(nil, of: key)
        continue
      }
      guard try notes.note(of: key) == "" else { continue }
      switch try keepers.keeper(of: key) {
      case .subscription: continue
      case .action:
        try writing.setNote("", for: NoteName(SyncNotes.lingering, key.noteName))
        continue
      case .nothing: break
      }
      try writing.delete(key)
      try notes.set(nil, of: key)
      removed.insert(key)
      candidates += key.entity.referencedKeys(of: row, in: model)
    }
    if !removed.isEmpty || isAnyDetached { try notes.mark(Set(removed.map(\.entity))) }
    return removed
  }
}

extension EntityDescription {
  /// Whether its rows may refer to those of another type.
  package func mayReferTo(_ target: EntityDescription) -> Bool {
    columns.contains { $0.target == target.name }
      || collections.contains { $0.columns.contains { $0.target == target.name } }
  }
}
