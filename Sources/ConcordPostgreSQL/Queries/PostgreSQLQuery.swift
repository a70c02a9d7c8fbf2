#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// A query as SQL, with what is left to be done in memory.
  struct PostgreSQLQuery {
    /// The condition that the server evaluates, after `WHERE`.
    let filter: String
    let parameters: PostgreSQLParameters
    /// The conditions that are evaluated in memory for each row that the server gives.
    let remaining: [StoredCondition]
    /// The order that the server applies; `nil` if the rows are ordered in memory.
    let order: String?
    /// The rows with texts that are not plain, which are looked at in memory; `nil` if the server treats all rows alike.
    let others: String?

    init(
      _ query: RowQuery, _ table: PostgreSQLTable, tables: @escaping (EntityDescription) -> PostgreSQLTable?,
      indexes: [EntityDescription: PostgreSQLSearchIndex] = [:]
    ) {
      var writer = PostgreSQLConditionWriter(table, tables: tables, indexes: indexes)
      var parts: [String] = []
      var remaining: [StoredCondition] = []
      var mayFail = false
      for condition in query.condition.conjuncts where condition != .always(true) {
        // What stands behind a condition that may fail is not evaluated where that fails.
        mayFail = mayFail || condition.mayFail
        if mayFail || !query.condition.fitsStatement {
          remaining.append(condition)
        } else if let sql = writer.exact(condition) {
          parts.append(sql)
        } else {
          remaining.append(condition)
          if let sql = writer.narrow(condition) { parts.append(sql) }
        }
      }
      var plainTexts = writer.plainTexts
      order = Self.order(query, table, writer, &plainTexts)
      if plainTexts.isEmpty {
        others = nil
      } else {
        let conditions = plainTexts.sorted().map { "(\(PostgreSQLOrder.isNotPlain(writer.name(.position($0)))))" }
        others = conditions.joined(separator: " OR ")
        parts += conditions.map { "\($0) IS NOT TRUE" }
      }
      filter = parts.isEmpty ? "" : " WHERE \(parts.joined(separator: " AND "))"
      parameters = writer.parameters
      self.remaining = remaining
    }

    private static func order(
      _ query: RowQuery, _ table: PostgreSQLTable, _ writer: PostgreSQLConditionWriter, _ plainTexts: inout Set<Int>
    ) -> String? {
      var orders: [String] = []
      var needed: Set<Int> = []
      // What comes after the key cannot tell any two rows apart.
      let deciding = query.order.prefix((query.order.firstIndex { $0.column == .key } ?? query.order.count) + 1)
      for order in deciding + (deciding.last?.column == .key ? [] : [StoredOrder(.key)]) {
        let form = writer.form(order.column)
        let name = writer.name(order.column)
        if form == .any { return nil }
        var mayBeNull = false
        if case .position(let position) = order.column {
          mayBeNull = query.entity.columns[position].isOptional
          if form == .text {
            switch order.collation {
            case .binary: break
            case .lexical:
              if position == query.entity.idPosition { return nil }
              needed.insert(position)
            case .comparator: return nil
            }
          }
        } else if order.collation != .binary, form == .text {
          return nil
        }
        let ending =
          (order.isAscending ? "" : " DESC") + (mayBeNull ? " NULLS \(order.isAscending ? "FIRST" : "LAST")" : "")
        if form.type == .double {
          orders.append("(\(PostgreSQLOrder.real(name)))\(ending)")
          orders.append("(\(PostgreSQLOrder.bits(name)))\(order.isAscending ? " NULLS FIRST" : " DESC NULLS LAST")")
        } else {
          orders.append("\(name)\(ending)")
        }
      }
      plainTexts.formUnion(needed)
      return orders.joined(separator: ", ")
    }

    /// Whether the server gives exactly the rows that are wanted, except for those with texts that are not plain.
    var isExact: Bool { remaining.isEmpty && order != nil }
  }
#endif
