#if PostgreSQL
  import Concord
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// Reads and writes within one transaction of a connection.
  final class PostgreSQLSession: RowWriting {
    let connection: PostgreSQLConnection
    let store: String
    let tables: [EntityDescription: PostgreSQLTable]
    private var latest: PostgreSQLTable?
    var changedKeys: [EntityKey] = []
    /// The error that has ended the transaction, even if a closure has caught it.
    private(set) var failure: PostgreSQLFailure?
    /// The id of the transaction; `nil` as long as nothing was written.
    private(set) var transactionID: UInt64?
    /// The insertion of the one row that is taken for written. It returns the key and the id of the transaction.
    private(set) var assumption: PostgreSQLConnection.Command?
    /// Whether that row was not written, so that all has to be done again without an assumption.
    private(set) var hasAssumptionFailed = false
    private var mayAssume: Bool
    private var writesOnce = false
    /// The collections of the rows of one result, which are read at once.
    var fetchedCollections = FetchedCollections()
    /// The rows that were read ahead, as long as they are not written.
    var preparedRows: [EntityKey: StoredRow?] = [:]
    /// The unique values that no row had when they were looked for, and none was given since.
    var freeValues: [UniquePlace: Set<StoredValue>] = [:]
    /// The writes that are sent before the next statement.
    private var waiting = WaitingWrites()
    var cursorCount = 0
    let watch: PostgreSQLWatch?
    /// The knowledge of the watch before this reading began.
    let mark: PostgreSQLWatch.Mark?
    /// The number of readings within this one, which read with it, but do not announce for it.
    private var nesting = 0
    /// Whether the connection plans statements once, as the watch's does.
    private var plansOnce: Bool
    /// The transaction of a reading; `nil` in a writing.
    private let reading: ReadingTransaction?
    /// The time for which deletions are remembered, in seconds.
    let deletionTime: TimeInterval
    var deletionCount = 0
    /// Whether there is a table of notes; `nil` if that is not known yet.
    var hasNotes: Bool?
    /// The indexes of words.
    let search: SearchUse
    var waitingWords = WaitingWords()
    /// Whether a query has searched, with an index or without.
    var hasSearched = false

    init(
      _ connection: PostgreSQLConnection, tables: [EntityDescription: PostgreSQLTable], store: String,
      watch: PostgreSQLWatch? = nil, reading: ReadingTransaction? = nil, deletionTime: TimeInterval = 0,
      mayAssume: Bool = false, search: SearchUse = SearchUse()
    ) {
      self.search = search
      self.mayAssume = mayAssume
      self.reading = reading
      plansOnce = reading?.isTold == true
      self.deletionTime = deletionTime
      self.watch = watch
      mark = watch?.mark
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

    func storeError(_ error: any Error, of entity: EntityDescription) -> any Error {
      (error as? PostgreSQLFailure)?.error(in: store) ?? error
    }

    // MARK: Running

    /// Runs statements, and before them those that wait.
    ///
    /// - Parameter areByKey: whether they look for rows by their keys.
    @discardableResult
    func run(
      _ commands: [PostgreSQLConnection.Command], areByKey: Bool = false
    ) throws -> [PostgreSQLResult] {
      try checkAssumption()
      if plansOnce, !areByKey, !commands.isEmpty {
        plansOnce = false
        return Array(try send([Self.plansAsBefore] + commands).dropFirst())
      }
      if waiting.isEmpty { return commands.isEmpty ? [] : try send(commands) }
      var earlier = waiting.take()
      let asksForID = transactionID == nil
      if asksForID { earlier.append(Self.selectTransactionID) }
      let results = try send(earlier + commands)
      if asksForID { transactionID = results[earlier.count - 1].bits(0, 0) }
      return Array(results.dropFirst(earlier.count))
    }

    private func send(_ commands: [PostgreSQLConnection.Command]) throws -> [PostgreSQLResult] {
      do { return try reading?.run(commands) ?? connection.run(commands) } catch let failure as PostgreSQLFailure {
        if self.failure == nil { self.failure = failure }
        throw failure.error(in: store)
      }
    }

    /// Runs the statements that wait.
    func flush() throws {
      try foldWords()
      if !waiting.isEmpty || assumption != nil { try run([]) }
    }

    // MARK: Assuming

    func willWriteOnce() { writesOnce = true }

    /// Takes a row for written, if it is the only one of the transaction, so that it is sent together with the commit.
    ///
    /// - Returns: `false` if that may not be.
    func assume(_ insertion: PostgreSQLConnection.Command) -> Bool {
      guard writesOnce, mayAssume, transactionID == nil, waiting.isEmpty, assumption == nil else { return false }
      assumption = insertion
      return true
    }

    /// Finds out whether a row is written that was taken for it, unless the commit comes next.
    func checkAssumption(isLast: Bool = false) throws {
      guard let insertion = assumption, !isLast || !waiting.isEmpty else { return }
      (assumption, mayAssume) = (nil, false)
      let result = try send([insertion])[0]
      guard result.count == 1 else {
        hasAssumptionFailed = true
        throw AssumptionFailed()
      }
      transactionID = result.bits(0, 1)
    }

    /// Returns what is sent with the commit.
    func takeWaiting() -> [PostgreSQLConnection.Command] { assumption.map { [$0] } ?? waiting.take() }

    // MARK: Running later

    static let selectTransactionID = PostgreSQLConnection.Command(sql: "SELECT pg_current_xact_id()")

    func query(_ sql: String, _ parameters: PostgreSQLParameters) throws -> PostgreSQLResult {
      try run([.init(sql: sql, parameters: parameters)])[0]
    }

    /// Runs statements that write. With the first of them the id of the transaction is asked for, by which the outcome can be found out if the
    /// answer to the commit is lost.
    @discardableResult
    func write(_ commands: [PostgreSQLConnection.Command]) throws -> [PostgreSQLResult] {
      if transactionID != nil || !waiting.isEmpty { return try run(commands) }
      var results = try run(commands + [Self.selectTransactionID])
      transactionID = results.removeLast().bits(0, 0)
      return results
    }

    /// Runs statements that write, and whose results nobody needs, before the next one or at the end.
    func writeLater(_ commands: [PostgreSQLConnection.Command]) throws {
      for command in commands where waiting.append(command) { try flush() }
    }

    /// Remembers a deletion, as ``writeLater(_:)`` does.
    ///
    /// - Parameter sweeps: whether some old deletions are forgotten with it.
    func rememberLater(_ key: EntityKey, _ stamp: Stamp, sweeps: Bool) throws {
      if waiting.append(remembered: key, stamp, forgettingAfter: sweeps ? deletionTime : nil) { try flush() }
    }

    /// Updates some columns of a row, as ``writeLater(_:)`` does, together with other rows of which the same columns change.
    private func updateLater(_ key: EntityKey, _ table: PostgreSQLTable, _ update: RowUpdate) throws {
      if try waiting.append(update, of: key.id, table, append) { try flush() }
    }

    /// Notes that a row is written.
    func willWrite(_ key: EntityKey, _ words: WrittenWords) throws {
      if !preparedRows.isEmpty { preparedRows[key] = nil }
      fetchedCollections = FetchedCollections()
      changedKeys.append(key)
      try noteWords(words, of: key)
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

    func willReadOnce() { if nesting == 0 { reading?.willReadOnce() } }

    func mayReadAgain() { if nesting == 0 { reading?.noteMayReadAgain() } }

    /// Runs a closure that reads within this reading, such as a computed property that a predicate evaluates.
    func nested<R>(_ body: (PostgreSQLSession) throws -> R) rethrows -> R {
      nesting += 1
      defer { nesting -= 1 }
      return try body(self)
    }

    /// Tells that there are further batches, whatever was announced.
    func willReadMore() { reading?.willReadMore() }

    /// The statements that look at the end of the feed, and for rows by their keys, have one plan, whatever the statistics say: to plan
    /// them takes longer than to run them, and a feed that is new would be read whole.
    private static let plansOnce = PostgreSQLConnection.Command(
      sql: "SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"
    )
    private static let plansAsBefore = PostgreSQLConnection.Command(
      sql: "SELECT set_config('plan_cache_mode', NULL, true), set_config('enable_seqscan', NULL, true)")

    func unannouncedKeys() throws -> Set<EntityKey> { try unannouncedKeys(preparing: []) }

    func unannouncedKeys(preparing keys: [EntityKey]) throws -> Set<EntityKey> {
      if let watch, reading?.isTold == true {
        // It was asked just before what is new.
        try prepareTold(keys, watch.toldState)
        return watch.untoldBeforePosition
      }
      var (isFirst, untold) = (true, Set<EntityKey>())
      if let watch {
        untold = try watch.untold(since: mark) { command in
          isFirst = false
          return try prepare(keys, behind: [Self.plansOnce, command], before: [Self.plansAsBefore])[1]
        }
      }
      // Nobody follows.
      if isFirst { try prepare(keys) }
      return untold
    }

    func row(of key: EntityKey) throws -> StoredRow? {
      if let prepared = preparedRows[key] { return prepared }
      return try withRow(of: key) { source in
        try StoredRow(reading: source, of: key.entity)
      }
    }

    func withRow<R>(of key: EntityKey, _ body: (RowSource) throws -> R) throws -> R? {
      if !preparedRows.isEmpty, let prepared = preparedRows[key] {
        return try prepared.map { try body(StoredRowSource($0)) }
      }
      let table = try table(key.entity)
      guard let parameter = keyParameter(key.id, table.keyForm) else { return nil }
      let result = try query(table.selectRow, parameter)
      guard result.count > 0 else { return nil }
      return try body(PostgreSQLRowSource(result, 0, table, self))
    }

    func referrers(to key: EntityKey, in entity: EntityDescription) throws -> [StoredValue] {
      try referrers(to: key, in: table(entity))
    }

    /// - Parameter table: one of the schema, of which the session's model need not know.
    func referrers(to key: EntityKey, in table: PostgreSQLTable) throws -> [StoredValue] {
      guard let referrers = table.referrers[key.entity.name],
        let parameter = keyParameter(key.id, referrers.form)
      else { return [] }
      let result = try query(referrers.sql, parameter)
      return (0..<result.count).map { table.keyForm.read(result, $0, 0) }
    }

    func collection(_ index: Int, of table: PostgreSQLTable, owner: StoredValue) throws -> StoredElements {
      let collection = table.collections[index]
      guard let parameter = keyParameter(owner, table.keyForm) else { return [] }
      let result = try query(collection.select, parameter)
      var elements = StoredElements(width: collection.forms.count, capacity: result.count)
      for row in 0..<result.count { elements.append { Self.value(result, row, $0, collection.forms) } }
      return elements
    }

    /// A value of a row that has an element of a collection.
    static func value(_ result: PostgreSQLResult, _ row: Int, _ position: Int, _ forms: [ColumnForm]) -> StoredValue {
      result.isNull(row, position) ? .null : forms[position].read(result, row, position)
    }

    // MARK: Writing

    /// The parameters of the statements that write a whole row.
    private func parameters(_ row: StoredRow, _ key: EntityKey, _ table: PostgreSQLTable) throws -> PostgreSQLParameters
    {
      var parameters = PostgreSQLParameters()
      try appendRow(row, key, table, to: &parameters)
      return parameters
    }

    func appendRow(
      _ row: StoredRow, _ key: EntityKey, _ table: PostgreSQLTable, to parameters: inout PostgreSQLParameters
    ) throws {
      try append(key.id, table.keyForm, to: &parameters)
      if table.keepsExactID, let position = key.entity.idPosition {
        try append(table.exactID(row.values[position], key: key.id), table.forms[position], to: &parameters)
      }
      for position in table.storedPositions {
        try append(row.values[position], table.forms[position], to: &parameters)
      }
      parameters.append(row.stamp)
    }

    func insert(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      if case .some(.some) = preparedRows[key] { return false }
      let table = try table(key.entity)
      noteTaken(by: row, of: table)
      let parameters = try parameters(row, key, table)
      let insert = PostgreSQLConnection.Command(sql: table.insert, parameters: parameters)
      if table.uniqueColumns.isEmpty {
        guard try write([insert])[0].changedRows == 1 else { return false }
      } else {
        guard try insertUnique(row, key, table, insert) else { return false }
      }
      // The elements of collections do not go along, since there may be a row already.
      for index in row.collections.indices { try insertLater(index, row.collections[index], from: 0, key, table) }
      try willWrite(key, .values(row.values))
      return true
    }

    func insertOrReplaceOlder(_ row: StoredRow, for key: EntityKey) throws -> Bool {
      let table = try table(key.entity)
      if case .some(.some(let stored)) = preparedRows[key], row.stamp <= stored.stamp { return false }
      // One statement does it, unless there are collections to be compared, or unique values.
      guard table.collections.isEmpty, table.uniqueColumns.isEmpty else {
        return try insert(row, for: key) || replaceOlder(row, for: key)
      }
      let parameters = try parameters(row, key, table)
      let isWritten =
        try write([.init(sql: table.insertOrReplaceOlder, parameters: parameters)])[0].changedRows == 1
      if isWritten { try willWrite(key, .values(row.values)) }
      return isWritten
    }

    func update(_ row: StoredRow, replacing old: StoredRow, for key: EntityKey) throws {
      let table = try table(key.entity)
      let changed = table.uniqueColumns.filter { row.values[$0.position] != old.values[$0.position] }
      var isLater = false
      if row.values != old.values || row.stamp != old.stamp {
        isLater = try checkUnique(changed, key) { row.values[$0] } && !table.keepsExactID
        if isLater {
          try updateLater(key, table, RowUpdate(positions: table.storedPositions, values: row.values[...], row.stamp))
        } else {
          try write([.init(sql: table.update, parameters: try parameters(row, key, table))])
        }
      }
      for index in row.collections.indices {
        let (elements, old) = (row.collections[index], old.collections[index])
        // Elements before the first difference stay.
        let kept = elements.countOfSameElements(at: old)
        if kept < old.count { try writeLater([try deleteRest(index, of: key, from: kept, table)]) }
        try insertLater(index, elements, from: kept, key, table)
      }
      try noteUnique({ old.values[$0] }, { row.values[$0] }, changed, key, isLater: isLater)
      let areTextsEqual = key.entity.searchablePositions.allSatisfy { row.values[$0] == old.values[$0] }
      try willWrite(key, areTextsEqual ? .unchanged : .values(row.values))
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
      try updateLater(key, table, RowUpdate(positions: positions, values: values, stamp))
      try willWrite(key, words(key.entity, changing: changed, to: values))
    }

    func delete(_ key: EntityKey) throws {
      let table = try table(key.entity)
      if let parameter = keyParameter(key.id, table.keyForm) {
        if waiting.append(deletionOf: key.id, parameter, table) { try flush() }
      }
      try willWrite(key, .none)
    }

    /// Inserts elements of a collection, as ``writeLater(_:)`` does.
    func insertLater(
      _ index: Int, _ elements: StoredElements, from first: Int, _ key: EntityKey, _ table: PostgreSQLTable
    ) throws {
      guard first < elements.count else { return }
      let collection = table.collections[index]
      for position in first..<elements.count {
        let areMany = try waiting.append(collection, of: table) { parameters in
          try append(key.id, table.keyForm, to: &parameters)
          parameters.append(Int64(position))
          for (column, form) in collection.forms.enumerated() where column < elements.width {
            try append(elements[position, column], form, to: &parameters)
          }
        }
        if areMany { try flush() }
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
