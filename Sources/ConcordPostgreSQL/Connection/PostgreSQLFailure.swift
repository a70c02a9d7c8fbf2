#if PostgreSQL
  import ConcordModel

  /// A failure as libpq or the server describes it.
  struct PostgreSQLFailure: Error {
    /// The code of the SQL standard, such as `40001`; empty if the server did not answer.
    let code: String
    let message: String
    /// The constraint that a row violates.
    var constraint: String?
    /// The table that an error is about.
    var table: String?
    /// The details of an error, which may contain values of rows.
    var detail: String?
    /// Whether a policy of row-level security refuses the row.
    var isRefusedByPolicy = false
    /// The place of the server.
    var place = ""
    /// Whether there was no connection at all.
    var isUnreachable = false
    /// The number of commands of the batch that had succeeded before.
    var succeeded = 0
    /// Whether the connection cannot be used any longer.
    var isConnectionLost = false
    /// Whether the task was cancelled for which the statement was run.
    var isCancelled = false

    /// Whether the same transaction may succeed when it is run again: it has met another one.
    var isConflict: Bool { code == "40001" || code == "40P01" }

    /// Returns the error that users get.
    func error(in store: String) -> any Error {
      isCancelled ? CancellationError() : StoreError(self, store: store)
    }
  }
#endif
