import Concord
import ConcordModel

/// A step's change of one row.
struct RowEdit: UndoableChange {
  let key: EntityKey
  /// The row before; `nil` if there was none.
  let old: StoredRow?
  /// The row afterwards; `nil` if there is none.
  let new: StoredRow?

  /// Returns the changes of two lists, one after the other, in one list; `nil` if other saves lie between them.
  static func joined(_ changes: [any UndoableChange], _ later: [any UndoableChange]) -> [RowEdit]? {
    var joined = changes.compactMap { $0 as? RowEdit }
    var places: [EntityKey: Int] = [:]
    for (index, change) in joined.enumerated() { places[change.key] = index }
    for case let change as RowEdit in later {
      guard let place = places[change.key] else {
        joined.append(change)
        continue
      }
      let end = joined[place].new
      guard end == nil ? change.old == nil : change.old.map({ end?.holdsSame(as: $0) ?? false }) ?? false else {
        return nil
      }
      joined[place] = RowEdit(key: change.key, old: joined[place].old, new: change.new)
    }
    return joined.filter { $0.old != nil || $0.new != nil }
  }
}

extension ContextCore {
  /// Returns how the rows differ that this context reads now, and with earlier pending changes.
  func rowEdits(since earlier: PendingChanges) throws -> [RowEdit] {
    let keys = (pending.keys + earlier.keys.filter { pending[$0] == nil }).filter { key in
      guard let present = pending[key], let before = earlier[key] else { return true }
      return present.row != before.row
    }
    if keys.isEmpty { return [] }
    return try parent.read(Set(keys.map(\.entity))) { base in
      let (before, after) = (PendingReading(base, earlier), PendingReading(base, pending))
      return try keys.compactMap { key in
        let (old, new) = (try before.row(of: key), try after.row(of: key))
        guard let old, let new else { return old == nil && new == nil ? nil : RowEdit(key: key, old: old, new: new) }
        return old.holdsSame(as: new) ? nil : RowEdit(key: key, old: old, new: new)
      }
    }
  }
}

/// Records what a context saves, as the parts of a step.
final class RowRecorder {
  private(set) var parts: [[any UndoableChange]] = []
  /// The changes that were pending when the last part ended.
  private(set) var start: PendingChanges
  private var unsaved: [any UndoableChange] = []

  init(_ core: ContextCore) { start = core.pending }

  func willSave(_ core: ContextCore) throws { unsaved = try core.rowEdits(since: start) }

  func didSave(_ core: ContextCore) {
    if !unsaved.isEmpty { parts.append(unsaved) }
    (unsaved, start) = ([], core.pending)
  }
}
