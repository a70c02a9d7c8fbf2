public import Concord
public import ConcordModel

/// What keeps rows: a type of store conforms to it, in a folder of its own. Contexts, strategies and queries know nothing else.
///
/// Every operation may fail, and may take long. Errors are ``/ConcordModel/StoreError``s.
public protocol RowStore: AnyObject, Sendable {
  /// What errors call it.
  var name: String { get }

  /// Reads one committed state, which does not change meanwhile.
  func read<R>(_ body: (any RowReading) throws -> R) throws -> R

  /// Writes all of what `body` writes, or nothing if it throws. Writers wait for each other; nobody sees a part of it.
  ///
  /// `origin` is who writes, for those who follow.
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R

  /// Calls back after each commit, one after the other in commit order, with what it changed, until the result is released.
  /// Commits of other processes are told as well, with no origin.
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation

  /// The same without the commits of one who needs not be told of them. A store that wakes nobody for those saves faster.
  func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation

  /// Returns when all commits so far have been told.
  func settle()

  /// Makes all commits so far survive a failure of the system's power, too, as far as the type of store can.
  func synchronize() throws

  /// Becomes the one that sends what is in the outbox.
  ///
  /// - Returns: `nil` while another process is, or another store with the same file. When that ends, however it does, it can be had.
  func holdOutbox() throws -> OutboxHold?

  /// Ends it. Whatever is called afterwards throws ``/ConcordModel/StoreError/detached(store:)``.
  func close() throws
}

extension RowStore {
  public func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation {
    observeCommits { commit in if commit.origin != origin { body(commit) } }
  }

  public func holdOutbox() throws -> OutboxHold? { OutboxHold {} }

  public func synchronize() throws {}
}

/// Reads rows, within ``RowStore/read(_:)`` only.
public protocol RowReading: AnyObject {
  /// The row of an entity; `nil` if there is none.
  func row(of key: EntityKey) throws -> StoredRow?

  /// The same without making a copy of the row; the source may be used in `body` only.
  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R?

  /// Calls `body` for each row that the query finds, until it returns `false`. The source may be used in `body` only.
  func rows(_ query: RowQuery, _ body: (_ key: StoredValue, _ source: RowSource) throws -> Bool) throws

  /// The same for whoever makes entities of the rows: the source need not tell stamps, and keys are told when asked for.
  func entities(_ query: RowQuery, _ body: (_ key: () -> StoredValue, _ source: RowSource) throws -> Bool) throws

  /// How many rows the query finds.
  func count(_ query: RowQuery) throws -> Int

  /// Which rows of a type refer to an entity, each once.
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue]

  /// What is new in the outbox since a version; all of it, if that is `nil`. A store that keeps no outbox has nothing.
  func outbox(after version: OutboxVersion?) throws -> OutboxChanges
}

extension RowReading {
  public func entities(
    _ query: RowQuery, _ body: (_ key: () -> StoredValue, _ source: RowSource) throws -> Bool
  ) throws {
    try rows(query) { key, source in try body({ key }, source) }
  }

  public func outbox(after version: OutboxVersion?) throws -> OutboxChanges { OutboxChanges() }
}

/// Writes rows, within ``RowStore/write(origin:_:)`` only, and reads what it has written.
///
/// A row whose unique value another one has is refused with ``/ConcordModel/StoreError/notUnique(entity:columns:)``, and nothing of it is
/// written. It may be written later, when the other one has another value.
public protocol RowWriting: RowReading {
  /// Adds a row; `false` if there is one already, which stays.
  func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool
  /// Adds a row, or replaces the one that is there if its stamp is older.
  func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws
  /// Replaces a row.
  func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws
  /// Changes some columns of a row that is there, none of which has to do with a collection. The values are those of all columns, in
  /// order.
  func update(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp) throws
  /// Replaces a row if it is still what it was.
  ///
  /// - Returns: `false` if it is another one by now, or there is none.
  func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool
  /// Removes a row; nothing happens if there is none.
  func delete(_ key: EntityKey) throws
  /// The entities whose rows were added, replaced or removed so far, in any order; one may be there several times.
  var changedKeys: [EntityKey] { get }

  /// The forwarded action with a number; `nil` if there is none.
  func outboxRow(_ number: Int64) throws -> OutboxRow?
  /// Adds a forwarded action, which is given a number, or replaces the one with its number.
  ///
  /// - Returns: the row as it is stored.
  @discardableResult
  func writeOutbox(_ row: OutboxRow) throws -> OutboxRow
  /// Removes all forwarded actions without a trace.
  func clearOutbox() throws
}

extension RowWriting {
  public func outboxRow(_ number: Int64) throws -> OutboxRow? { nil }
  public func writeOutbox(_ row: OutboxRow) throws -> OutboxRow {
    throw StoreError.storeFailed(store: "\(Self.self)", reason: "it keeps no outbox")
  }
  public func clearOutbox() throws {}

  public func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws {
    if try !insert(row, for: key) { try replaceOlder(row, for: key) }
  }

  public func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool {
    try replaceComparing(row, base, key)
  }

  public func update(
    _ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp
  ) throws { try updateWhole(key, changed, of: values, stamp: stamp) }

  func updateWhole(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp) throws {
    guard let old = try self.row(of: key) else { return }
    var row = old
    for position in changed.positions { row.values[position] = values[values.startIndex + position] }
    row.stamp = stamp
    try update(row, replacing: old, for: key)
  }

  func replaceComparing(_ row: StoredRow, _ base: StoredRow, _ key: EntityKey) throws -> Bool {
    guard let stored = try self.row(of: key), stored == base else { return false }
    if row != stored { try update(row, replacing: stored, for: key) }
    return true
  }

  func replaceOlder(_ row: StoredRow, for key: EntityKey) throws {
    guard let stored = try self.row(of: key), row.stamp > stored.stamp else { return }
    try update(row, replacing: stored, for: key)
  }
}

/// What one commit changed.
public struct StoreCommit: Sendable {
  /// The entities whose rows came, changed or went; `nil` if that is not known, as after another process has written.
  public var keys: Set<EntityKey>? { changed.map { Set($0) } }
  // A set takes time, which the writer does not wait for.
  private let changed: [EntityKey]?
  /// Who wrote it, as given to ``RowStore/write(origin:_:)``.
  public let origin: ObjectIdentifier?

  /// The keys come in any order; one may be there several times.
  public init(keys: [EntityKey]?, origin: ObjectIdentifier?) {
    changed = keys
    self.origin = origin
  }
}
