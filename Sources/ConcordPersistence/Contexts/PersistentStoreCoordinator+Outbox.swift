package import Concord
package import ConcordModel

extension PersistentStoreCoordinator {
  /// Reads the new rows in the outboxes of all attached stores.
  ///
  /// - Parameter known: the version up to which each outbox was read; an outbox without one is read whole.
  package func outboxes(after known: [StoreAttachment: OutboxVersion]) throws -> [StoreAttachment: OutboxChanges] {
    try read(model.entities) { try ($0 as? any OutboxesReading)?.outboxes(after: known) ?? [:] }
  }

  /// Writes to the outbox of a store, and reads it.
  ///
  /// - Throws: ``/ConcordModel/StoreError/detached(store:)`` if the store is not attached any longer.
  package func writeOutbox<R>(of attachment: StoreAttachment, _ body: (any RowWriting) throws -> R) throws -> R {
    try write([EntityDescription](), outboxes: .one(attachment), body)
  }

  /// Removes all forwarded actions from all attached stores without a trace.
  package func clearOutboxes() throws {
    try write([EntityDescription](), outboxes: .all) { try $0.clearOutbox() }
  }

  /// A change to stored entities.
  package struct Change {
    /// The entities that the change reads or changes, if they are stored.
    package let keys: [EntityKey]
    /// A closure that makes the change in an entity store that holds only these entities.
    package let body: @Sendable (EntityStore) throws -> Void
    /// Whether the change may replace stored entities that are not among ``keys``, nor inside of these, and may remove from them what it does
    /// not name.
    package var mayReplaceOthers = true

    package init(touching keys: [EntityKey], _ body: @escaping @Sendable (EntityStore) throws -> Void) {
      (self.keys, self.body) = (keys, body)
    }
  }

  /// A change that replaces a stored entity which it does not name, or removes something from it.
  package struct ReplacesOther: Error {}

  /// Writes to the outbox of a store, and applies changes to stored entities, one after the other: one commit in each store.
  ///
  /// - Parameters:
  ///   - attachment: the store with the outbox.
  ///   - changes: the changes.
  ///   - body: a closure that writes to the outbox. It gets the keys of the entities that each change has changed.
  package func write<R>(
    outboxOf attachment: StoreAttachment, applying changes: [Change],
    _ body: (any RowWriting, [Set<EntityKey>]) throws -> R
  ) throws -> R {
    try write(model.entities, outboxes: .one(attachment)) { writing in
      let changed = try changes.map { change in
        try EntityReplay(model: model, parent: self, writing: writing, stamp: nextStamp())
          .run(change)
      }
      return try body(writing, changed)
    }
  }

  /// Writes to the attached stores, with the outbox and the notes of one: one commit in each. Where several are attached, the session is
  /// an ``OutboxesWriting``.
  ///
  /// - Parameters:
  ///   - attachment: the store with the outbox and the notes.
  ///   - body: a closure that writes. The closure that it gets applies a change to stored entities, and returns the keys of those
  ///     that it has changed.
  package func write<R>(
    notesOf attachment: StoreAttachment,
    _ body: (any RowWriting, _ apply: (Change) throws -> Set<EntityKey>) throws -> R
  ) throws -> R {
    try write(model.entities, outboxes: .notes(attachment)) { writing in
      try body(writing) { change in
        try EntityReplay(model: model, parent: self, writing: writing, stamp: nextStamp())
          .run(change)
      }
    }
  }
}

/// Makes a change to entities as they are stored, within a transaction of the store.
private struct EntityReplay {
  let model: Model
  let parent: PersistentStoreCoordinator
  let writing: any RowWriting
  let stamp: Stamp

  /// - Returns: which entities it changed.
  func run(_ change: PersistentStoreCoordinator.Change) throws -> Set<EntityKey> {
    try parent.scratch.withStore { try run(change, in: $0) }
  }

  private func run(_ change: PersistentStoreCoordinator.Change, in store: EntityStore) throws -> Set<EntityKey> {
    let loader = EntityLoader(writing, model: model)
    let held = try change.keys.compactMap { try loader.showing($0)?(store) }
    let found = Locked<[ChangeSet.Change]>([])
    let subscription = store.observeChanges { changeSet in found.withLock { $0 += changeSet.changes } }
    // A layer keeps entities that it inserts, and does not apply if an entity that it changes is missing.
    let layer = try store.optimistically { try change.body($0) }
    subscription.unsubscribe()
    if case .dropped(let error) = layer.state { throw error }
    layer.rollBack()
    withExtendedLifetime(held) {}
    var changes = PendingChanges()
    for found in found.withLock({ $0 }) { try add(found, mayReplaceOthers: change.mayReplaceOthers, to: &changes) }
    if changes.isEmpty { return [] }
    if !change.mayReplaceOthers { try checkOwners(changes, naming: Set(change.keys)) }
    let changed = Set(changes.keys)
    try dropUnlinked(&changes)
    // The transaction excludes other writers, so nothing has to be merged.
    try SaveOperation(model: model, changes: changes, policy: .objectTrump, writing: writing, parent: parent).run()
    return changed
  }

  /// Refuses a removal of entities that the change does not name, if other entities contain or require them that it has not loaded: nobody was
  /// asked about these.
  private func checkOwners(_ changes: PendingChanges, naming names: Set<EntityKey>) throws {
    let removed = changes.all.filter { $0.change.row == nil && !names.contains($0.key) }
    if removed.isEmpty { return }
    func check(_ key: EntityKey) throws {
      if changes[key] == nil { throw PersistentStoreCoordinator.ReplacesOther() }
    }
    try RowRemoval(model: model, reading: writing) { key, _ in
      try check(key)
    } delete: { key, _ in
      try check(key)
    }.remove(Dictionary(uniqueKeysWithValues: removed.map { ($0.key, $0.change.stamp) }))
  }

  /// Leaves owners to the save that only lost what is deleted: they keep their stamps.
  private func dropUnlinked(_ changes: inout PendingChanges) throws {
    let deleted = changes.all.filter { $0.change.row == nil }
    if deleted.isEmpty { return }
    let removal = RowRemoval(model: model, reading: writing) { _, _ in
    } delete: { _, _ in
    }
    let gone = Dictionary(uniqueKeysWithValues: deleted.map { ($0.key, $0.change.stamp) })
    for entry in Array(changes.all) {
      guard let row = entry.change.row, let stored = entry.change.baseRow,
        try removal.row(stored, of: entry.key, without: gone)?.holdsSame(as: row) ?? false
      else { continue }
      changes[entry.key] = nil
    }
  }

  private func add(
    _ change: ChangeSet.Change, mayReplaceOthers: Bool, to changes: inout PendingChanges
  ) throws {
    func add<T: PersistentEntity>(_ type: T.Type) throws {
      guard let id = change.id as? T.ID else { return }
      let key = EntityKey(try model.entity(type), try T.storedKey(of: id))
      let stored = try writing.row(of: key)
      let base = stored.map { PendingChange.Base.row($0) } ?? .absent
      guard let new = change.new as? T else {
        // An entity that was released as unreachable was not removed.
        if change.wasRemoved, stored != nil { changes[key] = PendingChange(base: base, row: nil, stamp: stamp) }
        return
      }
      if stored != nil, change.old == nil, !mayReplaceOthers { throw PersistentStoreCoordinator.ReplacesOther() }
      var row = try key.entity.row(of: new, stamp: stamp)
      if var edited = stored, let old = change.old as? T {
        // Only what the change changed.
        let given = try key.entity.row(of: old, stamp: stamp)
        for property in key.entity.properties where !property.isSame(row, given) {
          property.copy(from: row, to: &edited)
        }
        edited.stamp = max(stamp, edited.stamp)
        row = edited
      }
      changes[key] = PendingChange(base: base, row: row, stamp: row.stamp)
    }
    if let type = change.type as? any PersistentEntity.Type { try add(type) }
  }
}
