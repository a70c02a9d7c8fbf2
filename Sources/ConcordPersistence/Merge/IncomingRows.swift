import ConcordModel

/// A table of the rows of merged objects, by the keys of their uniqueness attributes: equal values have one key, whatever
/// their stored forms.
struct IncomingRows {
  private var rows: [IncomingRow?]
  private var indices: [[StoredValue]: Int] = [:]
  private let uniqueness: [StoredColumn]
  private let entity: EntityDescription

  /// Creates a table of rows; of several rows with equal attributes it has the last one.
  init(_ rows: [IncomingRow], _ uniqueness: [StoredColumn], _ entity: EntityDescription) {
    self.rows = rows
    self.uniqueness = uniqueness
    self.entity = entity
    for (index, row) in rows.enumerated() {
      guard let identity = identity(row.key, { row.row.values[$0] }) else { continue }
      if let earlier = indices.updateValue(index, forKey: identity) { self.rows[earlier] = nil }
    }
  }

  /// The rows that were not taken.
  var rest: [IncomingRow] { rows.compactMap { $0 } }

  /// Removes and returns the row with the attributes of a stored one.
  mutating func take(_ key: StoredValue, _ source: RowSource) -> IncomingRow? {
    guard let identity = identity(key, { source.value(at: $0) }), let index = indices.removeValue(forKey: identity)
    else {
      return nil
    }
    defer { rows[index] = nil }
    return rows[index]
  }

  /// Returns the keys of a row's attributes; `nil` if one equals no value, such as NaN. Two `null` are equal here.
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
