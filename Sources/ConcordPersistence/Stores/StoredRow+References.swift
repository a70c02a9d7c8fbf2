package import ConcordModel

extension EntityDescription {
  /// The entities that a row refers to: the names of their types, and their keys.
  package func references(of row: StoredRow) -> [(target: String, key: StoredValue)] {
    var found: [(target: String, key: StoredValue)] = []
    for (column, value) in zip(columns, row.values) {
      if let target = column.target, !value.isNull { found.append((target, value)) }
    }
    for (collection, elements) in zip(collections, row.collections) {
      for (position, column) in collection.columns.enumerated() where position < elements.width {
        guard let target = column.target else { continue }
        for key in elements.column(position) where !key.isNull { found.append((target, key)) }
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
      let (elements, others) = (row.collections[index], other.collections[index])
      let targets = collection.columns.map(\.target)
      for number in elements.countOfSameElements(at: others)..<elements.count {
        let element = elements[number]
        if number < others.count, others[number] == element { continue }
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
