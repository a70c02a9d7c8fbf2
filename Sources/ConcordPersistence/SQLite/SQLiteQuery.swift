#if Persistence
  import ConcordModel

  /// A query as SQL. What a query carries is bound.
  struct SQLiteQuery {
    /// Selects the rows.
    let rows: String
    /// Counts them.
    let count: String
    private let values: [StoredValue]

    init(_ query: RowQuery, _ table: SQLiteTable) {
      let from = "FROM \(quoted(query.entity.name))"
      let order = "ORDER BY \"id\""
      let range = "LIMIT ? OFFSET ?"
      rows = "SELECT \(SQLiteTable.resultColumns(query.entity, table.keepsExactID)) \(from) \(order) \(range)"
      count = "SELECT COUNT(*) FROM (SELECT 1 \(from) \(range))"
      // No limit is a negative one.
      values = [.integer(query.limit.map { Int64(max(0, $0)) } ?? -1), .integer(Int64(max(0, query.offset)))]
    }

    func bind(to statement: SQLiteStatement) throws {
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    }
  }
#endif
