import Concord
import ConcordModel

/// The writing of a context's changes, merged with changes that other contexts have stored meanwhile.
struct SaveOperation {
  let model: Model
  let changes: PendingChanges
  let policy: MergePolicy
  let writing: any RowWriting
  /// The parent, whose clock gives the stamps.
  let parent: any ContextParent
  private let rows = SavedRows()

  init(
    model: Model, changes: PendingChanges, policy: MergePolicy, writing: any RowWriting, parent: any ContextParent
  ) {
    (self.model, self.changes, self.policy, self.writing, self.parent) = (model, changes, policy, writing, parent)
  }

  func run() throws {
    var removed: [EntityKey: Stamp] = [:]
    /// The changes that need a unique value of another row, which may give it up in the same save.
    var waiting: [PendingChanges.Entry] = []
    let (inserts, others) = partition()
    if others.count > 1 { try prepare(others) }
    for entry in others {
      let (key, change) = (entry.key, entry.change)
      if let row = change.row {
        do { try save(row, change, key) } catch StoreError.notUnique { waiting.append(entry) }
      } else if try isToBeRemoved(change, key) {
        removed[key] = change.stamp
      }
    }
    if others.isEmpty, inserts.count == 1, inserts[0].key.entity.isOneRow { writing.willWriteOnce() }
    waiting += try insert(inserts)
    if !waiting.isEmpty { try save(waiting, afterRemoving: removed) }
    // Rows written since the context looked may refer to it.
    if !removed.isEmpty { try removal.remove(removed) }
    try checkReferences()
  }

  /// Prepares for the writing of rows one by one.
  private func prepare(_ entries: [PendingChanges.Entry]) throws {
    try writing.prepare(entries.map(\.key))
    let unique = entries.compactMap { entry -> KeyedRow? in
      guard let row = entry.change.row, entry.key.entity.hasUniqueColumns else { return nil }
      return (entry.key, row)
    }
    if unique.count > 1 { try writing.prepareUniqueValues(of: unique) }
  }

  /// The insertions that can be written together, and the other changes.
  private func partition() -> (inserts: [PendingChanges.Entry], others: [PendingChanges.Entry]) {
    var (inserts, others): ([PendingChanges.Entry], [PendingChanges.Entry]) = ([], [])
    for entry in changes.all {
      let isInserted = entry.change.row != nil && entry.change.baseRow == nil
      if isInserted { inserts.append(entry) } else { others.append(entry) }
    }
    return (inserts, inOrder(others))
  }

  /// Changes in an order that is the same in all saves: two that lock the same rows in different orders would wait for each other.
  private func inOrder(_ entries: [PendingChanges.Entry]) -> [PendingChanges.Entry] {
    func precedes(_ a: PendingChanges.Entry, _ b: PendingChanges.Entry) -> Bool {
      if a.key.entity === b.key.entity { return StoredValue.precedes(a.key.id, b.key.id) }
      return a.key.entity.name < b.key.entity.name
    }
    let isInOrder = zip(entries, entries.dropFirst()).allSatisfy { !precedes($1, $0) }
    return isInOrder ? entries : entries.sorted(by: precedes)
  }

  /// Inserts rows all at once, and then those that need a look.
  ///
  /// - Returns: those that need a unique value of another row.
  private func insert(_ entries: [PendingChanges.Entry]) throws -> [PendingChanges.Entry] {
    func areStampsEnough(_ entry: PendingChanges.Entry) -> Bool {
      (entry.change.policy ?? policy) == .byStamp && !entry.key.entity.hasUniqueColumns
    }
    /// Usually all are alike, and are not copied.
    func those(_ isWanted: (PendingChanges.Entry) -> Bool) -> [PendingChanges.Entry] {
      entries.allSatisfy(isWanted) ? entries : entries.filter(isWanted)
    }
    var left = try insert(those(areStampsEnough), writing.insertNewest)
    left += try insert(those { !areStampsEnough($0) }, writing.insertMissing)
    if left.count > 1 {
      try prepare(left)
      rows.deletions = try writing.deletions(of: left.map(\.key))
    }
    defer { rows.deletions = nil }
    return try left.filter { entry in
      guard let row = entry.change.row else { return false }
      do { try save(row, entry.change, entry.key) } catch StoreError.notUnique { return true }
      return false
    }
  }

  /// - Returns: those that were not inserted.
  private func insert(
    _ entries: [PendingChanges.Entry], _ insert: ([KeyedRow]) throws -> [Bool]
  ) throws -> [PendingChanges.Entry] {
    let rows = entries.compactMap { entry -> KeyedRow? in
      guard var row = entry.change.row else { return nil }
      row.stamp = entry.change.stamp
      return (entry.key, row)
    }
    return rows.isEmpty ? [] : zip(entries, try insert(rows)).compactMap { $1 ? nil : $0 }
  }

  /// Saves the changes that failed for want of a unique value, after all other changes.
  private func save(_ waiting: [PendingChanges.Entry], afterRemoving removed: [EntityKey: Stamp]) throws {
    // What refers to them is changed afterwards.
    for (key, stamp) in removed { try delete(key, stamp) }
    let parked = try ParkedWriting(writing, parking: waiting.map(\.key))
    let operation = SaveOperation(model: model, changes: changes, policy: policy, writing: parked, parent: parent)
    for entry in waiting { if let row = entry.change.row { try operation.save(row, entry.change, entry.key) } }
    rows.refused.formUnion(operation.rows.refused)
    try parked.putBack()
  }

  private func save(_ row: StoredRow, _ change: PendingChange, _ key: EntityKey) throws {
    let policy = change.policy ?? policy
    var row = row
    row.stamp = change.stamp
    guard let base = change.baseRow else {
      guard let row = try inserted(row, change, policy, key) else { return }
      if policy == .byStamp { return try insertOrReplaceOlder(row, change, key) }
      if try writing.insert(row, for: key) { return }
      guard let stored = try writing.row(of: key) else { return }
      return try replace(stored, with: row, change, policy, key)
    }
    // A property that was set back is the same in both rows, but an earlier save may have stored another value: then the
    // stored row is compared as a whole.
    let isCompared = !change.setBack.isEmpty || change.isInsertedAgain
    if try isCompared ? writing.replaceComparing(row, base, key) : writing.replace(row, ifSameAs: base, for: key) {
      rows.replaced.insert(key)
      return
    }
    guard let stored = try writing.row(of: key) else {
      if change.isInsertedAgain {
        if let row = try inserted(row, change, policy, key) { _ = try writing.insert(row, for: key) }
      } else if key.entity.properties.indices.contains(where: { change.isEdited($0, key.entity) }) {
        try saveRemoved(row, policy, key)
      }
      return
    }
    try merge(row, change, base, stored, policy, key)
  }

  /// Returns a row as it is inserted where its entity was deleted; `nil` if the deletion is newer.
  private func inserted(
    _ row: StoredRow, _ change: PendingChange, _ policy: MergePolicy, _ key: EntityKey
  ) throws -> StoredRow? {
    let deletion = try rows.deletions.map { $0[key] } ?? writing.deletion(of: key)
    guard let deletion, deletion >= row.stamp,
      try writing.withRow(of: key, { _ in true }) == nil
    else { return row }
    var row = row
    if change.isUnstamped {
      row.stamp = parent.nextStamp(after: deletion)
      return row
    }
    switch policy {
    case .objectTrump:
      row.stamp = deletion
      return row
    case .byStamp, .storeTrump:
      rows.refused.insert(key)
      return nil
    case .error: throw conflict(key, ["removed"])
    }
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

  /// Saves an entity that another context has removed.
  private func saveRemoved(_ row: StoredRow, _ policy: MergePolicy, _ key: EntityKey) throws {
    switch policy {
    case .byStamp, .storeTrump: return
    case .objectTrump:
      var row = row
      row.stamp = max(row.stamp, try writing.deletion(of: key) ?? row.stamp)
      _ = try writing.insert(row, for: key)
    case .error: throw conflict(key, ["removed"])
    }
  }

  /// Merges an entity that another context has changed.
  private func merge(
    _ row: StoredRow, _ change: PendingChange, _ base: StoredRow, _ stored: StoredRow, _ policy: MergePolicy,
    _ key: EntityKey
  ) throws {
    var row = row
    // Two clocks may give one stamp to changes of a row that is ahead of both. The one that is saved later was made later.
    if row.stamp == stored.stamp, change.isUnstamped { row.stamp = parent.nextStamp(after: stored.stamp) }
    var merged = stored
    var conflicts: [String] = []
    for (position, property) in key.entity.properties.enumerated()
    where change.isEdited(position, key.entity) {
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
    guard let stored = try writing.row(of: key) else {
      // Of two deletions the later one is remembered.
      try writing.delete(key, stamp: change.stamp)
      return false
    }
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
    var unknown: [EntityKey] = []
    for entry in changes.all where !entry.key.entity.targets.isEmpty {
      guard let row = entry.change.row else { continue }
      let key = entry.key
      // A stored row refers to stored entities only, so that a row in its place adds what it refers to elsewhere.
      let known = rows.replaced.contains(key) ? entry.change.baseRow : nil
      for child in key.entity.referencedKeys(of: row, differingFrom: known, in: model) where !present.contains(child) {
        // An entity that the same save inserts is stored under each policy, unless its deletion is newer.
        if let change = changes[child], change.row != nil, change.baseRow == nil, !rows.refused.contains(child) {
          present.insert(child)
        } else {
          // Each is looked for once.
          present.insert(child)
          unknown.append(child)
        }
      }
    }
    if unknown.count > 1 { try writing.prepare(unknown) }
    var missing: [EntityKey: Stamp] = [:]
    for child in unknown where try writing.withRow(of: child, { _ in true }) == nil {
      missing[child] = try writing.deletion(of: child) ?? -.infinity
    }
    if !missing.isEmpty { try removal.remove(missing) }
  }

  private var removal: RowRemoval {
    RowRemoval(model: model, reading: writing) { key, row in
      if let old = try writing.row(of: key) { try writing.update(row, replacing: old, for: key) }
    } delete: {
      try delete($0, $1)
    }
  }

  /// Deletes a row. What requires a removed entity is removed whatever its stamp.
  private func delete(_ key: EntityKey, _ stamp: Stamp) throws {
    guard let stored = try writing.withRow(of: key, { $0.stamp }) else { return }
    if let change = changes[key], change.row == nil ? change.stamp == -.infinity : change.baseRow == nil {
      // Not a deletion: it was inserted, but cannot be without what it requires.
      try writing.delete(key)
    } else {
      try writing.delete(key, stamp: max(stamp, stored))
    }
  }

  private func conflict(_ key: EntityKey, _ properties: [String]) -> StoreError {
    .conflict(entity: key.entity.name, id: "\(key.id)", properties: properties)
  }
}

/// The rows that a save has treated in a special way.
private final class SavedRows {
  /// The rows that were stored as the context had read them, and were replaced without a merge.
  var replaced: Set<EntityKey> = []
  /// The rows that were not inserted, since the deletions of their entities are newer.
  var refused: Set<EntityKey> = []
  /// The deletions of the entities that are being inserted; `nil` if they are not known.
  var deletions: [EntityKey: Stamp]?
}
