#if Persistence
  import ConcordModel
  import GRDB

  /// The statements of an entity's tables within one transaction. The connection keeps them prepared for the next one.
  final class SQLiteStatements {
    let table: SQLiteTable
    private let db: Database
    /// The statements that are not in use. A statement in use is taken out, so that reading a row may read other rows
    /// of its type.
    // Not checked for exclusive access, which would cost as much as the access: no method runs foreign code meanwhile.
    @exclusivity(unchecked) private var idle: [SQLiteStatement?] = []
    private var idleReferrers: [String: SQLiteStatement] = [:]
    /// Whether the connection's cached statement of each kind was taken. A further one of that kind is made anew.
    // As for `idle`.
    @exclusivity(unchecked) private var isTaken: [Bool] = []
    /// The statements that update some columns, and the one used last.
    private var updates: [ColumnSet: Update] = [:]
    private var latestUpdate: (changed: ColumnSet, update: Update)?
    private static let mostUpdates = 64

    typealias Update = (statement: SQLiteStatement, positions: [Int])

    enum Purpose {
      case row, insert, insertOrReplaceOlder, update, delete
      case collection(Int), insertElement(Int), deleteRest(Int), updateElement(Int), ends(Int), element(Int)
      case referrers(String)
    }

    init(_ table: SQLiteTable, _ db: Database) {
      self.table = table
      self.db = db
      idle = Array(repeating: nil, count: 5 + 6 * table.collections.count)
      isTaken = Array(repeating: false, count: idle.count)
    }

    /// Returns the statement that updates some columns and the stamp of the row with a key. Indexes on further columns
    /// are not touched, unless so many forms of updates exist already that this one writes all columns.
    func update(of changed: ColumnSet) throws -> Update {
      if let latestUpdate, latestUpdate.changed == changed { return latestUpdate.update }
      let update = try updates[changed] ?? makeUpdate(of: changed)
      latestUpdate = (changed, update)
      return update
    }

    private func makeUpdate(of changed: ColumnSet) throws -> Update {
      let entity = table.entity
      let positions = updates.count < Self.mostUpdates ? changed.positions : SQLiteTable.storedPositions(entity)
      let names = positions.map { "\(quoted(entity.columns[$0].name)) = ?" } + ["\"_stamp\" = ?"]
      let sql = "UPDATE \(quoted(entity.name)) SET \(names.joined(separator: ", ")) WHERE \"id\" = ?"
      let update = (SQLiteStatement(try db.cachedStatement(sql: sql)), positions)
      updates[changed] = update
      return update
    }

    func with<R>(_ purpose: Purpose, _ body: (SQLiteStatement) throws -> R) throws -> R {
      let statement = try take(purpose)
      defer {
        statement.reset()
        give(statement, purpose)
      }
      return try body(statement)
    }

    private func take(_ purpose: Purpose) throws -> SQLiteStatement {
      guard let position = position(of: purpose) else {
        if case .referrers(let name) = purpose, let present = idleReferrers.removeValue(forKey: name) { return present }
        return SQLiteStatement(try db.makeStatement(sql: sql(purpose)))
      }
      if let present = idle[position] {
        idle[position] = nil
        return present
      }
      if isTaken[position] { return SQLiteStatement(try db.makeStatement(sql: sql(purpose))) }
      isTaken[position] = true
      return SQLiteStatement(try db.cachedStatement(sql: sql(purpose)))
    }

    private func give(_ statement: SQLiteStatement, _ purpose: Purpose) {
      if let position = position(of: purpose) {
        idle[position] = statement
      } else if case .referrers(let name) = purpose {
        idleReferrers[name] = statement
      }
    }

    private func position(of purpose: Purpose) -> Int? {
      switch purpose {
      case .row: 0
      case .insert: 1
      case .insertOrReplaceOlder: 2
      case .update: 3
      case .delete: 4
      case .collection(let index): 5 + 6 * index
      case .insertElement(let index): 6 + 6 * index
      case .deleteRest(let index): 7 + 6 * index
      case .updateElement(let index): 8 + 6 * index
      case .ends(let index): 9 + 6 * index
      case .element(let index): 10 + 6 * index
      case .referrers: nil
      }
    }

    private func sql(_ purpose: Purpose) -> String {
      switch purpose {
      case .row: table.selectRow
      case .insert: table.insert
      case .insertOrReplaceOlder: table.insertOrReplaceOlder
      case .update: table.update
      case .delete: table.delete
      case .collection(let index): table.collections[index].select
      case .insertElement(let index): table.collections[index].insert
      case .deleteRest(let index): table.collections[index].deleteRest
      case .updateElement(let index): table.collections[index].update
      case .ends(let index): table.collections[index].ends
      case .element(let index): table.collections[index].element
      case .referrers(let name): table.referrers[name] ?? ""
      }
    }
  }
#endif
