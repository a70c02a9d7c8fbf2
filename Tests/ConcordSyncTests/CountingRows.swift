#if Server
  import Concord
  import ConcordServer
  import Foundation

  /// A transaction of a store that counts what is looked for, of which notes may be unreadable, and rows may not be inserted.
  final class CountingRows: RowWriting {
    private let rows: any RowWriting
    private(set) var referrers = 0
    private(set) var rowsRead = 0
    /// The space of notes that cannot be read; `nil` if all can.
    var unreadable: String?
    /// Whether the store keeps notes, as one of another program need not.
    var keepsNotes = true
    /// A closure that receives the key of each row before it is inserted.
    var willInsert: (EntityKey) throws -> Void = { _ in }

    init(_ rows: any RowWriting) { self.rows = rows }

    func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
      referrers += 1
      return try rows.referrers(to: key, in: entity)
    }

    func row(of key: EntityKey) throws -> StoredRow? {
      rowsRead += 1
      return try rows.row(of: key)
    }
    func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
      try rows.withRow(of: key, body)
    }
    func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
      try rows.rows(query, body)
    }
    func count(_ query: RowQuery) throws -> Int { try rows.count(query) }
    func outbox(after version: OutboxVersion?) throws -> OutboxChanges { try rows.outbox(after: version) }
    func note(_ name: NoteName) throws -> String? {
      try requireNotes()
      return try rows.note(name)
    }
    private func requireNotes() throws {
      if !keepsNotes { throw StoreError.storeFailed(store: "rows", reason: "it keeps no notes") }
    }
    func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
      try requireNotes()
      if space == unreadable { throw StoreError.locked(store: "device") }
      try rows.notes(in: space, after: name, body)
    }
    func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      try willInsert(key)
      return try rows.insert(row, for: key)
    }
    func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      try willInsert(key)
      return try rows.insertOrReplaceOlder(row, for: key)
    }
    func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
      try rows.update(row, replacing: old, for: key)
    }
    func update(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp) throws {
      try rows.update(key, changed, of: values, stamp: stamp)
    }
    func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool {
      try rows.replace(row, ifSameAs: base, for: key)
    }
    func delete(_ key: EntityKey) throws { try rows.delete(key) }
    var changedKeys: [EntityKey] { rows.changedKeys }
    func outboxRow(_ number: Int64) throws -> OutboxRow? { try rows.outboxRow(number) }
    func writeOutbox(_ row: OutboxRow) throws -> OutboxRow { try rows.writeOutbox(row) }
    func clearOutbox() throws { try rows.clearOutbox() }
    func setNote(_ value: String?, for name: NoteName) throws {
      try requireNotes()
      try rows.setNote(value, for: name)
    }
    func clearNotes(in space: String) throws {
      try requireNotes()
      try rows.clearNotes(in: space)
    }
  }
#endif
