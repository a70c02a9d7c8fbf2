#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  // Unique values are compared before they are written, since the server would end the transaction.
  extension PostgreSQLSession {
    /// A column of unique values.
    struct UniquePlace: Hashable {
      let entity: EntityDescription
      let position: Int
    }

    /// Finds out which of the values that rows are to have no row has, so that they need not be looked for one by one.
    func prepareUniqueValues(of rows: [KeyedRow]) throws {
      for (entity, rows) in Dictionary(grouping: rows, by: \.key.entity) {
        let table = try table(entity)
        // What the server takes for the same as another number is looked for one by one.
        for column in table.uniqueColumns where column.form.type != .double {
          let position = column.position
          var values = Set(
            rows.compactMap { key, row -> StoredValue? in
              if case .some(.some(let stored)) = preparedRows[key], stored.values[position] == row.values[position] {
                return nil
              }
              return column.key(of: row.values[position])
            })
          if values.count < 2 { continue }
          let parts = inParts(Array(values)).map { Array($0) }
          for result in try run(parts.map(column.findSame)) {
            for row in 0..<result.count {
              if let key = column.key(of: column.form.read(result, row, 0)) { values.remove(key) }
            }
          }
          if !column.isExact {
            for result in try run(parts.map(column.findEntries)) {
              for row in 0..<result.count { values.remove(ColumnForm.any.read(result, row, 0)) }
            }
          }
          freeValues[UniquePlace(entity: entity, position: position)] = values
        }
      }
    }

    /// Notes that a row has its unique values from now on.
    func noteTaken(by row: StoredRow, of table: PostgreSQLTable) {
      if freeValues.isEmpty { return }
      for column in table.uniqueColumns {
        guard let common = column.key(of: row.values[column.position]) else { continue }
        freeValues[UniquePlace(entity: table.entity, position: column.position)]?.remove(common)
      }
    }

    /// Checks that no other row has a value that equals one of these.
    ///
    /// - Returns: whether it was known that no row has them.
    /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)``.
    @discardableResult
    func checkUnique(
      _ columns: [PostgreSQLUniqueColumn], _ key: EntityKey, _ value: (Int) -> StoredValue
    ) throws -> Bool {
      var commands: [PostgreSQLConnection.Command] = []
      var checks: [(column: PostgreSQLUniqueColumn, common: StoredValue, isEntry: Bool)] = []
      for column in columns {
        guard let common = column.key(of: value(column.position)) else { continue }
        // Only one of the rows may have it.
        let place = UniquePlace(entity: key.entity, position: column.position)
        if !freeValues.isEmpty, freeValues[place]?.remove(common) != nil { continue }
        if let command = column.findSame(common, except: key.id) {
          commands.append(command)
          checks.append((column, common, false))
        }
        if !column.isExact {
          commands.append(column.findOwner(of: common, except: key.id))
          checks.append((column, common, true))
        }
      }
      if commands.isEmpty { return true }
      for (check, result) in zip(checks, try run(commands)) where result.count > 0 {
        if !check.isEntry { throw notUnique(check.column, key) }
        try checkOwner(result, of: check.common, check.column, key)
      }
      return false
    }

    private func notUnique(_ column: PostgreSQLUniqueColumn, _ key: EntityKey) -> StoreError {
      .notUnique(entity: key.entity.name, columns: key.entity.columns[column.position].name)
    }

    /// Checks that the row which an entry names has another value by now.
    private func checkOwner(
      _ result: PostgreSQLResult, of common: StoredValue, _ column: PostgreSQLUniqueColumn, _ key: EntityKey
    ) throws {
      guard result.count > 0, let command = column.value(of: ColumnForm.any.read(result, 0, 0)) else { return }
      let row = try run([command])[0]
      guard row.count > 0, !row.isNull(0, 0), column.key(of: column.form.read(row, 0, 0)) == common else { return }
      throw notUnique(column, key)
    }

    /// The positions of the rows with whose unique values the index alone compares: they are not stored apart, and no entry equals them.
    func withoutEntries(_ positions: [Int], _ rows: [KeyedRow], _ table: PostgreSQLTable) throws -> [Int] {
      var positions = positions
      for column in table.uniqueColumns where !column.isExact {
        func value(_ position: Int) -> StoredValue { rows[position].row.values[column.position] }
        positions.removeAll { column.isStoredApart(value($0)) }
        let keys = positions.map { column.key(of: value($0)) }
        let found = Set(
          try run(inParts(keys.compactMap { $0 }).map { column.findEntries(Array($0)) }).flatMap { result in
            (0..<result.count).map { ColumnForm.any.read(result, $0, 0) }
          })
        if found.isEmpty { continue }
        positions = zip(positions, keys).filter { _, key in key.map { !found.contains($0) } ?? true }.map(\.0)
      }
      return positions
    }

    /// Inserts a row without its collections, if there is none with its key.
    func insertUnique(
      _ row: StoredRow, _ key: EntityKey, _ table: PostgreSQLTable, _ insert: PostgreSQLConnection.Command
    ) throws -> Bool {
      let columns = table.uniqueColumns
      if columns.contains(where: { $0.isStoredApart(row.values[$0.position]) }) {
        // The index does not compare these. A row that is there already is not compared.
        if try withRow(of: key, { _ in true }) != nil { return false }
        try checkUnique(columns, key) { row.values[$0] }
      }
      let lookups = columns.filter { !$0.isExact }.compactMap { column in
        column.key(of: row.values[column.position]).map { (column: column, common: $0) }
      }
      // All at once: what has an entry is rare.
      let results = try write([insert] + lookups.map { $0.column.findOwner(of: $0.common, except: key.id) })
      guard results[0].changedRows == 1 else {
        // Either a row with the key is there, or one with a unique value.
        if try withRow(of: key, { _ in true }) == nil {
          try checkUnique(columns, key) { row.values[$0] }
          throw StoreError.refused(store: store, reason: "a constraint of the database keeps a \(key.entity.name) out")
        }
        return false
      }
      do {
        for (lookup, result) in zip(lookups, results.dropFirst()) where result.count > 0 {
          try checkOwner(result, of: lookup.common, lookup.column, key)
        }
      } catch let error as StoreError {
        if failure == nil, let parameter = keyParameter(key.id, table.keyForm) {
          try write([.init(sql: table.delete, parameters: parameter)])
        }
        throw error
      }
      try noteUnique(nil, { row.values[$0] }, columns, key)
      return true
    }

    /// Replaces the entries of a row that was written.
    ///
    /// - Parameters:
    ///   - old: the values that it had before; `nil` for a new row.
    ///   - isLater: whether the row is written later, too.
    func noteUnique(
      _ old: ((Int) -> StoredValue)?, _ new: (Int) -> StoredValue, _ columns: [PostgreSQLUniqueColumn],
      _ key: EntityKey, isLater: Bool = false
    ) throws {
      var commands: [PostgreSQLConnection.Command] = []
      for column in columns where !column.isExact {
        if let old, column.isStoredApart(old(column.position)) { commands.append(column.forget(key.id)) }
        let value = new(column.position)
        guard column.isStoredApart(value), let common = column.key(of: value) else { continue }
        commands.append(column.note(common, of: key.id))
      }
      if commands.isEmpty { return }
      if isLater { try writeLater(commands) } else { try write(commands) }
    }
  }
#endif
