package import ConcordModel

extension EntityDescription {
  /// The entities that a row refers to: the names of their types, and their keys.
  package func references(of row: StoredRow) -> [(target: String, key: StoredValue)] {
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

  /// Returns the entities that a row refers to in places where another row holds something else.
  ///
  /// - Complexity: constant for a collection that the two rows share, else its length.
  func references(
    of row: StoredRow, differingFrom other: StoredRow?
  ) -> [(target: String, key: StoredValue)] {
    guard let other else { return references(of: row) }
    var found: [(target: String, key: StoredValue)] = []
    for (position, column) in columns.enumerated() {
      guard let target = column.target, !row.values[position].isNull else { continue }
      if row.values[position] != other.values[position] { found.append((target, row.values[position])) }
    }
    for (index, collection) in collections.enumerated() {
      let (rows, others) = (row.collections[index], other.collections[index])
      let targets = collection.columns.map(\.target)
      for (number, element) in rows.enumerated().dropFirst(rows.countOfSameElements(at: others)) {
        if others.indices.contains(number), others[number] == element { continue }
        for (value, target) in zip(element, targets) {
          if let target, !value.isNull { found.append((target, value)) }
        }
      }
    }
    return found
  }

  /// Returns the entities that a row refers to in places where another row holds something else, each once, as keys of a
  /// model.
  package func referencedKeys(of row: StoredRow, differingFrom other: StoredRow? = nil, in model: Model) -> Set<
    EntityKey
  > {
    Set(
      references(of: row, differingFrom: other).compactMap { target, key in
        model.entity(named: target).map { EntityKey($0, key) }
      })
  }
}

extension [[StoredValue]] {
  /// Returns the number of elements before the first difference from another array.
  ///
  /// - Complexity: constant if the two share their storage, else the result.
  func countOfSameElements(at other: [[StoredValue]]) -> Int {
    let isShared = withUnsafeBufferPointer { a in other.withUnsafeBufferPointer { b in a.baseAddress == b.baseAddress }
    }
    return isShared ? Swift.min(count, other.count) : zip(self, other).prefix { $0 == $1 }.count
  }
}
