#if Persistence
  import ConcordModel
  import GRDB

  // Equal unique values with different stored forms. While a file has no such values, unique indexes alone are checked.
  extension SQLiteSession {
    /// Whether a row must be compared with other rows before it is written.
    func mustCompare(_ table: SQLiteTable, _ value: (Int) -> StoredValue) throws -> Bool {
      if table.uniqueColumns.isEmpty { return false }
      return try hasUniqueKeys() || table.uniqueColumns.contains { $0.isStoredApart(value($0.position)) }
    }

    /// Compares the unique values of a row with those of all other rows.
    ///
    /// - Throws: ``/ConcordModel/StoreError/notUnique(entity:columns:)`` if another row has an equal value.
    func checkUnique(_ row: StoredRow, _ key: EntityKey, _ table: SQLiteTable) throws {
      for column in table.uniqueColumns {
        guard let value = column.coding.key(of: row.values[column.position]) else { continue }
        if try column.isTaken(value, for: key.id, db) {
          throw StoreError.notUnique(entity: key.entity.name, columns: column.name)
        }
      }
    }

    /// Replaces the entries of a row that was written.
    func noteUnique(_ row: StoredRow, _ key: EntityKey, _ table: SQLiteTable) throws {
      for column in table.uniqueColumns {
        let value = row.values[column.position]
        if try hasUniqueKeys() { try column.forget(key.id, db) }
        guard let common = column.coding.key(of: value), common != value else { continue }
        try column.note(common, of: key.id, db)
        facts.hasUniqueKeys = true
      }
    }

    /// Removes the entries of a row.
    func forgetUnique(_ key: EntityKey, _ table: SQLiteTable) throws {
      guard !table.uniqueColumns.isEmpty, try hasUniqueKeys() else { return }
      for column in table.uniqueColumns { try column.forget(key.id, db) }
    }

    /// Whether the file has entries. Makes their table if another program has dropped it.
    private func hasUniqueKeys() throws -> Bool {
      if let known = facts.hasUniqueKeys { return known }
      var found = try lookForUniqueKeys()
      if found == nil {
        try SQLiteUniqueKeys.create(db)
        for column in tables.values.flatMap(\.uniqueColumns) { _ = try SQLiteUniqueKeys.fill(column, db) }
        found = try lookForUniqueKeys()
      }
      facts.hasUniqueKeys = found
      return found ?? false
    }

    /// Returns whether the file has entries; `nil` without their table.
    private func lookForUniqueKeys() throws -> Bool? {
      do {
        let statement = SQLiteStatement(try db.cachedStatement(sql: "SELECT 1 FROM concord_unique LIMIT 1"))
        defer { statement.reset() }
        return try statement.step()
      } catch let error as DatabaseError where error.message?.hasPrefix("no such table") == true {
        return nil
      } catch let failure as SQLiteFailure where failure.message.hasPrefix("no such table") {
        return nil
      }
    }
  }

  extension SQLiteTable {
    /// Whether two rows differ in a unique value.
    func hasOtherUniqueValues(_ a: StoredRow, _ b: StoredRow) -> Bool {
      uniqueColumns.contains { a.values[$0.position] != b.values[$0.position] }
    }
  }
#endif
