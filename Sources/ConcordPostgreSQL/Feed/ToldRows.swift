#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// The rows of a table that commits have changed, read together with the question what is new: who shows the commits need not ask for them.
  ///
  /// The server finds them by the feed itself, so that a notification, which any role of the database may listen to, carries no keys.
  struct ToldRows {
    let table: PostgreSQLTable
    /// The keys of the rows, of which some may be gone.
    let keys: [EntityKey]
    let result: PostgreSQLResult

    /// The number of changed rows up to which they are read ahead.
    static let most = 64

    /// - Returns: `nil` if the rows are not all of those that were changed.
    init?(_ result: PostgreSQLResult, of table: PostgreSQLTable, _ changes: FeedChanges) {
      guard changes.keyCounts[table.entity.name, default: 0] <= Self.most else { return nil }
      (self.table, self.result) = (table, result)
      keys = changes.transactions.flatMap { $0.keys.filter { $0.entity == table.entity } }
    }

    /// Whether the keys in the feed can be looked for as they are there.
    static func canBeRead(_ table: PostgreSQLTable) -> Bool {
      switch table.keyForm {
      case .integer, .text, .uuid: true
      case .boolean, .real, .float, .unsigned, .bytes, .any: false
      }
    }

    /// The statement that reads the rows of a table that have changed since a position.
    static func command(_ table: PostgreSQLTable, since position: FeedPosition) -> PostgreSQLConnection.Command {
      var parameters = FeedChanges.parameters(since: position)
      parameters.append(PostgreSQLText.encode(table.entity.name))
      return .init(sql: table.selectChanged.sql(of: position), parameters: parameters)
    }
  }
#endif
