public import Concord
public import ConcordModel

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

  /// Returns the position in the feed of changes of the state that this reading sees, before rows of some types are read.
  ///
  /// Where a writer may empty a table also for a reading that has begun, as `TRUNCATE` does in PostgreSQL, it waits for the end of this reading.
  ///
  /// - Parameter entities: the entities whose rows are read next.
  /// - Throws: ``/ConcordModel/StoreError/storeFailed(store:reason:)`` if the store has no feed; see ``RowStore/startFeed()``.
  func position(reading entities: Set<EntityDescription>) throws -> StorePosition

  /// Returns the rows that were changed between a position and the state that this reading sees, each once, with the columns as they were.
  ///
  /// - Parameters:
  ///   - position: an earlier position of this feed.
  ///   - entities: the entities whose rows are told; `nil` for all.
  ///   - limit: the number of changes beyond which nothing is told. Of changes of other entities ten times as many are looked through.
  /// - Returns: `nil` if that is not known: the position is of another feed, ahead of this one, or older than the changes that the feed keeps one
  ///   by one; too much has changed since; or a program with another model has written the changes. See ``changed(_:since:)``.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read, or has no feed; see ``RowStore/startFeed()``.
  /// - Complexity: the number of the changes that are looked through. Where the position alone says that they are not known, none is read.
  func changes(since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int) throws -> RowChanges?

  /// Returns those of some rows that were changed between a position and the state that this reading sees.
  ///
  /// - Parameters:
  ///   - keys: the keys of the rows, which need not be there.
  ///   - position: an earlier position of this feed.
  /// - Returns: `nil` if any row may have changed: the position is of another feed, ahead of this one, or older than what the feed keeps.
  /// - Throws: ``/ConcordModel/StoreError`` if the store cannot be read, or has no feed; see ``RowStore/startFeed()``.
  /// - Complexity: that of looking up the given rows, however many other rows have changed, also those of other entities with the same ids.
  func changed(_ keys: [EntityKey], since position: StorePosition) throws -> Set<EntityKey>?

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
  public func position(reading entities: Set<EntityDescription>) throws -> StorePosition { try position() }
  public func changes(
    since position: StorePosition, of entities: Set<EntityDescription>?, limit: Int
  ) throws -> RowChanges? { throw StoreError.withoutFeed("\(Self.self)") }
  public func changed(_ keys: [EntityKey], since position: StorePosition) throws -> Set<EntityKey>? {
    throw StoreError.withoutFeed("\(Self.self)")
  }

  /// Returns all rows that were changed between a position and the state that this reading sees, each once, however many they are.
  ///
  /// - Returns: `nil` if that is not known, as in ``changes(since:of:limit:)``.
  /// - Throws: as ``changes(since:of:limit:)``.
  public func changes(since position: StorePosition) throws -> RowChanges? {
    try changes(since: position, of: nil, limit: .max)
  }

  public func outbox(after version: OutboxVersion?) throws -> OutboxChanges {
    OutboxChanges(isWhole: version != .empty)
  }
}
