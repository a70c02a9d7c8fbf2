package import ConcordModel

/// The changes of rows between two positions, merged in their order.
package struct MergedChanges {
  private var positions: [EntityKey: Int] = [:]
  private var merged: [Merged] = []

  private struct Merged {
    var change: RowChange
    /// Whether the values at the first position are known; otherwise no change of the columns has been met.
    var isKnown: Bool
  }

  package init() {}

  /// Adds a change of a row's columns.
  package mutating func add(_ key: EntityKey, before: [StoredValue]?) {
    let position = position(of: key)
    if merged[position].isKnown { return }
    merged[position].change.before = before
    merged[position].isKnown = true
  }

  /// Adds a change that leaves a row's columns as they were.
  package mutating func add(_ key: EntityKey) { _ = position(of: key) }

  /// Adds an entity that was put into a row's lists.
  package mutating func add(_ added: EntityKey, to key: EntityKey) {
    merged[position(of: key)].change.added.insert(added)
  }

  private mutating func position(of key: EntityKey) -> Int {
    if let position = positions[key] { return position }
    positions[key] = merged.count
    merged.append(Merged(change: RowChange(key: key, before: nil), isKnown: false))
    return merged.count - 1
  }

  /// The rows whose columns were not changed, as far as is known.
  package var unchanged: [EntityKey] { merged.filter { !$0.isKnown }.map(\.change.key) }

  /// Returns the changes.
  ///
  /// - Parameter values: a closure that returns the columns of a row as they are.
  package func changes(_ values: (EntityKey) throws -> [StoredValue]?) throws -> RowChanges {
    let rows = try merged.map { merged in
      var change = merged.change
      if !merged.isKnown { change.before = try values(change.key) }
      return change
    }
    return RowChanges(rows: rows)
  }
}
