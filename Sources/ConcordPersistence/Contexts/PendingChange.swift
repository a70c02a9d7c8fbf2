import ConcordModel

/// What a context has changed of one entity and has not saved.
struct PendingChange: Sendable {
  enum Base: Sendable {
    /// The row as the context found it first.
    case row(StoredRow)
    /// It was not stored when the context looked.
    case absent
    /// Nothing was known of the entity.
    case unknown

    var row: StoredRow? { if case .row(let row) = self { row } else { nil } }
  }

  let base: Base
  /// The row as the context wants it; `nil` if it is to be removed.
  var row: StoredRow?
  /// When the context changed it last.
  var stamp: Stamp
  /// The properties, by position, that are as in the base again after an earlier save had changed them: that save may be written
  /// already, and others may have seen it.
  var setBack: Set<Int> = []
  /// Whether it was removed before: all of it is new.
  var isInsertedAgain = false

  var baseRow: StoredRow? { base.row }

  /// Whether the context wants a property of a row that it knew to be otherwise than it knew it, or as it knew it after all.
  func isChanged(_ position: Int, _ entity: EntityDescription) -> Bool {
    guard let row, let known = baseRow, !isInsertedAgain else { return true }
    return setBack.contains(position) || !entity.properties[position].isSame(row, known)
  }

  /// The row on top of what others have stored meanwhile. A property that both have changed is shown as the context wants it; the
  /// save decides about it.
  func row(over stored: StoredRow, _ entity: EntityDescription) -> StoredRow? {
    guard let row, let known = baseRow, !stored.holdsSame(as: known) else { return row }
    var merged = stored
    for (position, property) in entity.properties.enumerated() where isChanged(position, entity) {
      property.copy(from: row, to: &merged)
    }
    merged.stamp = max(row.stamp, stored.stamp)
    return merged
  }

  /// What a later change stands on whose author has seen this one on top of what others had stored: what these have changed is known by
  /// now, and is no change of the context's.
  func base(below seen: StoredRow?, _ entity: EntityDescription) -> Base {
    guard let seen, row != nil, var known = baseRow else { return base }
    for (position, property) in entity.properties.enumerated() where !isChanged(position, entity) {
      property.copy(from: seen, to: &known)
    }
    return .row(known)
  }

  /// What the same context changes later, whose author has seen this one on top of what others had stored.
  func followed(
    by row: StoredRow?, _ stamp: Stamp, below seen: StoredRow?, _ entity: EntityDescription
  ) -> PendingChange {
    var next = PendingChange(base: base(below: seen, entity), row: row, stamp: stamp)
    (next.setBack, next.isInsertedAgain) = (setBack, isInsertedAgain || self.row == nil)
    return next
  }

  /// A later save of the same context laid over this one. What it sets back to how this one had found it is a change, too.
  func merged(with later: PendingChange, _ entity: EntityDescription) -> PendingChange {
    var merged = PendingChange(base: base(below: later.baseRow, entity), row: later.row, stamp: later.stamp)
    guard let row = merged.row, let known = merged.baseRow else { return merged }
    merged.isInsertedAgain = self.row == nil || isInsertedAgain || later.isInsertedAgain
    for (position, property) in entity.properties.enumerated()
    where isChanged(position, entity) && property.isSame(row, known) {
      merged.setBack.insert(position)
    }
    return merged
  }
}

/// All that a context has changed and has not saved, in the order in which it was first changed.
public struct PendingChanges: Sendable {
  /// In order; those that were taken back leave a gap until there are many.
  private var entries: [Entry?] = []
  private var positions: [EntityKey: Int] = [:]
  /// The types of which something was changed, a few.
  private var entities: ContiguousArray<EntityDescription> = []
  /// Who refers to whom; `nil` until it is asked for.
  private var references: PendingReferences?
  /// All that were set or taken back since it was asked for.
  private(set) var touched: Set<EntityKey>?

  struct Entry: Sendable {
    let key: EntityKey
    var change: PendingChange
  }

  /// Creates an empty list of changes.
  public init() {}

  /// Whether there are no changes.
  public var isEmpty: Bool { positions.isEmpty }
  /// The entities that are changed.
  public var keys: [EntityKey] { entries.compactMap { $0?.key } }

  /// Whether an entity of a type may be changed: what was taken back counts until all are.
  func mayChange(_ entity: EntityDescription) -> Bool { entities.contains(entity) }

  /// All changes, in order.
  var all: some Sequence<Entry> { entries.lazy.compactMap { $0 } }

  subscript(key: EntityKey) -> PendingChange? {
    get { positions[key].flatMap { entries[$0]?.change } }
    set {
      if let newValue {
        change(key) { _ in newValue }
      } else {
        touched?.insert(key)
        guard let position = positions.removeValue(forKey: key) else { return }
        references?.remove(key, entries[position]?.change.row)
        entries[position] = nil
        if positions.count * 2 < entries.count { compact() }
      }
    }
  }

  /// Changes what is there, or is not; nothing happens if there is nothing new.
  mutating func change(_ key: EntityKey, _ body: (PendingChange?) -> PendingChange?) {
    // One look at the table.
    let next = entries.count
    let position = { (known: inout Int) in known }(&positions[key, default: next])
    guard position < next else {
      guard let new = body(nil) else {
        positions[key] = nil
        return
      }
      entries.append(Entry(key: key, change: new))
      references?.add(key, new.row)
      if entities.last != key.entity, !mayChange(key.entity) { entities.append(key.entity) }
      touched?.insert(key)
      return
    }
    guard let new = body(entries[position]?.change) else { return }
    if references != nil {
      references?.remove(key, entries[position]?.change.row)
      references?.add(key, new.row)
    }
    entries[position] = Entry(key: key, change: new)
    touched?.insert(key)
  }

  private mutating func compact() {
    entries = entries.compactMap { $0 }
    for (position, entry) in entries.enumerated() { if let entry { positions[entry.key] = position } }
  }

  /// Begins to note what is touched.
  mutating func noteTouched() { touched = [] }

  /// What was touched since the last call.
  mutating func takeTouched() -> Set<EntityKey> {
    guard let touched, !touched.isEmpty else { return [] }
    self.touched = []
    return touched
  }

  mutating func removeAll() {
    touched?.formUnion(positions.keys)
    entries = []
    positions = [:]
    entities = []
    references = nil
  }

  // MARK: References

  /// Prepares to be asked who refers to an entity, many times.
  mutating func knowReferences() { if references == nil { references = PendingReferences(all) } }

  /// The changed entities of a type that refer to an entity, in order.
  func referrers(to key: EntityKey, in entity: EntityDescription) -> [EntityKey] {
    // Who asks only once looks through all.
    (references ?? PendingReferences(all)).owners(of: key).filter { $0.entity == entity }
      .sorted { positions[$0] ?? 0 < positions[$1] ?? 0 }
  }

  /// Lays later saves over these.
  mutating func merge(_ later: PendingChanges) {
    for entry in later.all {
      change(entry.key) { present in present?.merged(with: entry.change, entry.key.entity) ?? entry.change }
    }
  }
}
