#if Persistence
  import ConcordModel
  import GRDB

  /// Reads and writes a file within one transaction of GRDB's.
  final class SQLiteSession: RowWriting {
    private let db: Database
    private let tables: [EntityDescription: SQLiteTable]
    private let store: String
    /// Statements that nobody uses now. One that is in use is not here, so that reading a row may read others of its type.
    private var idle: [Purpose: SQLiteStatement] = [:]
    private(set) var changedKeys: Set<EntityKey> = []

    private enum Purpose: Hashable {
      case row(EntityDescription), insert(EntityDescription), update(EntityDescription), delete(EntityDescription)
      case collection(EntityDescription, Int), insertElement(EntityDescription, Int), deleteRest(EntityDescription, Int)
      case referrers(EntityDescription, String)
    }

    init(_ db: Database, tables: [EntityDescription: SQLiteTable], store: String) {
      self.db = db
      self.tables = tables
      self.store = store
    }

    private func table(_ entity: EntityDescription) throws -> SQLiteTable {
      guard let table = tables[entity] else { throw StoreError.noStore(entity: entity.name) }
      return table
    }

    private func with<R>(_ purpose: Purpose, _ sql: String, _ body: (SQLiteStatement) throws -> R) throws -> R {
      let statement: SQLiteStatement
      if let present = idle.removeValue(forKey: purpose) {
        statement = present
      } else {
        statement = SQLiteStatement(try db.makeStatement(sql: sql))
      }
      defer {
        statement.reset()
        idle[purpose] = statement
      }
      return try body(statement)
    }

    // MARK: Reading

    func row(of key: EntityKey) throws -> StoredRow? {
      try withRow(of: key) { source in
        StoredRow(
          values: key.entity.columns.indices.map { source.value(at: $0) },
          collections: try key.entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
      }
    }

    func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
      let table = try table(key.entity)
      return try with(.row(key.entity), table.selectRow) { statement in
        try statement.bind(key.id, at: 1)
        guard try statement.step() else { return nil }
        return try body(SQLiteRowSource(statement, self, table, key: key.id))
      }
    }

    func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
      let table = try table(query.entity)
      let select = SQLiteQuery(query, table)
      let statement = SQLiteStatement(try db.makeStatement(sql: select.rows))
      defer { statement.reset() }
      try select.bind(to: statement)
      let source = SQLiteRowSource(statement, self, table, key: nil)
      while try statement.step() {
        if try !body(statement.value(at: table.keyPosition), source) { return }
      }
    }

    func count(_ query: RowQuery) throws -> Int {
      let select = SQLiteQuery(query, try table(query.entity))
      let statement = SQLiteStatement(try db.makeStatement(sql: select.count))
      defer { statement.reset() }
      try select.bind(to: statement)
      return try statement.step() ? Int(statement.integer(at: 0) ?? 0) : 0
    }

    func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
      guard let sql = try table(entity).referrers[key.entity.name] else { return [] }
      return try with(.referrers(entity, key.entity.name), sql) { statement in
        try statement.bind(key.id, at: 1)
        var found: [StoredValue] = []
        while try statement.step() { found.append(statement.value(at: 0)) }
        return found
      }
    }

    func collection(_ index: Int, of entity: EntityDescription, owner: StoredValue) throws -> [[StoredValue]] {
      let count = Int32(entity.collections[index].columns.count)
      return try with(.collection(entity, index), try table(entity).collections[index].select) { statement in
        try statement.bind(owner, at: 1)
        var rows: [[StoredValue]] = []
        while try statement.step() { rows.append((0..<count).map { statement.value(at: $0) }) }
        return rows
      }
    }

    // MARK: Writing

    func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      let table = try table(key.entity)
      let isNew = try with(.insert(key.entity), table.insert) { statement in
        try statement.bind(key.id, at: 1)
        _ = try bind(row, of: key, to: statement, after: 1, table)
        _ = try statement.step()
        return statement.changedRows == 1
      }
      guard isNew else { return false }
      for index in row.collections.indices { try writeCollection(index, row.collections[index], replacing: [], key) }
      changedKeys.insert(key)
      return true
    }

    func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
      let table = try table(key.entity)
      if row.values != old.values || row.stamp != old.stamp {
        try with(.update(key.entity), table.update) { statement in
          let next = try bind(row, of: key, to: statement, after: 0, table)
          try statement.bind(key.id, at: next)
          _ = try statement.step()
        }
      }
      for index in row.collections.indices {
        try writeCollection(index, row.collections[index], replacing: old.collections[index], key)
      }
      changedKeys.insert(key)
    }

    func delete(_ key: EntityKey) throws {
      let table = try table(key.entity)
      for index in key.entity.collections.indices { try deleteRest(index, of: key, from: 0) }
      try with(.delete(key.entity), table.delete) { statement in
        try statement.bind(key.id, at: 1)
        _ = try statement.step()
      }
      changedKeys.insert(key)
    }

    /// Binds all but the key, and returns the next position.
    private func bind(
      _ row: StoredRow, of key: EntityKey, to statement: SQLiteStatement, after last: Int32, _ table: SQLiteTable
    ) throws -> Int32 {
      var next = last + 1
      let idPosition = key.entity.idPosition
      if table.keepsExactID, let idPosition {
        let exact = row.values[idPosition]
        try statement.bind(exact == key.id ? .null : exact, at: next)
        next += 1
      }
      for (position, value) in row.values.enumerated() where position != idPosition {
        try statement.bind(value, at: next)
        next += 1
      }
      // -∞ is a number to SQLite as well.
      try statement.bind(.real(row.stamp), at: next)
      return next + 1
    }

    /// Rows before the first difference stay.
    private func writeCollection(
      _ index: Int, _ rows: [[StoredValue]], replacing old: [[StoredValue]], _ key: EntityKey
    ) throws {
      let kept = zip(rows, old).prefix { $0 == $1 }.count
      if kept < old.count { try deleteRest(index, of: key, from: kept) }
      guard kept < rows.count else { return }
      try with(.insertElement(key.entity, index), try table(key.entity).collections[index].insert) { statement in
        for position in kept..<rows.count {
          try statement.bind(key.id, at: 1)
          try statement.bind(.integer(Int64(position)), at: 2)
          for (column, value) in rows[position].enumerated() { try statement.bind(value, at: Int32(column + 3)) }
          _ = try statement.step()
          statement.reset()
        }
      }
    }

    private func deleteRest(_ index: Int, of key: EntityKey, from position: Int) throws {
      try with(.deleteRest(key.entity, index), try table(key.entity).collections[index].deleteRest) { statement in
        try statement.bind(key.id, at: 1)
        try statement.bind(.integer(Int64(position)), at: 2)
        _ = try statement.step()
      }
    }
  }
#endif
