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

    /// Whether a collection is stored with as many rows as the base has, and with its rows at the positions that others are to take.
    private func isStored(
      _ base: [[StoredValue]], wherePlacedOtherwise rows: [[StoredValue]], _ index: Int, _ key: EntityKey
    ) throws -> Bool {
      guard try hasNoGaps(index, count: base.count, key) else { return false }
      return try statements(key.entity).with(.element(index)) { statement in
        for position in base.indices where position >= rows.count || rows[position] != base[position] {
          try statement.bind(key.id, at: 1)
          try statement.bind(.integer(Int64(position)), at: 2)
          guard try statement.step() else { return false }
          for (column, value) in base[position].enumerated() where !statement.isSame(value, at: Int32(column)) {
            return false
          }
          statement.reset()
        }
        return true
      }
    }

    /// Writes the positions of a collection at which two arrays of rows differ.
    func writeCollection(
      _ index: Int, _ rows: [[StoredValue]], replacing old: [[StoredValue]], _ key: EntityKey
    ) throws {
      if rows == old { return }
      // Another program may have left gaps.
      guard try old.isEmpty || hasNoGaps(index, count: old.count, key) else {
        try deleteRest(index, of: key, from: .min)
        return try insert(rows, index, key, from: 0)
      }
      if rows.count < old.count { try deleteRest(index, of: key, from: Int64(rows.count)) }
      let first = rows.countOfSameElements(at: old)
      let common = min(rows.count, old.count)
      if first < common { try update(rows, index, key, in: first..<common, replacing: old) }
      if common < rows.count { try insert(rows, index, key, from: common) }
    }

    private func hasNoGaps(_ index: Int, count: Int, _ key: EntityKey) throws -> Bool {
      try statements(key.entity).with(.ends(index)) { statement in
        try statement.bind(key.id, at: 1)
        guard try statement.step() else { return false }
        if count == 0 { return statement.integer(at: 0) == nil }
        return statement.integer(at: 0) == 0 && statement.integer(at: 1) == Int64(count - 1)
      }
    }

    private func insert(_ rows: [[StoredValue]], _ index: Int, _ key: EntityKey, from first: Int) throws {
      try statements(key.entity).with(.insertElement(index)) { statement in
        for position in first..<rows.count {
          try statement.bind(key.id, at: 1)
          try statement.bind(.integer(Int64(position)), at: 2)
          for (column, value) in rows[position].enumerated() { try statement.bind(value, at: Int32(column + 3)) }
          _ = try statement.step()
          statement.reset()
        }
      }
    }

    private func update(
      _ rows: [[StoredValue]], _ index: Int, _ key: EntityKey, in range: Range<Int>, replacing old: [[StoredValue]]
    ) throws {
      try statements(key.entity).with(.updateElement(index)) { statement in
        for position in range where rows[position] != old[position] {
          var next: Int32 = 1
          for value in rows[position] + [key.id, .integer(Int64(position))] {
            try statement.bind(value, at: next)
            next += 1
          }
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
