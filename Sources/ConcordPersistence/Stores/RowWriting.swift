public import Concord
public import ConcordModel

/// A writer of rows, valid within ``RowStore/write(origin:_:)`` only, which reads its own writes.
///
/// A row with a unique value that another row has is refused with ``/ConcordModel/StoreError/notUnique(entity:columns:)``,
/// and not written. It may be written later, when the other row has another value.
public protocol RowWriting: RowReading {
  /// Adds a row, unless the entity has one.
  ///
  /// - Returns: `false` if there is a row already, which is kept.
  /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has one of its unique values;
  ///   another ``/ConcordModel/StoreError`` if the store cannot be written.
  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool
  /// Adds a row, or replaces a stored one with an older stamp.
  ///
  /// - Returns: `false` if the stored row is not older, and is kept.
  /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has one of its unique values;
  ///   another ``/ConcordModel/StoreError`` if the store cannot be written.
  @discardableResult
  func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool
  /// Adds rows, or replaces stored ones with older stamps, as ``insertOrReplaceOlder(_:for:)`` does for one. It leaves those of entities
  /// of which a deletion is remembered whose stamp is not older.
  ///
  /// - Returns: for each row whether it was written.
  /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has one of its unique values;
  ///   another ``/ConcordModel/StoreError`` if the store cannot be written.
  func insertNewest(_ rows: [KeyedRow]) throws -> [Bool]
  /// Tells that the closure of this writing writes once more at most, to no other store, and depends on nothing but whether that has
  /// written.
  ///
  /// A store whose every statement costs a round trip may commit together with it: it says at once that the row is written, and runs the
  /// closure again if it is not. The default does nothing.
  func willWriteOnce()
  /// Adds rows of entities that have none, and of which no deletion is remembered whose stamp is not older. It leaves those with a unique
  /// value that another row has.
  ///
  /// - Returns: for each row whether it was written.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func insertMissing(_ rows: [KeyedRow]) throws -> [Bool]
  /// Prepares for the writing of rows one by one whose unique values may have changed. A store whose every statement costs a round trip
  /// compares them at once.
  ///
  /// The default does nothing.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func prepareUniqueValues(of rows: [KeyedRow]) throws
  /// Replaces a row.
  ///
  /// - Parameters:
  ///   - row: the new row.
  ///   - old: the row that is stored, by which the store may find what differs.
  ///   - key: the key of the entity.
  /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has one of its unique values;
  ///   another ``/ConcordModel/StoreError`` if the store cannot be written.
  func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws
  /// Changes some columns of a stored row, none of which belongs to a collection.
  ///
  /// - Parameters:
  ///   - key: the key of the entity.
  ///   - changed: the positions of the columns that change.
  ///   - values: the values of all columns, in order.
  ///   - stamp: the new stamp of the row.
  /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has one of its unique values;
  ///   another ``/ConcordModel/StoreError`` if the store cannot be written.
  func update(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp) throws
  /// Replaces a row if it has not changed.
  ///
  /// - Returns: `false` if the row has changed, or there is none.
  /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has one of its unique values;
  ///   another ``/ConcordModel/StoreError`` if the store cannot be written.
  func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool
  /// Removes a row, as part of a replacement or a move; nothing happens if there is none.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func delete(_ key: EntityKey) throws
  /// Removes the row of an entity that is deleted, and remembers the stamp of the deletion, also if there is no row. Of several
  /// deletions of an entity the latest stamp is remembered.
  ///
  /// The default remembers nothing.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func delete(_ key: EntityKey, stamp: Stamp) throws
  /// The entities whose rows were added, replaced or removed so far, in any order, with repetitions.
  var changedKeys: [EntityKey] { get }

  /// Returns the forwarded action with a number; `nil` if there is none.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func outboxRow(_ number: Int64) throws -> OutboxRow?
  /// Adds a forwarded action, to which a number is assigned, or replaces the one with its number.
  ///
  /// - Returns: the row as it is stored.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written, or keeps no outbox, which is the default.
  @discardableResult
  func writeOutbox(_ row: OutboxRow) throws -> OutboxRow
  /// Removes all forwarded actions without a trace.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func clearOutbox() throws

  /// Writes a note, or removes it if the value is `nil`.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written, or keeps no notes, which is the default.
  func setNote(_ value: String?, for name: NoteName) throws
  /// Removes all notes of a space.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written, or keeps no notes, which is the default.
  func clearNotes(in space: String) throws
}

/// A row, and the key of its entity.
public typealias KeyedRow = (key: EntityKey, row: StoredRow)

extension RowWriting {
  public func insertNewest(_ rows: [KeyedRow]) throws -> [Bool] { try rows.map { try insertNewest($0) } }

  public func willWriteOnce() {}

  public func prepareUniqueValues(of rows: [KeyedRow]) throws {}

  public func insertMissing(_ rows: [KeyedRow]) throws -> [Bool] {
    try rows.map { key, row in
      if let deletion = try deletion(of: key), deletion >= row.stamp { return false }
      do { return try insert(row, for: key) } catch StoreError.notUnique { return false }
    }
  }

  package func insertNewest(_ row: KeyedRow) throws -> Bool {
    if let deletion = try deletion(of: row.key), deletion >= row.row.stamp { return false }
    return try insertOrReplaceOlder(row.row, for: row.key)
  }

  public func delete(_ key: EntityKey, stamp: Stamp) throws { try delete(key) }

  public func outboxRow(_ number: Int64) throws -> OutboxRow? { nil }
  public func writeOutbox(_ row: OutboxRow) throws -> OutboxRow {
    throw StoreError.storeFailed(store: "\(Self.self)", reason: "it keeps no outbox")
  }
  public func clearOutbox() throws {}
  public func setNote(_ value: String?, for name: NoteName) throws { throw StoreError.withoutNotes(Self.self) }
  public func clearNotes(in space: String) throws { throw StoreError.withoutNotes(Self.self) }

  public func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    if try insert(row, for: key) { return true }
    return try replaceOlder(row, for: key)
  }

  public func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool {
    try replaceComparing(row, base, key)
  }

  public func update(
    _ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp
  ) throws { try updateWhole(key, changed, of: values, stamp: stamp) }

  package func updateWhole(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp)
    throws
  {
    guard let old = try self.row(of: key) else { return }
    var row = old
    for position in changed.positions { row.values[position] = values[values.startIndex + position] }
    row.stamp = stamp
    try update(row, replacing: old, for: key)
  }

  package func replaceComparing(_ row: StoredRow, _ base: StoredRow, _ key: EntityKey) throws -> Bool {
    guard let stored = try self.row(of: key), stored == base else { return false }
    if row != stored { try update(row, replacing: stored, for: key) }
    return true
  }

  package func replaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
    guard let stored = try self.row(of: key), row.stamp > stored.stamp else { return false }
    try update(row, replacing: stored, for: key)
    return true
  }
}
