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

  /// Adds the rows that stayed because of actions that were pending.
  mutating func addLingering() throws {
    try writing.notes(in: SyncNotes.lingering, after: nil) { name, _ in
      if let key = EntityKey(noteName: name, in: model) { candidates.append(key) }
      return true
    }
    try writing.clearNotes(in: SyncNotes.lingering)
  }

  /// Removes the rows that stay for pending actions only, and have a unique value of another row.
  mutating func removeLingering(inTheWayOf row: StoredRow, _ entity: EntityDescription) throws -> Set<EntityKey> {
    let unique = entity.columns.indices.filter { entity.columns[$0].isUnique && !row.values[$0].isNull }
    var lingering: [EntityKey] = []
    try writing.notes(in: SyncNotes.lingering, after: nil) { name, _ in
      if let key = EntityKey(noteName: name, in: model), key.entity == entity { lingering.append(key) }
      return true
    }
    candidates += try lingering.filter { key in
      let other = try writing.row(of: key)
      return unique.contains { other?.values[$0] == row.values[$0] }
    }
    return try run()
  }

  /// Removes the candidates that nothing keeps, and what they alone contained.
  ///
  /// - Returns: the keys of the removed rows.
  /// - Complexity: the number of the candidates, of what is removed, and of the rows that contain them, each of which is visited once.
  mutating func run() throws -> Set<EntityKey> {
    var removed: Set<EntityKey> = []
    // What keeps a row does not change meanwhile: nothing keeps what is removed.
    var decided: Set<EntityKey> = []
    var keepers = RowKeepers(model: model, notes: notes, held: held, subscriptions: subscriptions)
    while let key = candidates.popLast() {
      guard decided.insert(key).inserted else { continue }
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
    if !removed.isEmpty { try notes.mark(Set(removed.map(\.entity))) }
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
