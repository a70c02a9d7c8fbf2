#if Persistence
  import ConcordModel
  import GRDB

  /// The statements of an entity's tables within one transaction, prepared when they are first used.
  final class SQLiteStatements {
    let table: SQLiteTable
    private let db: Database
    /// Statements that nobody uses now. One that is in use is not here, so that reading a row may read others of its type.
    private var idle: [SQLiteStatement?] = []
    private var idleReferrers: [String: SQLiteStatement] = [:]

    enum Purpose {
      case row, insert, insertOrReplaceOlder, update, delete
      case collection(Int), insertElement(Int), deleteRest(Int)
      case referrers(String)
    }

    init(_ table: SQLiteTable, _ db: Database) {
      self.table = table
      self.db = db
      idle = Array(repeating: nil, count: 5 + 3 * table.collections.count)
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
      let present: SQLiteStatement?
      if let position = position(of: purpose) {
        present = idle[position]
        idle[position] = nil
      } else if case .referrers(let name) = purpose {
        present = idleReferrers.removeValue(forKey: name)
      } else {
        present = nil
      }
      return try present ?? SQLiteStatement(try db.makeStatement(sql: sql(purpose)))
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
      case .collection(let index): 5 + 3 * index
      case .insertElement(let index): 6 + 3 * index
      case .deleteRest(let index): 7 + 3 * index
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
      case .referrers(let name): table.referrers[name] ?? ""
      }
    }
  }
#endif
