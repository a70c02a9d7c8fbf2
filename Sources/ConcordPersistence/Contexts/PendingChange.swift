import ConcordModel

/// An unsaved change of one entity.
struct PendingChange: Sendable {
  enum Base: Sendable {
    /// The row as the context found it first.
    case row(StoredRow)
    /// The entity was not stored when the context looked.
    case absent
    /// Nothing was known of the entity.
    case unknown

    var row: StoredRow? { if case .row(let row) = self { row } else { nil } }
  }

  let base: Base
  /// The row as the context wants it; `nil` if it is to be removed.
  var row: StoredRow?
  /// The stamp of the last change.
  var stamp: Stamp
  /// The positions of the properties that were set back to the base's values after an earlier save had changed them:
  /// that save may be written already, and read elsewhere.
  var setBack: Set<Int> = []
  /// The positions of the properties that were changed only by taking deleted entities out of them. The save does so with the
  /// stored values, whatever they are by then.
  var unlinked: Set<Int> = []
  /// Whether the entity was removed before: all of it is new.
  var isInsertedAgain = false
  /// Whether the entity was inserted without a stamp, and so is later than rows ahead of the clock.
  var isUnstamped = false
  /// Whether the entity stands in something that was inserted, and was not inserted itself.
  var isNested = false
  /// The latest given stamp of a deletion that is among the changes. It is remembered also if nothing is stored.
  var givenDeletion: Stamp?
  /// The merge policy of the child context that saved the change; `nil` for a change made here.
  var policy: MergePolicy?

  var baseRow: StoredRow? { base.row }

  /// Whether the context has changed a property, or has set it back.
  func isChanged(_ position: Int, _ entity: EntityDescription) -> Bool {
    guard let row, let known = baseRow, !isInsertedAgain else { return true }
    return setBack.contains(position) || !entity.properties[position].isSame(row, known)
  }

  /// Whether the context has changed a property by more than taking deleted entities out of it.
  func isEdited(_ position: Int, _ entity: EntityDescription) -> Bool {
    !unlinked.contains(position) && isChanged(position, entity)
  }

  /// Returns the row merged with the one that other contexts have stored meanwhile. A property that both have changed
  /// has the context's value; the save decides about it.
  func row(over stored: StoredRow, _ entity: EntityDescription) -> StoredRow? {
    guard let row, let known = baseRow, !stored.holdsSame(as: known) else { return row }
    var merged = stored
    for (position, property) in entity.properties.enumerated() where isChanged(position, entity) {
      property.copy(from: row, to: &merged)
    }
    merged.stamp = max(row.stamp, stored.stamp)
    return merged
  }

  /// Returns the base of a later change, made by a reader of this one merged with a stored row: properties that other
  /// contexts had changed there are part of the base.
  func base(below seen: StoredRow?, _ entity: EntityDescription) -> Base {
    guard let seen, row != nil, var known = baseRow else { return base }
    for (position, property) in entity.properties.enumerated() where !isChanged(position, entity) {
      property.copy(from: seen, to: &known)
    }
    return .row(known)
  }

  /// Returns this change followed by a later one of the same context, made by a reader of this one merged with a stored
  /// row.
  func followed(
    by row: StoredRow?, _ stamp: Stamp, below seen: StoredRow?, _ entity: EntityDescription
  ) -> PendingChange {
    var next = PendingChange(base: base(below: seen, entity), row: row, stamp: stamp)
    (next.setBack, next.isInsertedAgain) = (setBack, isInsertedAgain || self.row == nil)
    (next.isUnstamped, next.isNested, next.policy) = (isUnstamped, isNested, policy)
    next.givenDeletion = givenDeletion
    if let row, let own = self.row { next.unlinked = unlinked.filter { entity.properties[$0].isSame(row, own) } }
    return next
  }

  /// Notes the given stamp of a deletion.
  mutating func noteDeletion(_ stamp: Stamp?) {
    guard let stamp else { return }
    givenDeletion = max(givenDeletion ?? stamp, stamp)
  }

  /// Returns this change with a later save of the same context over it. A property that the later save sets back to its
  /// value before this one is a change, too.
  func merged(with later: PendingChange, _ entity: EntityDescription) -> PendingChange {
    var merged = PendingChange(base: base(below: later.baseRow, entity), row: later.row, stamp: later.stamp)
    merged.isUnstamped = later.isUnstamped
    merged.isNested = isNested && later.isNested
    merged.noteDeletion(givenDeletion)
    merged.noteDeletion(later.givenDeletion)
    merged.policy = policy == .error ? policy : later.policy
    guard let row = merged.row, let known = merged.baseRow else { return merged }
    merged.isInsertedAgain = self.row == nil || isInsertedAgain || later.isInsertedAgain
    for (position, property) in entity.properties.enumerated()
    where isChanged(position, entity) && property.isSame(row, known) {
      merged.setBack.insert(position)
    }
    merged.unlinked = unlinked.union(later.unlinked).filter {
      !isEdited($0, entity) && (later.unlinked.contains($0) || !later.isChanged($0, entity))
    }
    return merged
  }
}

/// The unsaved changes of a context, in the order of the first change to each entity.
public struct PendingChanges: Sendable {
  /// The changes in order. A change that was taken back leaves a gap; many gaps are closed at once.
  private var entries: [Entry?] = []
  private var positions: [EntityKey: Int] = [:]
  /// The types of which something was changed, a few, with the positions of the entries; some of these may be gaps.
  private var types: ContiguousArray<(entity: EntityDescription, positions: ContiguousArray<Int>)> = []
  /// The references between the entities; `nil` until they are needed.
  private var references: PendingReferences?
  /// The keys of changes set or taken back since noting began.
  private(set) var touched: Set<EntityKey>?
  /// A number that differs after each change.
  private(set) var revision = 0
  /// Whether a change may have a row as its base. Where none has, nothing has to be looked up before a row is replaced.
  private(set) var mayHaveBases = false

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

  /// Whether an entity of a type may have a change; changes that were taken back count until all are.
  func mayChange(_ entity: EntityDescription) -> Bool { types.contains { $0.entity == entity } }

  /// The types of the changed entities.
  var entities: [EntityDescription] {
    types.filter { type in type.positions.contains { entries[$0] != nil } }.map(\.entity)
  }

  /// The changed entities of a type, in order.
  ///
  /// - Complexity: their number, whatever else is changed.
  func keys(of entity: EntityDescription) -> [EntityKey] {
    types.first { $0.entity == entity }?.positions.compactMap { entries[$0]?.key } ?? []
  }

  /// All changes, in order.
  var all: some Sequence<Entry> { entries.lazy.compactMap { $0 } }

  subscript(key: EntityKey) -> PendingChange? {
    get { positions[key].flatMap { entries[$0]?.change } }
    set {
      if let newValue {
        change(key) { _ in newValue }
      } else {
        revision += 1
        touched?.insert(key)
        guard let position = positions.removeValue(forKey: key) else { return }
        references?.remove(key, entries[position]?.change.row)
        entries[position] = nil
        if positions.count * 2 < entries.count { compact() }
      }
    }
  }

  /// Replaces the change of an entity by the closure's result.
  mutating func change(_ key: EntityKey, _ body: (PendingChange?) -> PendingChange?) {
    revision += 1
    // One look at the table.
    let next = entries.count
    let position = { (known: inout Int) in known }(&positions[key, default: next])
    guard position < next else {
      guard let new = body(nil) else {
        positions[key] = nil
        return
      }
      if case .row = new.base { mayHaveBases = true }
      entries.append(Entry(key: key, change: new))
      references?.add(key, new.row)
      note(next, of: key.entity)
      touched?.insert(key)
      return
    }
    guard let new = body(entries[position]?.change) else { return }
    if references != nil {
      references?.remove(key, entries[position]?.change.row)
      references?.add(key, new.row)
    }
    if case .row = new.base { mayHaveBases = true }
    entries[position] = Entry(key: key, change: new)
    touched?.insert(key)
  }

  private mutating func note(_ position: Int, of entity: EntityDescription) {
    // Most changes are of the type that was changed before them.
    if let last = types.indices.last, types[last].entity === entity { return types[last].positions.append(position) }
    if let index = types.firstIndex(where: { $0.entity == entity }) {
      types[index].positions.append(position)
    } else {
      types.append((entity, [position]))
    }
  }

  private mutating func compact() {
    entries = entries.compactMap { $0 }
    for index in types.indices { types[index].positions = [] }
    for (position, entry) in entries.enumerated() {
      guard let entry else { continue }
      positions[entry.key] = position
      note(position, of: entry.key.entity)
    }
  }

  /// Puts the changes that a save has added into the order of their first change, since it writes them in another.
  ///
  /// - Complexity: the number of added changes.
  mutating func arrange(as saved: PendingChanges, addedTo before: PendingChanges) {
    func isAdded(_ entry: Entry?) -> Bool { entry.map { before.positions[$0.key] == nil } ?? true }
    let start = entries.lastIndex { !isAdded($0) }.map { $0 + 1 } ?? 0
    // The rows that a removal has changed follow.
    func place(_ entry: Entry) -> Int { saved.positions[entry.key] ?? .max }
    let added = entries[start...].compactMap { $0 }
    if zip(added, added.dropFirst()).allSatisfy({ place($0) <= place($1) }) { return }
    entries.removeSubrange(start...)
    for index in types.indices {
      while let last = types[index].positions.last, last >= start { types[index].positions.removeLast() }
    }
    for (_, entry) in added.enumerated().sorted(by: { (place($0.1), $0.0) < (place($1.1), $1.0) }) {
      positions[entry.key] = entries.count
      note(entries.count, of: entry.key.entity)
      entries.append(entry)
    }
  }

  /// Starts noting the keys of changes that are touched.
  mutating func noteTouched() { touched = [] }

  /// Notes that entities are to be looked at, although their changes are the same.
  mutating func noteTouched(_ keys: [EntityKey]) { touched?.formUnion(keys) }

  /// Returns the keys touched since the last call.
  mutating func takeTouched() -> Set<EntityKey> {
    guard let touched, !touched.isEmpty else { return [] }
    self.touched = []
    return touched
  }

  mutating func removeAll() {
    revision += 1
    touched?.formUnion(positions.keys)
    entries = []
    positions = [:]
    types = []
    references = nil
    mayHaveBases = false
  }

  /// Replaces all changes by earlier ones of the same context.
  mutating func goBack(to earlier: PendingChanges) {
    var earlier = earlier
    earlier.revision = revision + 1
    earlier.touched = touched.map { $0.union(positions.keys).union(earlier.positions.keys) }
    self = earlier
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
