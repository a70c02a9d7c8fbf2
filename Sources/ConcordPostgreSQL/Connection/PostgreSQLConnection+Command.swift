#if PostgreSQL
  extension PostgreSQLConnection {
    /// A statement with its parameters.
    struct Command {
      let sql: String
      var parameters = PostgreSQLParameters.none
      /// Whether the command is kept as a prepared statement.
      var isKept = true

      /// A statement that is not kept.
      static func once(_ sql: String, _ parameters: PostgreSQLParameters = .none) -> Command {
        Command(sql: sql, parameters: parameters, isKept: false)
      }

      /// Begins a transaction that reads one committed state.
      static let beginReading = Command(sql: "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
      /// Begins a transaction whose statements see what was committed before each of them.
      static let beginWriting = Command(sql: "BEGIN ISOLATION LEVEL READ COMMITTED")
      /// Ends a transaction.
      static let end = Command(sql: "COMMIT")
    }
  }
#endif
