import ConcordModel

/// The writing of a context's changes, merged with changes that other contexts have stored meanwhile.
struct SaveOperation {
  let model: Model
  let changes: PendingChanges
  let policy: MergePolicy
  let writing: any RowWriting
  /// The parent, whose clock gives the stamps.
  let parent: any ContextParent
  /// The collectors of removed entities.
  var collectors: [CollectedRemovals] = []
  /// The rows that were stored as the context had read them, and that it has replaced.
  let replaced = ReplacedRows()

  func run() throws {
    var removed: [EntityKey] = []
    /// The changes that need a unique value of another row, which may give it up in the same save.
    var waiting: [PendingChanges.Entry] = []
    for entry in changes.all {
      let (key, change) = (entry.key, entry.change)
      if let row = change.row {
        do { try save(row, change, key) } catch StoreError.notUnique { waiting.append(entry) }
      } else if try isToBeRemoved(change, key) {
        removed.append(key)
      }
    }
    if !waiting.isEmpty { try save(waiting, afterRemoving: removed) }
    // Rows written since the context looked may refer to it.
    if !removed.isEmpty { try removal.remove(removed) }
    try checkReferences()
  }

  /// Saves the changes that failed for want of a unique value, after all others.
  private func save(_ waiting: [PendingChanges.Entry], afterRemoving removed: [EntityKey]) throws {
    // What refers to them is changed afterwards.
    for key in removed { try delete(key) }
    let parked = try ParkedWriting(writing, parking: waiting.map(\.key))
    let operation = SaveOperation(
      model: model, changes: changes, policy: policy, writing: parked, parent: parent, collectors: collectors)
    for entry in waiting { if let row = entry.change.row { try operation.save(row, entry.change, entry.key) } }
    try parked.putBack()
  }

  private func save(_ row: StoredRow, _ change: PendingChange, _ key: EntityKey) throws {
    let policy = change.policy ?? policy
    var row = row
    row.stamp = change.stamp
    guard let base = change.baseRow else {
      if policy == .byStamp { return try insertOrReplaceOlder(row, change, key) }
      if try writing.insert(row, for: key) { return }
      guard let stored = try writing.row(of: key) else { return }
      return try replace(stored, with: row, change, policy, key)
    }
    // A property that was set back is the same in both rows, but an earlier save may have stored another value: then the
    // stored row is compared as a whole.
    let isCompared = !change.setBack.isEmpty || change.isInsertedAgain
    if try isCompared ? writing.replaceComparing(row, base, key) : writing.replace(row, ifSameAs: base, for: key) {
      replaced.keys.insert(key)
      return
    }
    guard let stored = try writing.row(of: key) else {
      if change.isInsertedAgain { _ = try writing.insert(row, for: key) } else { try saveRemoved(row, policy, key) }
      return
    }
    try merge(row, change, base, stored, policy, key)
  }

  /// Inserts a row, in place of one with an older stamp.
  private func insertOrReplaceOlder(_ row: StoredRow, _ change: PendingChange, _ key: EntityKey) throws {
    if try writing.insertOrReplaceOlder(row, for: key) || !change.isUnstamped { return }
    // The stored row is newer. If its stamp is ahead of the clock, it was written while a clock was wrong; if both
    // stamps are equal, they come from two clocks.
    guard let stored = try writing.row(of: key), stored.stamp == row.stamp || parent.isAhead(stored.stamp) else {
      return
    }
    var row = row
    row.stamp = parent.nextStamp(after: stored.stamp)
    try writing.update(row, replacing: stored, for: key)
  }

  /// An entity that is inserted and is there already.
  private func replace(
    _ stored: StoredRow, with row: StoredRow, _ change: PendingChange, _ policy: MergePolicy, _ key: EntityKey
  ) throws {
    switch policy {
    case .storeTrump: return
    // The stamps decide before it comes to this.
    case .byStamp, .objectTrump: break
    case .error:
      // What stands in something that is inserted says nothing new if it is as it is stored.
      if change.isNested, row.holdsSame(as: stored) { break }
      let different = key.entity.properties.filter { !$0.isSame(row, stored) }
      throw conflict(key, (different.isEmpty ? key.entity.properties : different).map(\.name))
    }
    var row = row
    row.stamp = max(row.stamp, stored.stamp)
    if row != stored { try writing.update(row, replacing: stored, for: key) }
  }

  /// Another context removed it.
  private func saveRemoved(_ row: StoredRow, _ policy: MergePolicy, _ key: EntityKey) throws {
    switch policy {
    case .byStamp, .storeTrump: return
    case .objectTrump: _ = try writing.insert(row, for: key)
    case .error: throw conflict(key, ["removed"])
    }
  }

  /// Another context changed it.
  private func merge(
    _ row: StoredRow, _ change: PendingChange, _ base: StoredRow, _ stored: StoredRow, _ policy: MergePolicy,
    _ key: EntityKey
  ) throws {
    var merged = stored
    var conflicts: [String] = []
    for (position, property) in key.entity.properties.enumerated()
    where change.isChanged(position, key.entity) {
      if property.isSame(stored, base) {
        property.copy(from: row, to: &merged)
        continue
      }
      // Two that count up from the same number write the same, so that equal values are a conflict, too.
      if policy != .error, property.isSame(row, stored) { continue }
      switch policy {
      case .byStamp: if row.stamp > stored.stamp { property.copy(from: row, to: &merged) }
      case .storeTrump: break
      case .objectTrump: property.copy(from: row, to: &merged)
      case .error: conflicts.append(property.name)
      }
    }
    guard conflicts.isEmpty else { throw conflict(key, conflicts) }
    guard !merged.holdsSame(as: stored) || row.stamp > stored.stamp else { return }
    merged.stamp = max(row.stamp, stored.stamp)
    try writing.update(merged, replacing: stored, for: key)
  }

  private func isToBeRemoved(_ change: PendingChange, _ key: EntityKey) throws -> Bool {
    guard let stored = try writing.row(of: key) else { return false }
    if let base = change.baseRow, stored.holdsSame(as: base), stored.stamp == base.stamp { return true }
    switch change.policy ?? policy {
    case .byStamp: return change.stamp > stored.stamp
    case .storeTrump: return false
    case .objectTrump: return true
    case .error: throw conflict(key, ["changed"])
    }
  }

  /// Takes references to entities that other contexts have removed meanwhile out of the written rows, as if the removal
  /// had followed the save.
  private func checkReferences() throws {
    var present: Set<EntityKey> = []
    var missing: Set<EntityKey> = []
    for entry in changes.all where !entry.key.entity.targets.isEmpty {
      guard let row = entry.change.row else { continue }
      let key = entry.key
      // A stored row refers to stored entities only, so that a row in its place adds what it refers to elsewhere.
      let known = replaced.keys.contains(key) ? entry.change.baseRow : nil
      for child in key.entity.referencedKeys(of: row, differingFrom: known, in: model) where !present.contains(child) {
        // An entity that the same save inserts is stored under each policy.
        if let change = changes[child], change.row != nil, change.baseRow == nil {
          present.insert(child)
        } else if try writing.row(of: child) != nil {
          present.insert(child)
        } else {
          missing.insert(child)
        }
      }
    }
    if !missing.isEmpty { try removal.remove(missing) }
  }

  private var removal: RowRemoval {
    RowRemoval(model: model, reading: writing) { key, row in
      if let row, let old = try writing.row(of: key) {
        try writing.update(row, replacing: old, for: key)
      } else if row == nil {
        try delete(key)
      }
    }
  }

  private func delete(_ key: EntityKey) throws {
    if !collectors.isEmpty, try writing.withRow(of: key, { _ in true }) != nil {
      // Rows stored meanwhile, and rows that require a removed entity, are removed whatever their stamp.
      for collector in collectors { collector.note(key, changes[key]?.stamp ?? .infinity) }
    }
    try writing.delete(key)
  }

  private func conflict(_ key: EntityKey, _ properties: [String]) -> StoreError {
    .conflict(entity: key.entity.name, id: "\(key.id)", properties: properties)
  }
}

/// The keys of the rows that a save has replaced without a merge.
final class ReplacedRows {
  var keys: Set<EntityKey> = []
}
