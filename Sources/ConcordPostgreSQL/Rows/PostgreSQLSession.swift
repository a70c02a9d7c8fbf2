#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// Reads and writes within one transaction of a connection.
  final class PostgreSQLSession: RowWriting {
    let connection: PostgreSQLConnection
    let store: String
    private let tables: [EntityDescription: PostgreSQLTable]
    private var latest: PostgreSQLTable?
    var changedKeys: [EntityKey] = []
    /// What has ended the transaction, whatever was made of it.
    private(set) var failure: PostgreSQLFailure?
    /// The id of the transaction; `nil` as long as nothing was written.
    private(set) var transactionID: UInt64?
    /// Collections that were read with many rows at once, by their owners.
    var fetchedCollections: [Int: [StoredValue: [[StoredValue]]]] = [:]
    var cursorCount = 0
    private let watch: PostgreSQLWatch?
    /// The time for which deletions are remembered, in seconds.
    let deletionTime: TimeInterval
    var deletionCount = 0

    init(
      _ connection: PostgreSQLConnection, tables: [EntityDescription: PostgreSQLTable], store: String,
      watch: PostgreSQLWatch? = nil, deletionTime: TimeInterval = 0
    ) {
      self.deletionTime = deletionTime
      self.watch = watch
      self.connection = connection
      self.tables = tables
      self.store = store
    }

    func table(_ entity: EntityDescription) throws -> PostgreSQLTable {
      if let latest, latest.entity === entity { return latest }
      guard let table = tables[entity] else { throw StoreError.noStore(entity: entity.name) }
      latest = table
      return table
    }

    // MARK: Running

    @discardableResult
    func run(_ commands: [PostgreSQLConnection.Command]) throws -> [PostgreSQLResult] {
      do { return try connection.run(commands) } catch let failure as PostgreSQLFailure {
        if self.failure == nil { self.failure = failure }
        throw StoreError(failure, store: store)
      }
    }

    func query(_ sql: String, _ parameters: PostgreSQLParameters) throws -> PostgreSQLResult {
      try run([.init(sql: sql, parameters: parameters)])[0]
    }

    /// Runs statements that write. With the first of them the id of the transaction is asked for, by which the outcome can be found out if the
    /// answer to the commit is lost.
    @discardableResult
    func write(_ commands: [PostgreSQLConnection.Command]) throws -> [PostgreSQLResult] {
      if transactionID != nil { return try run(commands) }
      var results = try run(commands + [.init(sql: "SELECT pg_current_xact_id()")])
      transactionID = results.removeLast().bits(0, 0)
      return results
    }

    /// Appends a value to parameters.
    ///
    /// - Throws: ``/ConcordModel/StoreError/refused(store:reason:)`` if the column cannot keep it.
    func append(_ value: StoredValue, _ form: ColumnForm, to parameters: inout PostgreSQLParameters) throws {
      guard form.append(value, to: &parameters) else {
        throw StoreError.refused(store: store, reason: "a column of type \(form.type.rawValue) cannot keep \(value)")
      }
    }

    /// The key as a parameter; `nil` if no row can have it.
    func keyParameter(_ key: StoredValue, _ form: ColumnForm) -> PostgreSQLParameters? {
      var parameters = PostgreSQLParameters()
      return !key.isNull && form.append(key, to: &parameters) ? parameters : nil
    }

    // MARK: Reading

    func unannouncedKeys() throws -> Set<EntityKey> { try watch?.untold { try run([$0])[0] } ?? [] }

    func row(of key: EntityKey) throws -> StoredRow? {
      try withRow(of: key) { source in
        StoredRow(
          values: key.entity.columns.indices.map { source.value(at: $0) },
          collections: try key.entity.collections.indices.map { try source.collection($0) }, stamp: source.stamp)
      }
    }

    func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
      let table = try table(key.entity)
      guard let parameter = keyParameter(key.id, table.keyForm) else { return nil }
      let result = try query(table.selectRow, parameter)
      guard result.count > 0 else { return nil }
      return try body(PostgreSQLRowSource(result, 0, table, self))
    }

    func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
      let table = try table(entity)
      guard let referrers = table.referrers[key.entity.name],
        let parameter = keyParameter(key.id, referrers.form)
      else { return [] }
      let result = try query(referrers.sql, parameter)
      return (0..<result.count).map { table.keyForm.read(result, $0, 0) }
    }

    func collection(_ index: Int, of table: PostgreSQLTable, owner: StoredValue) throws -> [[StoredValue]] {
      let collection = table.collections[index]
      guard let parameter = keyParameter(owner, table.keyForm) else { return [] }
      let result = try query(collection.select, parameter)
      return (0..<result.count).map { Self.element(result, $0, collection.forms) }
    }

    static func element(_ result: PostgreSQLResult, _ row: Int, _ forms: [ColumnForm]) -> [StoredValue] {
      forms.enumerated().map { result.isNull(row, $0) ? .null : $1.read(result, row, $0) }
    }

    // MARK: Writing

    /// The parameters of the statements that write a whole row.
    private func parameters(_ row: StoredRow, _ key: EntityKey, _ table: PostgreSQLTable) throws -> PostgreSQLParameters
    {
      var parameters = PostgreSQLParameters()
      try append(key.id, table.keyForm, to: &parameters)
      if table.keepsExactID, let position = key.entity.idPosition {
        try append(table.exactID(row.values[position], key: key.id), table.forms[position], to: &parameters)
      }
      for position in table.storedPositions {
        try append(row.values[position], table.forms[position], to: &parameters)
      }
      parameters.append(row.stamp)
      return parameters
    }

    func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      let table = try table(key.entity)
      let parameters = try parameters(row, key, table)
      let insert = PostgreSQLConnection.Command(sql: table.insert, parameters: parameters)
      if table.uniqueColumns.isEmpty {
        guard try write([insert])[0].changedRows == 1 else { return false }
      } else {
        guard try insertUnique(row, key, table, insert) else { return false }
      }
      // The rows of collections do not go along, since there may be a row already.
      var commands: [PostgreSQLConnection.Command] = []
      for index in row.collections.indices {
        try appendElements(index, row.collections[index], from: 0, key, table, to: &commands)
      }
      if !commands.isEmpty { try write(commands) }
      changedKeys.append(key)
      return true
    }

    func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      let table = try table(key.entity)
      // One statement does it, unless there are collections to be compared, or unique values.
      guard table.collections.isEmpty, table.uniqueColumns.isEmpty else {
        return try insert(row, for: key) || replaceOlder(row, for: key)
      }
      let parameters = try parameters(row, key, table)
      let isWritten =
        try write([.init(sql: table.insertOrReplaceOlder, parameters: parameters)])[0].changedRows == 1
      if isWritten { changedKeys.append(key) }
      return isWritten
    }

    func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
      let table = try table(key.entity)
      var commands: [PostgreSQLConnection.Command] = []
      let changed = table.uniqueColumns.filter { row.values[$0.position] != old.values[$0.position] }
      if row.values != old.values || row.stamp != old.stamp {
        try checkUnique(changed, key) { row.values[$0] }
        commands.append(.init(sql: table.update, parameters: try parameters(row, key, table)))
      }
      for index in row.collections.indices {
        let (rows, old) = (row.collections[index], old.collections[index])
        // Rows before the first difference stay.
        let kept = zip(rows, old).prefix { $0 == $1 }.count
        if kept < old.count { commands.append(try deleteRest(index, of: key, from: kept, table)) }
        try appendElements(index, rows, from: kept, key, table, to: &commands)
      }
      if !commands.isEmpty { try write(commands) }
      try noteUnique({ old.values[$0] }, { row.values[$0] }, changed, key)
      changedKeys.append(key)
    }

    func update(
      _ key: EntityKey, _ changed: ColumnSet, of values: ArraySlice<StoredValue>, stamp: Stamp
    ) throws {
      // The id as it was given may be told by the key alone.
      if let position = key.entity.idPosition, changed.contains(position) {
        return try updateWhole(key, changed, of: values, stamp: stamp)
      }
      let table = try table(key.entity)
      // The entries of unique values depend on the earlier ones.
      if table.uniqueColumns.contains(where: { !$0.isExact && changed.contains($0.position) }) {
        return try updateWhole(key, changed, of: values, stamp: stamp)
      }
      let positions = changed.positions
      func value(_ position: Int) -> StoredValue { values[values.startIndex + position] }
      try checkUnique(table.uniqueColumns.filter { changed.contains($0.position) }, key, value)
      var parameters = PostgreSQLParameters()
      for position in positions { try append(value(position), table.forms[position], to: &parameters) }
      try append(key.id, table.keyForm, to: &parameters)
      parameters.append(stamp)
      try write([.init(sql: table.update(of: positions), parameters: parameters)])
      changedKeys.append(key)
    }

    func delete(_ key: EntityKey) throws {
      let table = try table(key.entity)
      if let parameter = keyParameter(key.id, table.keyForm) {
        var commands: [PostgreSQLConnection.Command] = []
        for index in table.collections.indices { commands.append(try deleteRest(index, of: key, from: 0, table)) }
        commands.append(.init(sql: table.delete, parameters: parameter))
        for column in table.uniqueColumns where !column.isExact { commands.append(column.forget(key.id)) }
        try write(commands)
      }
      changedKeys.append(key)
    }

    private func appendElements(
      _ index: Int, _ rows: [[StoredValue]], from first: Int, _ key: EntityKey, _ table: PostgreSQLTable,
      to commands: inout [PostgreSQLConnection.Command]
    ) throws {
      guard first < rows.count else { return }
      let collection = table.collections[index]
      for position in first..<rows.count {
        var parameters = PostgreSQLParameters()
        try append(key.id, table.keyForm, to: &parameters)
        parameters.append(Int64(position))
        for (value, form) in zip(rows[position], collection.forms) { try append(value, form, to: &parameters) }
        commands.append(.init(sql: collection.insert, parameters: parameters))
      }
    }

    private func deleteRest(
      _ index: Int, of key: EntityKey, from position: Int, _ table: PostgreSQLTable
    ) throws -> PostgreSQLConnection.Command {
      var parameters = PostgreSQLParameters()
      try append(key.id, table.keyForm, to: &parameters)
      parameters.append(Int64(position))
      return .init(sql: table.collections[index].deleteRest, parameters: parameters)
    }
  }
#endif
