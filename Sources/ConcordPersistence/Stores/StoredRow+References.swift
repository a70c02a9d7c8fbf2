import ConcordModel

extension EntityDescription {
  /// The entities that a row refers to: the names of their types, and their keys.
  func references(of row: StoredRow) -> [(target: String, key: StoredValue)] {
    var found: [(target: String, key: StoredValue)] = []
    for (column, value) in zip(columns, row.values) {
      if let target = column.target, !value.isNull { found.append((target, value)) }
    }
    for (collection, rows) in zip(collections, row.collections) {
      for (position, column) in collection.columns.enumerated() {
        guard let target = column.target else { continue }
        for row in rows where row.indices.contains(position) && !row[position].isNull {
          found.append((target, row[position]))
        }
      }
    }
    return found
  }

  /// Returns the referenced entities, each once, as keys of a model.
  func referencedKeys(of row: StoredRow, in model: Model) -> Set<EntityKey> {
    Set(references(of: row).compactMap { target, key in model.entity(named: target).map { EntityKey($0, key) } })
  }
}
