/// A step's change of one entity, or of one alias, whatever the type. Immutable.
// Unchecked, since an id need not be `Sendable`; it is a part of a value that is.
class AnyUndoChange: UndoableChange, @unchecked Sendable {
  /// The identity of the entity or of the alias.
  var key: UndoKey { UndoKey(type: ObjectIdentifier(Never.self), id: 0) }

  /// Returns the change that this one and a later one make together, as if nobody had written between them; `nil` if somebody has.
  func joined(_ later: AnyUndoChange, _ core: StoreCore) -> JoinedChange? { nil }
  /// Stores an entity that the step removed.
  func restore(_ revert: UndoReversal) {}
  /// Sets the properties that the step changed. Returns whether the entity is stored.
  func update(_ revert: UndoReversal) -> Bool { true }
  /// Returns the node of what the step inserted, if it is still stored, and whether other writes have changed it since.
  func inserted(_ revert: UndoReversal) -> (node: Node, isChanged: Bool)? { nil }
  /// Reports that an entity to be updated is not stored.
  func reportMissing(_ revert: UndoReversal) {}
  /// Ends an alias that the step made, and returns the node of an entity that the step inserted, and nobody has changed since.
  func removable(_ revert: UndoReversal) -> Node? { nil }
  /// Reports that an inserted entity stays.
  func reportInUse(_ revert: UndoReversal) {}
}

/// The identity of an entity or of an alias.
struct UndoKey: Hashable {
  let type: ObjectIdentifier
  let id: AnyHashable
}

/// The result of joining two changes.
enum JoinedChange {
  case change(AnyUndoChange)
  /// The entity is as before both changes.
  case nothing
}

/// A step's change of one entity.
// Unchecked, as its superclass is.
final class UndoChange<T: Identifiable & Sendable>: AnyUndoChange, @unchecked Sendable {
  private let id: T.ID
  /// The value before; `nil` if the entity was not stored, or the alias named nothing.
  let old: T?
  /// The value afterwards; `nil` if the entity was not stored any longer.
  let new: T?

  init(_ id: T.ID, old: T?, new: T?) {
    (self.id, self.old, self.new) = (id, old, new)
  }

  // Made when it is asked for: most changes are never joined.
  override var key: UndoKey { UndoKey(type: ObjectIdentifier(T.self), id: AnyHashable(id)) }

  private func node(_ core: StoreCore) -> EntityNode<T>? {
    core.graph.table(T.self).find(id).flatMap { $0.isStoredOrNamed ? $0 : nil }
  }

  private func value(_ node: EntityNode<T>, _ core: StoreCore) -> T? {
    core.refresh(node)
    return node.value
  }

  override func joined(_ later: AnyUndoChange, _ core: StoreCore) -> JoinedChange? {
    guard let later = later as? UndoChange<T> else { return nil }
    let node = core.graph.table(T.self).find(id)
    func upToDate(_ value: T) -> T { node.map { core.upToDate(value, of: $0) } ?? value }
    switch (new, later.old) {
    case (nil, nil): break
    case (let end?, let start?): guard !PropertyReversal.differ(upToDate(end), upToDate(start)) else { return nil }
    default: return nil
    }
    if old == nil, later.new == nil { return .nothing }
    // What other writes have changed of the entities inside is in both values, and so is no change from one to the other once these have gone.
    return .change(UndoChange(id, old: old.map(upToDate), new: later.new))
  }

  // MARK: Taking back

  override func restore(_ revert: UndoReversal) {
    guard let old, new == nil else { return }
    let core = revert.core
    let table = core.graph.table(T.self)
    guard let node = node(core) else { return revert.store(old, in: table) }
    guard let present = value(node, core) else { return }
    let value = core.upToDate(old, of: node)
    if !PropertyReversal.differ(present, value) { return }
    // An entity that was stored again with one that contains it, whose copy may be older.
    if revert.isNew(node) {
      revert.write(value, to: node, given: present)
    } else {
      report(.storedSince, nil, revert)
    }
  }

  override func update(_ revert: UndoReversal) -> Bool {
    guard let old, let new else { return true }
    let core = revert.core
    guard let node = node(core), let present = value(node, core) else { return false }
    var result = present
    let reversal = PropertyReversal.revert(
      &result, from: core.upToDate(new, of: node), to: core.upToDate(old, of: node), except: revert.keptEntities())
    if reversal.hasChanged { revert.write(result, to: node, given: present) }
    for (property, reason) in reversal.conflicts { report(reason, property, revert) }
    return true
  }

  override func reportMissing(_ revert: UndoReversal) { report(.notStored, nil, revert) }

  override func inserted(_ revert: UndoReversal) -> (node: Node, isChanged: Bool)? {
    let core = revert.core
    guard old == nil, let new, let node = node(core), let present = value(node, core) else { return nil }
    return (node, PropertyReversal.differ(present, core.upToDate(new, of: node)))
  }

  override func removable(_ revert: UndoReversal) -> Node? {
    guard old == nil, let new else { return nil }
    let core = revert.core
    guard let node = node(core), let present = value(node, core) else { return nil }
    let changed = PropertyReversal.differences(present, core.upToDate(new, of: node))
    if !changed.isEmpty || revert.keeps(node) {
      report(.changedSince, changed.first, revert)
      return nil
    }
    guard let alias = node as? any AliasNode else { return node }
    alias.unregister(in: core)
    revert.hasChanged = true
    return nil
  }

  override func reportInUse(_ revert: UndoReversal) { report(.inUse, nil, revert) }

  private func report(_ reason: UndoConflict.Reason, _ property: String?, _ revert: UndoReversal) {
    let alias = T.self as? any AliasContent.Type
    let type = alias.map { $0.namedType } ?? T.self
    revert.conflicts.append(
      UndoConflict(type: type, id: AnyHashable(id), property: alias == nil ? property : nil, reason: reason))
  }
}

extension AliasContent {
  fileprivate static var namedType: any Any.Type { Content.self }
}

extension Node {
  /// Whether the entity is stored; whether an alias names something.
  var isStoredOrNamed: Bool { exists && (!table.isInternal || flags.contains(.registered)) }
}
