public import ConcordModel

/// A position in a store's feed of changes: a committed state of the store.
public struct StorePosition: Hashable, Sendable, RawRepresentable {
  /// The position as the type of store writes it.
  public var rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
}

/// The changes between two positions of a store's feed.
public struct RowChanges: Sendable {
  /// The changed rows, each once, in the order of their first changes.
  public var rows: [RowChange]

  /// Creates a list of changes.
  public init(rows: [RowChange]) { self.rows = rows }

  /// The number of changes, of any entities, that are looked through where a number of them may be told.
  package static func mostLooked(for limit: Int) -> Int { min(max(0, limit), .max / 16) * 10 }
}

/// A change of a row between two positions of a store's feed.
public struct RowChange: Sendable {
  /// The entity whose row was inserted, changed or removed.
  public var key: EntityKey
  /// The values of the row's columns at the first position; `nil` if there was no row.
  public var before: [StoredValue]?
  /// The entities that were put into the row's collections meanwhile. Some may have stood there before.
  public var added: Set<EntityKey>

  /// Creates a change.
  public init(key: EntityKey, before: [StoredValue]?, added: Set<EntityKey> = []) {
    (self.key, self.before, self.added) = (key, before, added)
  }
}
