import ConcordModel

/// The rows of objects that are merged, by what equal values of their uniqueness attributes have in common, however they are stored.
struct IncomingRows {
  private var rows: [IncomingRow?]
  private var indices: [[StoredValue]: Int] = [:]
  private let uniqueness: [StoredColumn]
  private let entity: EntityDescription

  /// Of several rows with the same attributes the last counts.
  init(_ rows: [IncomingRow], _ uniqueness: [StoredColumn], _ entity: EntityDescription) {
    self.rows = rows
    self.uniqueness = uniqueness
    self.entity = entity
    for (index, row) in rows.enumerated() {
      guard let identity = identity(row.key, { row.row.values[$0] }) else { continue }
      if let earlier = indices.updateValue(index, forKey: identity) { self.rows[earlier] = nil }
    }
  }

  /// Those that were not taken.
  var rest: [IncomingRow] { rows.compactMap { $0 } }

  /// Returns the row that has the attributes of a stored one, once.
  mutating func take(_ key: StoredValue, _ source: RowSource) -> IncomingRow? {
    guard let identity = identity(key, { source.value(at: $0) }), let index = indices.removeValue(forKey: identity)
    else {
      return nil
    }
    defer { rows[index] = nil }
    return rows[index]
  }

  /// `nil` if one of the attributes is equal to none, as NaN. `null` is the same as `null`.
  private func identity(_ key: StoredValue, _ value: (Int) -> StoredValue) -> [StoredValue]? {
    var identity: [StoredValue] = []
    for column in uniqueness {
      switch column {
      case .key: identity.append(key)
      case .position(let position):
        let stored = value(position)
        let description = entity.columns[position]
        guard let common = stored.isNull || description.isExact ? stored : description.coding.key(of: stored) else {
          return nil
        }
        identity.append(common)
      }
    }
    return identity
  }
}
