import ConcordConnect

/// Removes rows that no subscription has any longer.
struct RowsLeaving {
  let model: Model
  let writing: any RowWriting
  /// Entities that stay, as those that pending actions name.
  var held: Set<EntityKey>
  /// Rows that a subscription or another row has lost.
  var candidates: [EntityKey] = []
  private let subscriptions: [String]

  init(model: Model, writing: any RowWriting, held: Set<EntityKey>) throws {
    (self.model, self.writing, self.held) = (model, writing, held)
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
  mutating func run() throws -> Set<EntityKey> {
    var removed: Set<EntityKey> = []
    // What keeps a row does not change meanwhile.
    var decided: Set<EntityKey> = []
    while let key = candidates.popLast() {
      guard decided.insert(key).inserted else { continue }
      guard let row = try writing.row(of: key) else {
        // The app's own code has removed it.
        try writing.setNote(nil, for: SyncNotes.row(key))
        continue
      }
      guard try writing.note(SyncNotes.row(key)) == "" else { continue }
      switch try keeper(of: key) {
      case .subscription: continue
      case .action:
        try writing.setNote("", for: NoteName(SyncNotes.lingering, key.noteName))
        continue
      case nil: break
      }
      try writing.delete(key)
      try writing.setNote(nil, for: SyncNotes.row(key))
      removed.insert(key)
      candidates += key.entity.referencedKeys(of: row, in: model)
    }
    return removed
  }

  private enum Keeper { case subscription, action }

  /// Looks for what keeps a row: itself, or a row that contains it at any depth.
  ///
  /// - Complexity: the number of rows that contain it, up to the first that is kept.
  private func keeper(of key: EntityKey) throws -> Keeper? {
    var seen: Set<EntityKey> = [key]
    var open = [key]
    var found: Keeper?
    while let key = open.popLast() {
      if held.contains(key) { found = .action }
      if try isRoot(key) { return .subscription }
      // The app's own code has put it there.
      if try writing.note(SyncNotes.row(key)) != "" { return .subscription }
      for entity in model.entities where entity.mayReferTo(key.entity) {
        for id in try writing.referrers(to: key, in: entity) {
          let referrer = EntityKey(entity, id)
          if seen.insert(referrer).inserted { open.append(referrer) }
        }
      }
    }
    return found
  }

  private func isRoot(_ key: EntityKey) throws -> Bool {
    let name = key.noteName
    return try subscriptions.contains { try writing.note(NoteName(SyncNotes.roots(of: $0), name)) != nil }
  }
}

extension EntityDescription {
  /// Whether its rows may refer to those of another type.
  package func mayReferTo(_ target: EntityDescription) -> Bool {
    columns.contains { $0.target == target.name }
      || collections.contains { $0.columns.contains { $0.target == target.name } }
  }
}
