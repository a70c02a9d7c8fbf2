#if Persistence
  import Concord
  import ConcordModel
  import Foundation
  import GRDB

  /// Reads and writes a file within one transaction of GRDB's.
  final class SQLiteSession: RowWriting {
    let db: Database
    let tables: [EntityDescription: SQLiteTable]
    private let store: String
    private var statements: [ObjectIdentifier: SQLiteStatements] = [:]
    /// The statements used last: most calls are of the same type as the one before.
    private var latest: SQLiteStatements?
    // Not checked for exclusive access, which would be done for each row: keys are appended, and read, by one statement that calls nobody.
    @exclusivity(unchecked) var changedKeys: [EntityKey] = []
    var facts = SQLiteFacts()
    /// The time for which deletions are remembered.
    let deletionTime: TimeInterval
    /// The number of deletions of this session.
    var deletions = 0

    /// Whether the file has notes; `nil` until that is asked.
    var hasNotes: Bool?

    let outboxPresence: SQLiteOutboxPresence
    /// Whether this SQLite has FTS5.
    let hasFTS5: Bool
    /// The entities with searchable texts.
    let searchableEntities: [EntityDescription]
    /// By type, whether the file has an index of its words, as far as that was asked.
    var searchIndexes: [ObjectIdentifier: Bool] = [:]

    init(
      _ db: Database, tables: [EntityDescription: SQLiteTable], store: String, deletionTime: TimeInterval = 0,
      outboxPresence: SQLiteOutboxPresence = SQLiteOutboxPresence(), hasFTS5: Bool = false,
      searchableEntities: [EntityDescription] = []
    ) {
      self.db = db
      self.tables = tables
      self.store = store
      self.deletionTime = deletionTime
      self.outboxPresence = outboxPresence
      (self.hasFTS5, self.searchableEntities) = (hasFTS5, searchableEntities)
    }

    func statements(_ entity: EntityDescription) throws -> SQLiteStatements {
      if let latest, latest.table.entity === entity { return latest }
      let id = ObjectIdentifier(entity.type)
      if let known = statements[id] {
        latest = known
        return known
      }
      guard let table = tables[entity] else { throw StoreError.noStore(entity: entity.name) }
      let new = SQLiteStatements(table, db)
      statements[id] = new
      latest = new
      return new
    }

    func table(_ entity: EntityDescription) throws -> SQLiteTable { try statements(entity).table }

    // MARK: Reading

    func row(of key: EntityKey) throws -> StoredRow? {
      try withRow(of: key) { source in
        StoredRow(
          values: key.entity.columns.indices.map { source.value(at: $0) },
          collections: try key.entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
      }
    }

    func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
      let statements = try statements(key.entity)
      return try statements.with(.row) { statement in
        try statement.bind(key.id, at: 1)
        guard try statement.step() else { return nil }
        return try body(SQLiteRowSource(statement, self, statements.table, key: key.id))
      }
    }

    func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
      let table = try table(query.entity)
      try select(query, table, \.rows, keyPosition: table.keyPosition) { try body($0(), $1) }
    }

    func entities(_ query: RowQuery, _ body: (() -> StoredValue, RowSource) throws -> Bool) throws {
      let table = try table(query.entity)
      try select(query, table, \.entities, keyPosition: table.entityKeyPosition, body)
    }

    private func select(
      _ query: RowQuery, _ table: SQLiteTable, _ sql: KeyPath<SQLiteQuery, String>, keyPosition: Int32,
      _ body: (() -> StoredValue, RowSource) throws -> Bool
    ) throws {
      let query = try simplified(query)
      let parts = try parts(of: query)
      if parts.count == 1 {
        let cursor = try SQLiteCursor(query, parts[0], table, sql, keyPosition, self)
        defer { cursor.close() }
        while try cursor.next() { if try !body({ cursor.key }, cursor.source) { return } }
        return
      }
      // Each has an order that an index tells, or few rows.
      var whole = query
      let needed = query.start.addingReportingOverflow(query.maximum)
      whole.limit = needed.overflow ? nil : needed.partialValue
      whole.offset = 0
      var cursors: [SQLiteCursor] = []
      defer { for cursor in cursors { cursor.close() } }
      for part in parts {
        let cursor = try SQLiteCursor(whole, part, table, sql, keyPosition, self)
        cursors.append(cursor)
        try cursor.advance()
      }
      var toSkip = query.start
      var remaining = query.maximum
      while remaining > 0, let cursor = query.first(of: cursors) {
        if toSkip > 0 {
          toSkip -= 1
        } else {
          remaining -= 1
          if try !body({ cursor.key }, cursor.source) { return }
        }
        try cursor.advance()
      }
    }

    func steps(of query: RowQuery) throws -> [String] {
      try plans(of: query).flatMap { [$0.statement] + $0.lines }
    }

    func plan(of query: RowQuery) throws -> QueryPlan {
      try plans(of: query).reduce(into: QueryPlan()) { $0.add(QueryPlan(sqlite: $1.lines, of: $1.statement)) }
    }

    /// The statements of a query, and what SQLite says of each.
    func plans(
      of query: RowQuery, _ sql: (SQLiteQuery) -> String = { $0.rows }
    ) throws -> [(statement: String, lines: [String])] {
      let query = try simplified(query)
      let table = try table(query.entity)
      return try parts(of: query).map { part in
        let select = try SQLiteQuery(query, table, part)
        let sql = sql(select)
        let statement = SQLiteStatement(try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)"))
        defer { statement.reset() }
        try select.bind(to: statement)
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(at: 3) ?? "") }
        return (sql, lines)
      }
    }

    /// The parts in which a query is read: where an index orders or finds plain texts, the rows with other texts,
    /// usually none, are a separate part.
    func parts(of query: RowQuery) throws -> [SQLitePart] {
      let used = query.indexedTexts
      let searched = try searchedEntities(query.condition, of: query.entity)
      if used.isEmpty { return [SQLitePart(rows: .all, plainTexts: [], searched: searched)] }
      var plain: Set<Int> = []
      for position in used where try !hasOthersThanPlain(position, query.entity) { plain.insert(position) }
      guard let divided = used.first(where: { !plain.contains($0) && query.isHelpedByIndex(onText: $0) }) else {
        return [SQLitePart(rows: .all, plainTexts: plain, searched: searched)]
      }
      return [
        SQLitePart(rows: .plain(divided), plainTexts: plain.union([divided]), searched: searched),
        SQLitePart(rows: .others(divided), plainTexts: plain, searched: searched),
      ]
    }

    private func hasOthersThanPlain(_ position: Int, _ entity: EntityDescription) throws -> Bool {
      let name = quoted(entity.columns[position].name)
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: "SELECT 1 FROM \(quoted(entity.name)) WHERE \(SQLiteTexts.isNotPlain(name)) LIMIT 1"))
      defer { statement.reset() }
      return try statement.step()
    }

    /// The query, for a table whose indexed numbers and dates have no bits that are stored as bytes, as those of NaN are: what asks for
    /// these, too, is two ranges, and SQLite reads all rows rather than two ranges in order.
    func simplified(_ query: RowQuery) throws -> RowQuery {
      // A comparison of bytes alone is the check for such rows itself.
      if case .compares = query.condition { return query }
      var positions = query.condition.columnsBesideBytes.filter {
        let column = query.entity.columns[$0]
        return column.isReal && (column.isIndexed || column.isUnique) && $0 != query.entity.idPosition
      }
      for position in positions {
        let statement = SQLiteStatement(
          try db.cachedStatement(
            sql: """
              SELECT 1 FROM \(quoted(query.entity.name)) WHERE \(quoted(query.entity.columns[position].name)) >= x'' LIMIT 1
              """))
        defer { statement.reset() }
        if try statement.step() { positions.remove(position) }
      }
      guard !positions.isEmpty else { return query }
      var query = query
      query.condition = query.condition.withoutBytes(in: positions)
      return query
    }

    func count(_ query: RowQuery) throws -> Int {
      let query = try simplified(query)
      let table = try table(query.entity)
      let parts = try parts(of: query)
      var counted = query
      if parts.count > 1 { (counted.limit, counted.offset) = (nil, 0) }
      var count = 0
      for part in parts {
        let select = try SQLiteQuery(counted, table, part)
        let statement = try db.reusableStatement(select.count)
        defer { statement.reset() }
        try select.bind(to: statement)
        if try statement.step() { count += Int(statement.integer(at: 0) ?? 0) }
      }
      return parts.count > 1 ? min(max(0, count - query.start), query.maximum) : count
    }

    func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
      let statements = try statements(entity)
      guard statements.table.referrers[key.entity.name] != nil else { return [] }
      return try statements.with(.referrers(key.entity.name)) { statement in
        try statement.bind(key.id, at: 1)
        var found: [StoredValue] = []
        while try statement.step() { found.append(statement.value(at: 0)) }
        return found
      }
    }

    func collection(_ index: Int, of entity: EntityDescription, owner: StoredValue) throws -> StoredElements {
      return try statements(entity).with(.collection(index)) { statement in
        try statement.bind(owner, at: 1)
        var elements = StoredElements(width: entity.collections[index].columns.count)
        while try statement.step() { elements.append { statement.value(at: Int32($0)) } }
        return elements
      }
    }

    // MARK: Writing

    func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      let table = try table(key.entity)
      let isCompared = try mustCompare(table) { row.values[$0] }
      if isCompared {
        if try withRow(of: key, { _ in true }) != nil { return false }
        try checkUnique(row, key, table)
      }
      guard try insert(row, for: key, .insert) else { return false }
      if isCompared { try noteUnique(row, key, table) }
      for index in row.collections.indices {
        // Another program may have deleted an owner with this id, and left its elements.
        try deleteRest(index, of: key, from: .min)
        try writeCollection(index, row.collections[index], replacing: [], key)
      }
      return true
    }

    func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      // One statement does it, unless there are tables of collections or unique values to be compared.
      if key.entity.collections.isEmpty, try !mustCompare(table(key.entity), { row.values[$0] }) {
        return try insert(row, for: key, .insertOrReplaceOlder)
      }
      return try insert(row, for: key) || replaceOlder(row, for: key)
    }

    /// Inserts a row, and returns whether that changed a row.
    private func insert(_ row: StoredRow, for key: EntityKey, _ purpose: SQLiteStatements.Purpose) throws -> Bool {
      let statements = try statements(key.entity)
      let isWritten = try statements.with(purpose) { statement in
        try statement.bind(key.id, at: 1)
        _ = try bind(row, of: key, to: statement, after: 1, statements.table)
        try run(statement)
        return statement.changedRows == 1
      }
      if isWritten { changedKeys.append(key) }
      return isWritten
    }

    func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
      let statements = try statements(key.entity)
      let table = statements.table
      let isCompared = try table.hasOtherUniqueValues(row, old) && mustCompare(table) { row.values[$0] }
      if isCompared { try checkUnique(row, key, table) }
      if row.values != old.values || row.stamp != old.stamp {
        try statements.with(.update) { statement in
          let next = try bind(row, of: key, to: statement, after: 0, statements.table)
          try statement.bind(key.id, at: next)
          try run(statement)
        }
      }
      if isCompared { try noteUnique(row, key, table) }
      for index in row.collections.indices {
        try writeCollection(index, row.collections[index], replacing: old.collections[index], key)
      }
      changedKeys.append(key)
    }

    func replace(_ row: StoredRow, ifSameAs base: StoredRow, for key: EntityKey) throws -> Bool {
      // One statement does it where there are no tables of collections and no unique values to be compared.
      let table = try table(key.entity)
      guard let positions = SQLiteTable.Positions(changedFrom: base, to: row, in: key.entity),
        try !(table.hasOtherUniqueValues(row, base) && mustCompare(table) { row.values[$0] })
      else {
        return try key.entity.collections.isEmpty
          ? replaceComparing(row, base, key) : replaceDifferences(row, base, key)
      }
      let replacement = table.replaceIfSame(positions)
      let statement = SQLiteStatement(try db.cachedStatement(sql: replacement.sql))
      defer { statement.reset() }
      var next: Int32 = 1
      func bind(_ value: StoredValue) throws {
        try statement.bind(value, at: next)
        next += 1
      }
      for position in replacement.positions.all { try bind(row.values[position]) }
      try bind(.real(row.stamp))
      try bind(key.id)
      try bind(.real(base.stamp))
      if table.keepsExactID, let position = key.entity.idPosition {
        try bind(table.exactID(base.values[position], key: key.id))
      }
      for position in base.values.indices where position != key.entity.idPosition { try bind(base.values[position]) }
      try run(statement)
      guard statement.changedRows == 1 else { return false }
      changedKeys.append(key)
      return true
    }

    func delete(_ key: EntityKey) throws {
      for index in key.entity.collections.indices { try deleteRest(index, of: key, from: 0) }
      try statements(key.entity).with(.delete) { statement in
        try statement.bind(key.id, at: 1)
        _ = try statement.step()
      }
      try forgetUnique(key, table(key.entity))
      changedKeys.append(key)
    }

    func storeError(_ error: any Error, of entity: EntityDescription) -> any Error {
      StoreError.translation(of: error, store: store)
    }

    /// Runs a writing statement, and throws the cause of a refusal.
    func run(_ statement: SQLiteStatement) throws {
      do { _ = try statement.step() } catch let failure as SQLiteFailure {
        throw StoreError(code: failure.code, message: failure.message, store: store)
      }
    }

    /// Binds all but the key, and returns the next position.
    private func bind(
      _ row: StoredRow, of key: EntityKey, to statement: SQLiteStatement, after last: Int32, _ table: SQLiteTable
    ) throws -> Int32 {
      var next = last + 1
      let idPosition = key.entity.idPosition
      if table.keepsExactID, let idPosition {
        try statement.bind(table.exactID(row.values[idPosition], key: key.id), at: next)
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
  }
#endif
