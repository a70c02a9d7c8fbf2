#if PostgreSQL
  /// A statement with a query of the changes that its snapshot shows and that were not seen at a position.
  ///
  /// What a copy has brought with the id of a transaction that is open here is not seen until that one ends.
  ///
  /// Its first parameter is the id from which on the position sees no transaction, its second one the array of those before that are not seen.
  struct ChangesStatement: Sendable {
    /// For a position that sees all transactions before the first parameter, as most do. It takes less to run.
    private let ofNewer: String
    private let ofAll: String

    /// - Parameter sql: makes the statement with the query, which it gets by its columns and a further condition.
    init(_ sql: (_ select: (_ columns: String, _ condition: String) -> String) -> String) {
      func newer(_ columns: String, _ condition: String) -> String {
        """
        SELECT \(columns) FROM concord_changes \
        WHERE xid >= $1::text::xid8 AND xid < \(FeedTables.nextID)\(condition)
        """
      }
      ofNewer = sql(newer)
      ofAll = sql { columns, condition in
        """
        \(newer(columns, condition)) \
        UNION ALL SELECT \(columns) FROM concord_changes WHERE xid = ANY($2::text::xid8[]) \
        AND pg_visible_in_snapshot(xid, pg_current_snapshot())\(condition)
        """
      }
    }

    /// - Parameter hasEarlier: whether there are transactions before the first parameter that are not seen.
    func sql(hasEarlier: Bool) -> String { hasEarlier ? ofAll : ofNewer }
  }
#endif
