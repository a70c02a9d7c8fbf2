#if Persistence
  import Concord
  import ConcordModel
  import GRDB

  extension SQLiteSession {
    func update(_ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp) throws {
      // The id as it was given may be told by the key alone.
      if let position = key.entity.idPosition, changed.contains(position) {
        return try updateWhole(key, changed, of: values, stamp: stamp)
      }
      let table = try table(key.entity)
      if table.uniqueColumns.contains(where: { changed.contains($0.position) }),
        try mustCompare(table, { values[values.startIndex + $0] })
      {
        return try updateWhole(key, changed, of: values, stamp: stamp)
      }
      let (statement, positions) = try statements(key.entity).update(of: changed)
      defer { statement.reset() }
      var next: Int32 = 1
      for position in positions {
        try statement.bind(values[values.startIndex + position], at: next)
        next += 1
      }
      try statement.bind(.real(stamp), at: next)
      try statement.bind(key.id, at: next + 1)
      try run(statement)
      changedKeys.append(key)
    }
  }
#endif
