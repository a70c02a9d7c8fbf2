import Concord
import ConcordModel

/// The state of a context. Callers hold the context's lock.
final class ContextCore {
  let parent: any ContextParent
  var policy = MergePolicy.byStamp
  /// The changes that are not saved.
  var pending: PendingChanges {
    _read { yield unsaved.value }
    _modify {
      if let guards {
        guards.add(unsaved)
        self.guards = nil
      }
      yield &unsaved.value
    }
  }
  private let unsaved: UnsavedChanges
  /// The entities of the pending changes up to the last one that has ended, and those that these contain. The context's lock need not be held.
  var unsavedKeys: Set<EntityKey> { unsaved.pendingKeys() }
  /// The guards that the first change is to be one of; `nil` if there are none, or it is.
  private var guards: RetentionGuards?
  /// The recorder of the changes that are saved as a step that can be undone; `nil` if nothing records them.
  var recorder: RowRecorder?
  /// The first error about a value given to a function that does not throw; the next save throws it.
  private var failure: (any Error)?
  /// The last commit whose removals the pending changes of some types have been compared with.
  private var reconciled = (generation: -1, types: Set<EntityDescription>())

  /// - Parameter isGuard: whether a purge of the parent's stores is to leave what is not saved.
  init(parent: any ContextParent, isGuard: Bool = false) {
    self.parent = parent
    unsaved = UnsavedChanges(parent.model)
    guards = isGuard ? parent.coordinator?.guards : nil
  }

  var model: Model { parent.model }

  // MARK: Reading

  /// Reads the entities of a type, and all inside, with the changes that are not saved.
  func read<R>(_ entity: EntityDescription, _ body: (any RowReading) throws -> R) throws -> R {
    try read(model.contained(in: entity), body)
  }

  /// Reads some types with the changes that are not saved.
  func read<R>(_ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R) throws -> R {
    if !pending.isEmpty, parent.generation != reconciled.generation || !entities.isSubset(of: reconciled.types) {
      try reconcile(with: entities)
    }
    do {
      return try readUnreconciled(entities, body)
    } catch StoreError.danglingReference where !pending.isEmpty {
      // Another process may have removed it, or another thread this moment.
      try reconcile(with: entities)
      return try readUnreconciled(entities, body)
    }
  }

  /// Reads while a change is made pending, without reconciling: the change may refer to entities that are not pending
  /// yet.
  private func readUnreconciled<R>(
    _ entities: Set<EntityDescription>, _ body: (any RowReading) throws -> R
  ) throws -> R {
    try parent.read(entities) { base in try body(pending.isEmpty ? base : PendingReading(base, pending)) }
  }

  /// Takes entities that other contexts have removed out of the pending values, and entities that are to be removed out
  /// of rows that other contexts have written, as the save would do.
  ///
  /// - Parameter entities: some types. Changes of types that no relations connect with these stay as they are.
  func reconcile(with entities: Set<EntityDescription>) throws {
    let (generation, types) = (parent.generation, model.connected(with: entities))
    try reconcile(within: types)
    if reconciled.generation != generation { reconciled = (generation, []) }
    reconciled.types.formUnion(types)
  }

  private func reconcile(within types: Set<EntityDescription>) throws {
    let keys = pending.keys.filter { types.contains($0.entity) }
    let removed = keys.filter { pending[$0]?.row == nil }
    let aggregates = keys.filter { !$0.entity.targets.isEmpty && pending[$0]?.row != nil }
    if aggregates.isEmpty, removed.isEmpty { return }
    try parent.read(types) { base in
      let reading = PendingReading(base, pending)
      var missing = Set(removed)
      // Stored rows refer to stored entities only.
      var seen = missing
      for key in aggregates {
        guard let row = pending[key]?.row else { continue }
        // A stored row refers to stored entities: to read it is cheaper than to look for each of many.
        let known = row.collections.contains { $0.count > 8 } ? try base.row(of: key) : nil
        for child in key.entity.referencedKeys(of: row, differingFrom: known, in: model)
        where seen.insert(child).inserted {
          if try reading.withRow(of: child, { _ in true }) == nil { missing.insert(child) }
        }
      }
      if !missing.isEmpty { try remove(missing, base, stamp: nil) }
    }
  }

  /// Makes pending that entities are not there any longer, nor in what refers to them: all of it, or nothing if it throws.
  ///
  /// - Parameter stamp: a closure that returns the stamp of the deletion of a row with a stamp; `nil` for that of the pending
  ///   change. Owners keep theirs.
  func remove(_ keys: Set<EntityKey>, _ base: any RowReading, stamp: ((Stamp) -> Stamp)?) throws {
    pending.knowReferences()
    /// The changes as they were, of all entities that are changed here.
    var before: [EntityKey: PendingChange?] = [:]
    func note(_ key: EntityKey) { if before[key] == nil { before[key] = .some(pending[key]) } }
    // The rows are read with the changes that were written so far.
    let reading = CurrentReading { PendingReading(base, self.pending) }
    func put(_ row: StoredRow?, stamp: Stamp, below seen: StoredRow?, _ found: StoredRow?, _ key: EntityKey) {
      let present = pending[key]
      var change =
        present?.followed(by: row, stamp, below: seen, key.entity)
        ?? PendingChange(base: found.map { .row($0) } ?? .unknown, row: row, stamp: stamp)
      if let row, let seen {
        for (position, property) in key.entity.properties.enumerated()
        where !property.isSame(row, seen) && present?.isEdited(position, key.entity) != true {
          change.unlinked.insert(position)
        }
      }
      pending[key] = change
    }
    let removal = RowRemoval(model: model, reading: reading) { key, row in
      note(key)
      put(row, stamp: row.stamp, below: try reading.row(of: key), try base.row(of: key), key)
    } delete: { key, _ in
      note(key)
      let present = self.pending[key]
      guard let found = try base.row(of: key) else {
        // What was never stored needs no removal, unless an earlier deletion of it is to be remembered.
        guard let present, let given = present.givenDeletion else { return self.pending[key] = nil }
        if present.row != nil { put(nil, stamp: stamp?(present.stamp) ?? given, below: nil, nil, key) }
        return
      }
      let last = max(found.stamp, present?.stamp ?? found.stamp)
      put(nil, stamp: stamp?(last) ?? present?.stamp ?? self.parent.nextStamp(after: last), below: nil, found, key)
    }
    do {
      try removal.remove(Dictionary(uniqueKeysWithValues: keys.map { ($0, -.infinity) }))
    } catch {
      // Not a copy of all changes, which would cost their number with each removal.
      for (key, change) in before { pending[key] = change }
      throw error
    }
  }

  func find<T: PersistentEntity>(_ type: T.Type, _ id: T.ID) throws -> T? {
    let key = try T.storedKey(of: id)
    let entity = try model.entity(type)
    return try read(entity) { reading in
      reading.mayReadAgain()
      let loader = EntityLoader(reading, model: model)
      guard entity.isOneRow else { return try loader.find(type, key: key) }
      reading.willReadOnce()
      return try loader.findOneRow(type, key: key, entity)
    }
  }

  /// Finds an entity, and passes it with its loader to a closure that may be run again.
  func load<T: PersistentEntity, R>(
    _ type: T.Type, _ id: T.ID, _ body: (T?, EntityLoader) throws -> R
  ) throws -> R {
    let key = try T.storedKey(of: id)
    return try read(model.entity(type)) {
      $0.mayReadAgain()
      let loader = EntityLoader($0, model: model)
      return try body(loader.find(type, key: key), loader)
    }
  }

  func fetch<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let entity = try model.entity(T.self)
    return try FetchPlan(descriptor, entity, model).fetch(self)
  }

  func count<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    let entity = try model.entity(T.self)
    return try FetchPlan(descriptor, entity, model).count(self)
  }

  func explain<T: PersistentEntity>(_ descriptor: FetchDescriptor<T>) throws -> FetchExplanation {
    let entity = try model.entity(T.self)
    return try read(entity) { try FetchPlan(descriptor, entity, model).explain($0) }
  }

  // MARK: Changing

  /// Inserts an entity with all it contains. The next save throws the first error.
  func insert<T: PersistentEntity>(_ value: T, _ stamp: Stamp?) {
    do {
      let isUnstamped = stamp == nil
      let stamp = stamp?.kept ?? parent.nextStamp()
      let entity = try model.entity(T.self)
      if entity.targets.isEmpty {
        // Nothing is inside, so there is but one row.
        let key = try Occurrences.key(of: value, entity)
        let row = try entity.row(of: value, stamp: stamp)
        put(row, key, base: try baseToReplace(key), isUnstamped: isUnstamped)
      } else {
        try insert(Occurrences(in: value, model: model, stamp: stamp), isUnstamped)
      }
    } catch {
      if failure == nil { failure = error }
    }
  }

  private func insert(_ occurrences: Occurrences, _ isUnstamped: Bool) throws {
    var rows: [(key: EntityKey, row: StoredRow, base: PendingChange.Base, isNested: Bool)] = []
    for key in occurrences.keys {
      guard let winner = occurrences.winner(of: key) else { continue }
      var row = winner.row
      // A brief value leaves out relations that lead back into a cycle, and so says nothing of them.
      try keep(model.omittedProperties(of: winner, key.entity), in: &row, key)
      rows.append((key, row, try baseToReplace(key), winner.depth > 0))
    }
    // An insertion that fails has changed nothing.
    for (key, row, base, isNested) in rows { put(row, key, base: base, isUnstamped: isUnstamped, isNested: isNested) }
  }

  /// Returns the base of a change that replaces a whole row, whatever is stored.
  private func baseToReplace(_ key: EntityKey) throws -> PendingChange.Base {
    // Where the context has changed the row before, properties that other contexts have changed since are replaced,
    // too.
    let isMerged = pending.mayHaveBases && pending[key].map { $0.row != nil && $0.baseRow != nil } ?? false
    let found = isMerged ? try readUnreconciled([key.entity]) { try $0.row(of: key) } : nil
    return found.map { .row($0) } ?? .unknown
  }

  /// Leaves properties as they are.
  private func keep(_ properties: [PropertyRange], in row: inout StoredRow, _ key: EntityKey) throws {
    if properties.isEmpty { return }
    guard let present = try readUnreconciled([key.entity], { try $0.row(of: key) }) else { return }
    for property in properties { property.copy(from: present, to: &row) }
  }

  /// Makes a row pending.
  ///
  /// - Parameters:
  ///   - base: the row that was read; the base of the change if none is pending yet.
  ///   - isUnstamped: whether the change was given no stamp, and so is later than all pending ones.
  ///   - isNested: whether the row stands inside of an inserted value.
  func put(
    _ row: StoredRow, _ key: EntityKey, base: PendingChange.Base, isUnstamped: Bool = false, isNested: Bool = false
  ) {
    pending.change(key) { present in
      var row = row
      var change: PendingChange
      if let present {
        if isUnstamped, row.stamp <= present.stamp { row.stamp = parent.nextStamp(after: present.stamp) }
        guard row.stamp > present.stamp else { return nil }
        change = present.followed(by: row, row.stamp, below: base.row, key.entity)
        change.isNested = present.isNested && isNested
      } else {
        change = PendingChange(base: base, row: row, stamp: row.stamp)
        change.isNested = isNested
      }
      change.isUnstamped = isUnstamped
      return change
    }
  }

  /// Changes an entity.
  ///
  /// - Parameter links: the collections that the closure is not shown, and receives their changes while it runs; `nil` if it
  ///   is shown all.
  func update<T: PersistentEntity>(
    _ type: T.Type, _ id: T.ID, _ stamp: Stamp?, leavingOut links: LinkChanges? = nil, _ body: (inout T) throws -> Void
  ) throws -> Bool {
    let entity = try model.entity(type)
    let key = EntityKey(entity, try T.storedKey(of: id))
    // The closure runs outside of the reading, so that it may use the context.
    var presentRow: StoredRow?
    let found = try read(entity) { reading in
      presentRow = try reading.row(of: key)
      let loader = EntityLoader(reading, model: model)
      guard let links, let row = presentRow else { return try loader.find(type, key: key.id, row: presentRow) }
      links.begin(with: row)
      return try loader.find(type, key: key.id, row: row, omitting: links.positions)
    }
    guard let before = found else { return false }
    return try update(before, key, presentRow, stamp, links, body)
  }

  /// Changes an entity that was read with its row.
  func update<T: PersistentEntity>(
    _ before: T, _ key: EntityKey, _ presentRow: StoredRow?, _ stamp: Stamp?, _ links: LinkChanges?,
    _ body: (inout T) throws -> Void
  ) throws -> Bool {
    let entity = key.entity
    let knownRevision = pending.revision
    var after = before
    try body(&after)
    guard try T.storedKey(of: after.id) == key.id else { return false }
    let isUnstamped = stamp == nil
    let stamp = stamp?.kept ?? parent.nextStamp()
    // The row is read again only if the closure may have changed it.
    let isPresentKnown = pending.revision == knownRevision
    if entity.targets.isEmpty, isPresentKnown {
      // In today's coding, which may differ from the stored one.
      let given = try entity.row(of: before, stamp: stamp)
      return edit(key, try entity.row(of: after, stamp: stamp), given: given, present: presentRow, isUnstamped)
    }
    let givenOccurrences = try Occurrences(in: before, model: model, stamp: stamp)
    let editedOccurrences = try Occurrences(in: after, model: model, stamp: stamp)
    if let links, let given = givenOccurrences.byKey[key]?.first, let edited = editedOccurrences.byKey[key]?.first {
      try links.check(edited.row, given: given.row)
    }
    let edit = BriefEdit(given: givenOccurrences, edited: editedOccurrences, model: model)
    var winners: [(key: EntityKey, row: StoredRow, given: StoredRow?)] = []
    for key in edit.keys {
      guard let winner = edit.winner(of: key) else { continue }
      var row = winner.occurrence.row
      try keep(winner.silent, in: &row, key)
      if !winner.undecidable.isEmpty,
        try readUnreconciled(
          model.contained(in: key.entity),
          {
            try edit.mayBeBrief(winner, key, CycleLoader(reading: $0, model: model))
          })
      {
        return false
      }
      winners.append((key, row, winner.given))
    }
    if let links, links.isChanged {
      for child in try links.entities(model, stamp) {
        var row = child.row
        if model.isRecursive(child.key.entity) {
          try keep(model.omittedProperties(of: row, child.key.entity), in: &row, child.key)
        }
        if !winners.contains(where: { $0.key == child.key }) { winners.append((child.key, row, nil)) }
      }
      if !winners.contains(where: { $0.key == key }), let row = editedOccurrences.byKey[key]?.first?.row {
        winners.append((key, row, row))
      }
    }
    if winners.isEmpty { return true }
    var present: [EntityKey: StoredRow] = [:]
    if isPresentKnown { present[key] = presentRow }
    let others = winners.map(\.key).filter { present[$0] == nil }
    if !others.isEmpty {
      try readUnreconciled(Set(others.map(\.entity))) { reading in
        for key in others { present[key] = try reading.row(of: key) }
      }
    }
    var isTaken = false
    for winner in winners
    where self.edit(
      winner.key, winner.row, given: winner.given, present: present[winner.key],
      links: winner.key == key ? links : nil, isUnstamped)
    {
      isTaken = true
    }
    return isTaken
  }

  /// Applies the differences from the value that the closure was given, which may be briefer than the stored one.
  ///
  /// - Returns: `false` if the stored row is newer.
  private func edit(
    _ key: EntityKey, _ row: StoredRow, given: StoredRow?, present: StoredRow?, links: LinkChanges? = nil,
    _ isUnstamped: Bool
  ) -> Bool {
    guard let present else {
      put(row, key, base: .unknown, isUnstamped: isUnstamped)
      return true
    }
    var edited = present
    for property in key.entity.properties {
      if let given, property.isSame(row, given) { continue }
      property.copy(from: row, to: &edited)
    }
    links?.write(to: &edited)
    if edited.holdsSame(as: present) { return true }
    guard isUnstamped || row.stamp > present.stamp else { return false }
    edited.stamp = row.stamp > present.stamp ? row.stamp : parent.nextStamp(after: present.stamp)
    put(edited, key, base: .row(present), isUnstamped: isUnstamped)
    return true
  }

  func delete<T: PersistentEntity>(_ type: T.Type, _ id: T.ID, _ stamp: Stamp?) throws -> Bool {
    let key = EntityKey(try model.entity(type), try T.storedKey(of: id))
    return try parent.read(model.connected(with: [key.entity])) { base in
      let present = try PendingReading(base, pending).row(of: key)
      if let stamp, !(stamp > present?.stamp ?? -.infinity) { return false }
      if present != nil {
        try remove([key], base) { last in stamp.map { max($0, last) } ?? self.parent.nextStamp(after: last) }
      }
      if let stamp { noteDeletion(key, stamp) }
      return present != nil
    }
  }

  /// Notes a deletion with a given stamp, which is remembered also if there is no row.
  func noteDeletion(_ key: EntityKey, _ stamp: Stamp) {
    pending.change(key) { change in
      var change = change ?? PendingChange(base: .unknown, row: nil, stamp: stamp)
      change.stamp = max(change.stamp, stamp)
      change.noteDeletion(stamp)
      return change
    }
  }

  // MARK: Saving

  var hasChanges: Bool { !pending.isEmpty || failure != nil }

  func save(origin: ObjectIdentifier) throws {
    if let failure {
      // Told once; all other changes can be saved by the next save.
      self.failure = nil
      throw failure
    }
    try savePending(origin: origin)
  }

  private func savePending(origin: ObjectIdentifier) throws {
    if pending.isEmpty { return }
    try recorder?.willSave(self)
    try parent.save(pending, policy, origin: origin)
    pending.removeAll()
    recorder?.didSave(self)
  }

  func rollback() {
    pending.removeAll()
    failure = nil
  }

  /// Discards what became pending since earlier changes were.
  func goBack(to earlier: PendingChanges) {
    pending.goBack(to: earlier)
    failure = nil
  }

  // MARK: For contexts that have children

  /// Takes what another context saves, as changes that are not saved.
  func absorb(_ changes: PendingChanges, _ policy: MergePolicy) throws {
    var written = pending
    try parent.read(model.connected(with: changes.entities)) { base in
      let writing = PendingWriting(base, over: pending, of: changes, policy: policy)
      try SaveOperation(model: model, changes: changes, policy: policy, writing: writing, parent: parent).run()
      written = writing.result
    }
    pending = written
  }

  /// Takes what another context saves, and saves all.
  func save(_ changes: PendingChanges, _ policy: MergePolicy, origin: ObjectIdentifier) throws {
    let before = pending
    do {
      try absorb(changes, policy)
      // A value that could not be inserted here is told by this context's own save.
      try savePending(origin: origin)
    } catch {
      pending = before
      throw error
    }
  }

  func noteTouched() { pending.noteTouched() }
  func takeTouched() -> Set<EntityKey> { pending.takeTouched() }

  enum ChangeKind { case inserted, updated, deleted }

  func changed(_ kind: ChangeKind) throws -> [any PersistentEntity] {
    try parent.read(Set(pending.keys.flatMap { model.contained(in: $0.entity) })) { base in
      // A removed entity is shown with its last value.
      let loader = EntityLoader(kind == .deleted ? base : PendingReading(base, pending), model: model)
      return try pending.keys.compactMap { key in
        let isStored = try base.row(of: key) != nil
        let found: ChangeKind = pending[key]?.row == nil ? .deleted : isStored ? .updated : .inserted
        return found == kind ? try loader.find(key.entity.type, key: key.id) : nil
      }
    }
  }
}
