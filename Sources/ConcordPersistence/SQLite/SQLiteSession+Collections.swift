#if Persistence
  import ConcordModel

  extension SQLiteSession {
    /// Replaces a row if the stored one has the columns of another one, and, of its collections, the positions in which the two differ.
    /// All else is neither read nor written.
    func replaceDifferences(_ row: StoredRow, _ base: StoredRow, _ key: EntityKey) throws -> Bool {
      let isSame = try withRow(of: key) { source in
        source.stamp == base.stamp && key.entity.columns.indices.allSatisfy { source.isSame(base.values[$0], at: $0) }
      }
      guard isSame ?? false else { return false }
      var isChanged = row.values != base.values || row.stamp != base.stamp
      for index in row.collections.indices where row.collections[index] != base.collections[index] {
        guard try isStored(base.collections[index], wherePlacedOtherwise: row.collections[index], index, key) else {
          return false
        }
        isChanged = true
      }
      if isChanged { try update(row, replacing: base, for: key) }
      return true
    }

    /// Whether a collection is stored with as many elements as the base has, and with its own elements where different ones are to stand.
    private func isStored(
      _ base: StoredElements, wherePlacedOtherwise elements: StoredElements, _ index: Int, _ key: EntityKey
    ) throws -> Bool {
      guard try hasNoGaps(index, count: base.count, key) else { return false }
      return try statements(key.entity).with(.element(index)) { statement in
        for position in elements.countOfSameElements(at: base)..<base.count
        where position >= elements.count || elements[position] != base[position] {
          try statement.bind(key.id, at: 1)
          try statement.bind(.integer(Int64(position)), at: 2)
          guard try statement.step() else { return false }
          for column in 0..<base.width where !statement.isSame(base[position, column], at: Int32(column)) {
            return false
          }
          statement.reset()
        }
        return true
      }
    }

    /// Writes the positions of a collection at which two lists of elements differ.
    func writeCollection(
      _ index: Int, _ elements: StoredElements, replacing old: StoredElements, _ key: EntityKey
    ) throws {
      let first = elements.countOfSameElements(at: old)
      if first == elements.count, first == old.count { return }
      // Another program may have left gaps.
      guard try old.isEmpty || hasNoGaps(index, count: old.count, key) else {
        try deleteRest(index, of: key, from: .min)
        return try insert(elements, index, key, from: 0)
      }
      if elements.count < old.count { try deleteRest(index, of: key, from: Int64(elements.count)) }
      let common = min(elements.count, old.count)
      if first < common { try update(elements, index, key, in: first..<common, replacing: old) }
      if common < elements.count { try insert(elements, index, key, from: common) }
    }

    private func hasNoGaps(_ index: Int, count: Int, _ key: EntityKey) throws -> Bool {
      try statements(key.entity).with(.ends(index)) { statement in
        try statement.bind(key.id, at: 1)
        guard try statement.step() else { return false }
        if count == 0 { return statement.integer(at: 0) == nil }
        return statement.integer(at: 0) == 0 && statement.integer(at: 1) == Int64(count - 1)
      }
    }

    private func insert(_ elements: StoredElements, _ index: Int, _ key: EntityKey, from first: Int) throws {
      try statements(key.entity).with(.insertElement(index)) { statement in
        for position in first..<elements.count {
          try statement.bind(key.id, at: 1)
          try statement.bind(.integer(Int64(position)), at: 2)
          for column in 0..<elements.width { try statement.bind(elements[position, column], at: Int32(column + 3)) }
          _ = try statement.step()
          statement.reset()
        }
      }
    }

    private func update(
      _ elements: StoredElements, _ index: Int, _ key: EntityKey, in range: Range<Int>, replacing old: StoredElements
    ) throws {
      try statements(key.entity).with(.updateElement(index)) { statement in
        for position in range where elements[position] != old[position] {
          let width = Int32(elements.width)
          for column in 0..<width { try statement.bind(elements[position, Int(column)], at: column + 1) }
          try statement.bind(key.id, at: width + 1)
          try statement.bind(.integer(Int64(position)), at: width + 2)
          _ = try statement.step()
          statement.reset()
        }
      }
    }

    func deleteRest(_ index: Int, of key: EntityKey, from position: Int64) throws {
      try statements(key.entity).with(.deleteRest(index)) { statement in
        try statement.bind(key.id, at: 1)
        try statement.bind(.integer(position), at: 2)
        _ = try statement.step()
      }
    }
  }
#endif
