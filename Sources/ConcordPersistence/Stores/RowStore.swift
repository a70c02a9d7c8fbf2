public import Concord
public import ConcordModel

/// A store of rows. Each type of store conforms to it; contexts, strategies and queries know only this protocol.
///
/// Every operation may fail, and may take long. Errors are ``/ConcordModel/StoreError``s.
public protocol RowStore: AnyObject, Sendable {
  /// The name of the store in errors.
  var name: String { get }

  /// Reads one committed state, which does not change meanwhile.
  ///
  /// A store that loses its connection runs the closure again if it has read nothing yet, or has said that it may be: see
  /// ``RowReading/mayReadAgain()``. A coordinator that reads several stores runs it again only if it has said so. A reading within another
  /// one of the same store reads with that, and what it says of itself does not count for that.
  ///
  /// - Parameter body: a closure that reads, on the thread of the caller. The reading is valid during the call only.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be read.
  func read<R>(_ body: (any RowReading) throws -> R) throws -> R

  /// Runs a closure that writes, as one transaction: all of its writes take effect, or none if it throws. Readers never see a
  /// part, and each writer sees what those before it have written.
  ///
  /// A store may run the closure again if its first attempt had no effect, as one that other processes write to at the same
  /// time. It must depend on nothing but what it reads from the session, and what it changes elsewhere has to be right however
  /// often it runs: it sets variables anew instead of adding to them.
  ///
  /// - Parameters:
  ///   - origin: an identifier of the writer, which observers are told; `nil` if none of them needs it.
  ///   - body: a closure that reads and writes, on the thread of the caller. The writing is valid during the call only.
  /// - Returns: what the closure returns, once the transaction is committed.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be written. Then nothing is written.
  func write<R>(origin: ObjectIdentifier?, _ body: (any RowWriting) throws -> R) throws -> R

  /// Calls a closure after each commit, once, with its changes, until the result is released. Commits of other processes have no origin.
  ///
  /// What is read from then on shows the commit, and all that were told before. Those of one thread are told in their order. A store that
  /// processes on other machines write to may find several commits of theirs at once, and then tells them in any order, and a commit of its own
  /// before them.
  ///
  /// - Parameter body: a closure that receives each commit, one call at a time, on any thread.
  /// - Returns: an observation, which ends when it is released.
  func observeCommits(_ body: @escaping @Sendable (StoreCommit) -> Void) -> StoreObservation

  /// Calls a closure after each commit except for those of one origin. A store can save faster if it wakes no observer
  /// for these.
  ///
  /// - Parameters:
  ///   - origin: the origin whose commits are left out, as passed to ``write(origin:_:)``.
  ///   - body: a closure that receives each other commit, one call at a time, on any thread.
  /// - Returns: an observation, which ends when it is released.
  func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation

  /// The number of times that commits with unknown changes were noticed, such as those of other processes. After a read has
  /// begun, it includes all commits that are visible to that read. Observers are told of these commits, too.
  ///
  /// The default is 0, for stores without other writers.
  var unknownCommits: Int { get }

  /// Whether the store can be asked at all at this moment, whatever the answer: a database beyond a network may not be.
  ///
  /// The default is `true`, for stores that are here.
  var isReachable: Bool { get }

  /// Returns when observers have been called for all commits so far.
  func settle()

  /// Makes all commits so far survive a failure of the system's power, too, as far as the type of store can.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the file cannot be synchronised.
  func synchronize() throws

  /// Acquires the exclusive right to send the actions of the outbox.
  ///
  /// - Returns: `nil` while another process has it, or another store with the same file. It becomes available when that
  ///   process ends, however it does.
  /// - Throws: ``/ConcordModel/StoreError`` if the right cannot be asked for, as where a database is out of reach.
  func holdOutbox() throws -> OutboxHold?

  /// Begins to note which rows change, so that ``RowReading/changes(since:of:limit:)`` can tell them. It goes on when the store is opened again.
  ///
  /// - Parameter limits: the numbers of changes and of rows that the feed keeps.
  /// - Throws: ``/ConcordModel/StoreError/storeFailed(store:reason:)`` if the type of store keeps no feed, which is the default.
  func startFeed(_ limits: FeedLimits) throws

  /// Forgets some of the changes that the limits of the feed no longer keep. Whoever follows the feed calls it now and then.
  ///
  /// - Returns: whether there are more to forget.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func trimFeed() throws -> Bool

  /// Gives the space of removed rows back to the system, as far as that is worth it.
  ///
  /// The default does nothing.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be written.
  func giveBackSpace() throws

  /// Closes the store. Later calls throw ``/ConcordModel/StoreError/detached(store:)``.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the file or the connection cannot be closed in order.
  func close() throws
}

extension RowStore {
  public func observeCommits(
    except origin: ObjectIdentifier, _ body: @escaping @Sendable (StoreCommit) -> Void
  ) -> StoreObservation {
    observeCommits { commit in if commit.origin != origin { body(commit) } }
  }

  public var unknownCommits: Int { 0 }

  public var isReachable: Bool { true }

  public func holdOutbox() throws -> OutboxHold? { OutboxHold {} }

  public func startFeed(_ limits: FeedLimits) throws {
    throw StoreError.storeFailed(store: name, reason: "it keeps no feed of changes")
  }

  /// Starts the feed with the default limits.
  ///
  /// - Throws: as ``startFeed(_:)``.
  public func startFeed() throws { try startFeed(FeedLimits()) }

  public func trimFeed() throws -> Bool { false }

  public func giveBackSpace() throws {}

  public func synchronize() throws {}
}

/// A reader of rows, valid within ``RowStore/read(_:)`` only.
public protocol RowReading: AnyObject {
  /// Returns the row of an entity; `nil` if there is none.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func row(of key: EntityKey) throws -> StoredRow?

  /// Passes the row of an entity to a closure without copying it.
  ///
  /// - Parameters:
  ///   - key: the key of the entity.
  ///   - body: a closure that receives the row, which is valid during the call only. It is not called if there is no
  ///     row.
  /// - Returns: what the closure returns; `nil` if there is no row.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be read.
  func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R?

  /// Passes the rows that a query finds to a closure, in the order of the query, until that returns `false`.
  ///
  /// - Parameters:
  ///   - query: the condition, the order and the limit of the rows.
  ///   - body: a closure that receives the key and the row, which is valid during the call only, and returns whether it
  ///     wants the next one.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be read.
  func rows(_ query: RowQuery, _ body: (_ key: StoredValue, _ source: RowSource) throws -> Bool) throws

  /// Passes the rows that a query finds to a closure that makes entities of them, in the order of the query, until that
  /// returns `false`.
  ///
  /// - Parameters:
  ///   - query: the condition, the order and the limit of the rows.
  ///   - body: a closure that receives a closure that computes the key, and the row, which need not have a stamp and is
  ///     valid during the call only. It returns whether it wants the next one.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be read.
  func entities(_ query: RowQuery, _ body: (_ key: () -> StoredValue, _ source: RowSource) throws -> Bool) throws

  /// Returns the number of rows that a query finds.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func count(_ query: RowQuery) throws -> Int

  /// Returns the steps that the store takes for a query, as it describes them to a person.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func steps(of query: RowQuery) throws -> [String]

  /// Returns the store's plan of a query: how it finds the rows of each table.
  ///
  /// The default is an empty plan, for stores that have no indexes to choose from.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func plan(of query: RowQuery) throws -> QueryPlan

  /// Returns the keys of the rows of a type that refer to an entity, each once.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue]

  /// Returns the stamp of the last deletion of an entity, as long as the store remembers it; `nil` if there is none. An entity that
  /// was stored again may still have one.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func deletion(of key: EntityKey) throws -> Stamp?

  /// Returns the stamps of the last deletions of entities, as ``deletion(of:)`` does for one.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func deletions(of keys: [EntityKey]) throws -> [EntityKey: Stamp]

  /// Prepares for the reading of rows one by one. A store whose every statement costs a round trip reads them at once.
  ///
  /// The default does nothing.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func prepare(_ keys: [EntityKey]) throws

  /// Tells that the closure of this reading reads once more at most, and may be run again.
  ///
  /// A store whose every statement costs a round trip need not begin a transaction then. If more is read all the same, it runs the
  /// closure again. The default does nothing.
  func willReadOnce()

  /// Tells that the closure of this reading may be run again, also after it has read something: it changes nothing elsewhere, or sets it
  /// anew.
  ///
  /// A store that has lost its connection does so. The default does nothing.
  func mayReadAgain()

  /// Returns the error of the store for one that this reading has thrown about an entity. Whoever keeps an error beyond the reading, or goes
  /// on after it, needs it: the store itself throws it for what leaves the reading.
  ///
  /// The default returns the error as it is.
  func storeError(_ error: any Error, of entity: EntityDescription) -> any Error

  /// Returns the changes in the outbox since a version; all rows if that is `nil`. A store without an outbox has none.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func outbox(after version: OutboxVersion?) throws -> OutboxChanges

  /// Returns a note; `nil` if there is none.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read, or keeps no notes, which is the default.
  func note(_ name: NoteName) throws -> String?

  /// Passes the notes of a space to a closure in the order of their names, which is that of their UTF-8, until that
  /// returns `false`.
  ///
  /// - Parameters:
  ///   - space: the space of the notes.
  ///   - name: a name; the notes that follow it in the order are passed. `nil` for all.
  ///   - body: a closure that receives the name and the text of a note, and returns whether it wants the next one.
  /// - Throws: what the closure throws; ``/ConcordModel/StoreError`` if the store cannot be read, or keeps no notes,
  ///   which is the default.
  func notes(
    in space: String, after name: String?, _ body: (_ name: String, _ value: String) throws -> Bool
  ) throws

  /// Returns the position in the feed of changes of the state that this reading sees.
  ///
  /// - Throws: ``/ConcordModel/StoreError/storeFailed(store:reason:)`` if the store has no feed; see ``RowStore/startFeed()``.
  func position() throws -> StorePosition

  /// Returns the rows that were changed between a position and the state that this reading sees, each once.
  ///
  /// - Parameters:
  ///   - position: an earlier position of this feed.
  ///   - entities: the entities whose rows are told; `nil` for all.
  ///   - limit: the number of changes beyond which only the keys of the rows are told. Beyond ten times as many keys nothing is.
  /// - Returns: `nil` if any row may have changed: the position is of another feed, or ahead of this one, or too much has changed since.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read, or has no feed; see ``RowStore/startFeed()``.
  func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges?

  /// Returns the entities that commits of other processes have changed, as this reading sees them, of which observers of the store are
  /// not notified yet. Whoever shows a part of what this reading sees shows these, too. Afterwards ``RowStore/unknownCommits`` counts
  /// those of the commits whose changes are not known.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func unannouncedKeys() throws -> Set<EntityKey>

  /// Returns the entities of ``unannouncedKeys()``, and prepares for the reading of rows, as ``prepare(_:)`` does. A store whose every
  /// statement costs a round trip does both in one.
  ///
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read.
  func unannouncedKeys(preparing keys: [EntityKey]) throws -> Set<EntityKey>
}

extension RowReading {
  public func entities(
    _ query: RowQuery, _ body: (_ key: () -> StoredValue, _ source: RowSource) throws -> Bool
  ) throws {
    try rows(query) { key, source in try body({ key }, source) }
  }

  public func steps(of query: RowQuery) throws -> [String] { [] }

  public func plan(of query: RowQuery) throws -> QueryPlan { QueryPlan() }

  public func unannouncedKeys() throws -> Set<EntityKey> { [] }

  public func unannouncedKeys(preparing keys: [EntityKey]) throws -> Set<EntityKey> {
    try prepare(keys)
    return try unannouncedKeys()
  }

  public func deletion(of key: EntityKey) throws -> Stamp? { nil }

  public func deletions(of keys: [EntityKey]) throws -> [EntityKey: Stamp] {
    try keys.reduce(into: [:]) { found, key in if let stamp = try deletion(of: key) { found[key] = stamp } }
  }

  public func prepare(_ keys: [EntityKey]) throws {}

  public func willReadOnce() {}

  public func mayReadAgain() {}

  public func storeError(_ error: any Error, of entity: EntityDescription) -> any Error { error }

  public func note(_ name: NoteName) throws -> String? { throw StoreError.withoutNotes(Self.self) }
  public func notes(in space: String, after name: String?, _ body: (String, String) throws -> Bool) throws {
    throw StoreError.withoutNotes(Self.self)
  }
  public func position() throws -> StorePosition { throw StoreError.withoutFeed("\(Self.self)") }
  public func changes(
    since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int
  ) throws -> RowChanges? { throw StoreError.withoutFeed("\(Self.self)") }

  /// Returns all rows that were changed between a position and the state that this reading sees, each once, however many they are.
  ///
  /// - Returns: `nil` if any row may have changed: the position is of another feed, or ahead of this one.
  /// - Throws: as ``changes(since:of:limit:)``.
  public func changes(since position: StorePosition) throws -> RowChanges? {
    try changes(since: position, of: nil, limit: .max)
  }

  public func outbox(after version: OutboxVersion?) throws -> OutboxChanges {
    OutboxChanges(isWhole: version != .empty)
  }
}

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

/// The changes of one commit.
public struct StoreCommit: Sendable {
  /// The entities whose rows were inserted, changed or removed; `nil` if they are not known, as after a write of another
  /// process.
  public var keys: Set<EntityKey>? { changed.map { Set($0) } }
  // Made a set on demand, since the writer would have to wait for it.
  private let changed: [EntityKey]?
  /// The writer, as passed to ``RowStore/write(origin:_:)``.
  public let origin: ObjectIdentifier?

  /// Creates a commit's changes. The keys are in any order, with repetitions.
  public init(keys: [EntityKey]?, origin: ObjectIdentifier?) {
    changed = keys
    self.origin = origin
  }
}
