#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  extension PostgreSQLSession {
    func rows(_ query: RowQuery, _ body: (StoredValue, RowSource) throws -> Bool) throws {
      try visit(query, \.resultColumns) { try body($0.key, $0) }
    }

    func entities(_ query: RowQuery, _ body: (() -> StoredValue, RowSource) throws -> Bool) throws {
      try visit(query, \.entityColumns) { source in try body({ source.key }, source) }
    }

    func count(_ query: RowQuery) throws -> Int {
      let table = try table(query.entity)
      let sql = try translated(query, table)
      guard sql.remaining.isEmpty else {
        var count = 0
        try visit(query, \.entityColumns) { _ in
          count += 1
          return true
        }
        return count
      }
      let from = "FROM \(identifier(query.entity.name)) AS t"
      var commands = [
        PostgreSQLConnection.Command(sql: "SELECT count(*) \(from)\(sql.filter)", parameters: sql.parameters)
      ]
      if let others = sql.others {
        commands.append(.init(sql: "SELECT \(table.resultColumns) \(from) WHERE \(others)"))
      }
      let results = try run(commands)
      var count = Int(results[0].integer(0, 0))
      if results.count > 1 { count += try matching(PostgreSQLCursor(results[1], self), query.condition, table).count }
      return min(max(0, count - query.start), query.maximum)
    }

    func steps(of query: RowQuery) throws -> [String] {
      let table = try table(query.entity)
      let sql = try translated(query, table)
      let select = select(query, sql, table, table.resultColumns)
      let result = try run([.once("EXPLAIN \(select.sql)", select.parameters)])[0]
      return [select.sql] + (0..<result.count).map { result.text($0, 0) }
    }

    func plan(of query: RowQuery) throws -> QueryPlan {
      let table = try table(query.entity)
      let sql = try translated(query, table)
      let select = select(query, sql, table, table.resultColumns)
      let result = try run([.once("EXPLAIN (FORMAT JSON) \(select.sql)", select.parameters)])[0]
      return QueryPlan(postgreSQL: result.count > 0 ? result.text(0, 0) : "")
    }

    func knownTable(_ entity: EntityDescription) -> PostgreSQLTable? { try? table(entity) }

    private func translated(_ query: RowQuery, _ table: PostgreSQLTable) throws -> PostgreSQLQuery {
      try prepareSearch(query)
      return PostgreSQLQuery(query, table, tables: knownTable, indexes: search.read)
    }

    // MARK: Visiting

    /// The statement that gives the rows of a query. It has a range only if the server gives exactly what is wanted.
    private func select(
      _ query: RowQuery, _ sql: PostgreSQLQuery, _ table: PostgreSQLTable, _ columns: String
    ) -> (sql: String, parameters: PostgreSQLParameters) {
      var parameters = sql.parameters
      var select = "SELECT \(columns) FROM \(identifier(query.entity.name)) AS t\(sql.filter)"
      if let order = sql.order { select += " ORDER BY \(order)" }
      if sql.isExact {
        // Rows that are not plain may come between, so that none may be left out at the beginning.
        let start = sql.others == nil ? query.start : 0
        let needed = (sql.others == nil ? 0 : query.start).addingReportingOverflow(query.maximum)
        if query.limit != nil, !needed.overflow {
          // Not a parameter, since the server would plan the statement each time for want of knowing it.
          select += " LIMIT \(needed.partialValue)"
        }
        if start > 0 {
          parameters.append(Int64(start))
          select += " OFFSET $\(parameters.count)"
        }
      }
      return (select, parameters)
    }

    /// Calls back for each row of a query, in order, until that returns `false`.
    ///
    /// - Parameter columns: those that are read.
    private func visit(
      _ query: RowQuery, _ columns: (PostgreSQLTable) -> String, _ body: (PostgreSQLRowSource) throws -> Bool
    ) throws {
      let table = try table(query.entity)
      try withoutActuallyEscaping(body) { try visitEach(query, table, columns(table), $0) }
    }

    private func visitEach(
      _ query: RowQuery, _ table: PostgreSQLTable, _ columns: String,
      _ body: @escaping (PostgreSQLRowSource) throws -> Bool
    ) throws {
      if query.maximum == 0 { return }
      let sql = try translated(query, table)
      let select = select(query, sql, table, columns)
      var commands: [PostgreSQLConnection.Command] = []
      if let others = sql.others {
        commands.append(
          .init(
            sql: "SELECT \(columns) FROM \(identifier(query.entity.name)) AS t WHERE \(others)"))
      }
      let cursor: PostgreSQLCursor
      var others: [Row] = []
      let isRead = query.limit == nil || sql.isExact || sql.order == nil
      if isRead { commands.append(.init(sql: select.sql, parameters: select.parameters)) }
      let results = try run(commands)
      if sql.others != nil { others = try matching(PostgreSQLCursor(results[0], self), query.condition, table) }
      if isRead {
        cursor = PostgreSQLCursor(results[results.count - 1], self)
      } else {
        // The server cannot tell how many rows are needed.
        cursor = try PostgreSQLCursor(select.sql, select.parameters, self)
      }
      defer { cursor.close() }
      var left = Left(toSkip: sql.isExact && sql.others == nil ? 0 : query.start, remaining: query.maximum, body: body)
      if sql.order == nil {
        let found = try matching(cursor, .all(sql.remaining), table) + others
        for row in sorted(found, query, table) where try !left.pass(row.source) { return }
        return
      }
      if others.isEmpty, sql.remaining.isEmpty { return try pass(cursor, table, &left) }
      others = sorted(others, query, table)
      try merge(cursor, sql.remaining, others, query, table, &left)
    }

    /// The remaining range of a query.
    private struct Left {
      var toSkip: Int
      var remaining: Int
      let body: (PostgreSQLRowSource) throws -> Bool

      /// Whether more rows are wanted.
      mutating func pass(_ source: PostgreSQLRowSource) throws -> Bool {
        if toSkip > 0 {
          toSkip -= 1
          return true
        }
        remaining -= 1
        return try body(source) && remaining > 0
      }
    }

    /// A row that waits for its place.
    private struct Row {
      let source: PostgreSQLRowSource
      let sortKey: SortKey
    }

    /// The rows that fulfil a condition, in any order.
    private func matching(
      _ cursor: PostgreSQLCursor, _ condition: StoredCondition, _ table: PostgreSQLTable
    ) throws -> [Row] {
      var found: [Row] = []
      while let (result, row) = try cursor.next() {
        let source = PostgreSQLRowSource(result, row, table, self)
        if condition != .always(true), condition != .all([]),
          try !StoredEvaluation(EvaluatedRow(source.key, source), self).holds(condition)
        {
          continue
        }
        found.append(Row(source: source, sortKey: SortKey(values: [], key: .null)))
      }
      return found
    }

    private func sorted(_ rows: [Row], _ query: RowQuery, _ table: PostgreSQLTable) -> [Row] {
      rows.map { row in Row(source: row.source, sortKey: query.sortKey(row.source.key) { row.source.value(at: $0) }) }
        .sorted { query.precedes($0.sortKey, $1.sortKey) }
    }

    /// Passes the rows of a cursor as they are: one after the other of each result, since there may be many.
    private func pass(_ cursor: PostgreSQLCursor, _ table: PostgreSQLTable, _ left: inout Left) throws {
      guard let (first, start) = try cursor.next() else { return }
      let source = PostgreSQLRowSource(first, start, table, self)
      var (result, row) = (first, start)
      while true {
        source.move(to: row, of: result)
        for row in row..<result.count {
          source.move(to: row)
          if try !left.pass(source) { return }
        }
        cursor.skipResult()
        guard let next = try cursor.next() else { return }
        (result, row) = next
      }
    }

    /// The rows of a cursor, and given ones between them, in order.
    private func merge(
      _ cursor: PostgreSQLCursor, _ remaining: [StoredCondition], _ others: [Row], _ query: RowQuery,
      _ table: PostgreSQLTable, _ left: inout Left
    ) throws {
      var others = others[...]
      let condition = StoredCondition.all(remaining)
      var source: PostgreSQLRowSource?
      while let (result, row) = try cursor.next() {
        let current = source ?? PostgreSQLRowSource(result, row, table, self)
        current.move(to: row, of: result)
        source = current
        if !remaining.isEmpty, try !StoredEvaluation(EvaluatedRow(current.key, current), self).holds(condition) {
          continue
        }
        if !others.isEmpty {
          let sortKey = query.sortKey(current.key) { current.value(at: $0) }
          while let other = others.first, query.precedes(other.sortKey, sortKey) {
            others.removeFirst()
            if try !left.pass(other.source) { return }
          }
        }
        if try !left.pass(current) { return }
      }
      for other in others where try !left.pass(other.source) { return }
    }
  }
#endif
