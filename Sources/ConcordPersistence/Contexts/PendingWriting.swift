import Concord
import ConcordModel

/// A writing into pending changes over another reading: the save of a child context to its parent.
final class PendingWriting: RowWriting {
  private let base: any RowReading
  private let before: PendingChanges
  /// The changes written so far.
  private var written: PendingChanges

  private let changes: PendingChanges
  private let policy: MergePolicy?

  /// - Parameters:
  ///   - pending: the changes over the base before this save.
  ///   - changes: the changes of this save.
  ///   - policy: the merge policy where the parent is saved; `nil` for that of each written change.
  init(
    _ base: any RowReading, over pending: PendingChanges = PendingChanges(), of changes: PendingChanges,
    policy: MergePolicy? = nil
  ) {
    self.base = base
    (before, written) = (pending, pending)
    self.changes = changes
    self.policy = policy
  }

  var changedKeys: [EntityKey] { written.keys }

  /// The changes before this save and those that it wrote, each in the order of the first change to its entity.
  var result: PendingChanges {
    var result = written
    result.arrange(as: changes, addedTo: before)
    return result
  }

  private var current: PendingReading { PendingReading(base, written) }

  func row(of key: EntityKey) throws -> StoredRow? { try current.row(of: key) }
  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
    try current.withRow(of: key, body)
  }
  func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws { try current.rows(query, body) }
  func count(_ query: RowQuery) throws -> Int { try current.count(query) }
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
    written.knowReferences()
    return try current.referrers(to: key, in: entity)
  }
  func deletion(of key: EntityKey) throws -> Stamp? { try current.deletion(of: key) }

  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    if try self.row(of: key) != nil { return false }
    try put(row, stamp: row.stamp, key)
    return true
  }

  func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
    try put(row, stamp: row.stamp, key)
  }

  /// A removal whose stamp is -∞ is not remembered.
  func delete(_ key: EntityKey) throws { try delete(key, stamp: -.infinity) }

  func delete(_ key: EntityKey, stamp: Stamp) throws {
    let given = [changes[key]?.givenDeletion, written[key]?.givenDeletion].compactMap { $0 }.max()
    if try row(of: key) == nil {
      if let change = written[key], change.row == nil {
        written[key]?.stamp = max(change.stamp, stamp)
        written[key]?.noteDeletion(given)
        return
      }
      if given == nil { return }
    } else if written[key] != nil, given == nil, try base.row(of: key) == nil {
      written[key] = nil
      return
    }
    try put(nil, stamp: max(stamp, given ?? stamp), key)
  }

  private func put(_ row: StoredRow?, stamp: Stamp, _ key: EntityKey) throws {
    let present = written[key]
    var new =
      if let present {
        present.followed(by: row, stamp, below: row == nil ? nil : try self.row(of: key), key.entity)
      } else {
        PendingChange(base: try self.base.row(of: key).map { .row($0) } ?? .unknown, row: row, stamp: stamp)
      }
    if let change = changes[key] {
      if change.isInsertedAgain { new.isInsertedAgain = true }
      for position in change.unlinked where present?.isEdited(position, key.entity) != true {
        new.unlinked.insert(position)
      }
      new.isUnstamped = change.isUnstamped
      new.isNested = change.isNested
      new.noteDeletion(change.givenDeletion)
      new.policy = change.policy ?? policy
    }
    written[key] = new
  }
}
