#if Persistence
  import ConcordModel

  /// The rows of a table that one statement reads.
  struct SQLitePart {
    enum Rows {
      case all
      /// The rows whose text in a column is plain (``PlainScalars``), or `NULL`.
      case plain(Int)
      /// The rows whose text in a column is not plain.
      case others(Int)
    }

    let rows: Rows
    /// The columns whose texts are all plain in this part, which are compared by bytes and through an index.
    let plainTexts: Set<Int>
    /// The entities in whose texts is searched by an index of their words.
    var searched: Set<EntityDescription> = []
  }

  /// A query as SQL. What a query carries is bound.
  struct SQLiteQuery {
    /// Selects the rows.
    let rows: String
    /// The statement without stamps, and with keys only where the properties do not contain them.
    let entities: String
    /// Counts them.
    let count: String
    /// The table and the condition, from `FROM` on.
    let from: String
    private let values: [StoredValue]

    /// - Parameter part: of which rows; the texts of some columns are plain there.
    init(_ query: RowQuery, _ table: SQLiteTable, _ part: SQLitePart) throws {
      var writer = SQLiteConditionWriter(
        table, isOrderedByKey: query.order.isEmpty, plainTexts: part.plainTexts, searched: part.searched)
      var conditions = query.condition == .always(true) ? [] : [try writer.sql(query.condition)]
      switch part.rows {
      case .all: break
      case .plain(let position):
        conditions.append("(\(SQLiteTexts.isNotPlain(writer.name(.position(position))))) IS NOT TRUE")
      case .others(let position): conditions.append(SQLiteTexts.isNotPlain(writer.name(.position(position))))
      }
      let filter = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
      from = "FROM \(quoted(query.entity.name))\(filter)"
      var orders = try query.order.map { order in
        "\(writer.name(order.column))\(try Self.collation(of: order, part))\(order.isAscending ? "" : " DESC")"
      }
      // What comes after the key cannot tell any two rows apart.
      orders = Array(orders.prefix((query.order.firstIndex { $0.column == .key } ?? orders.count) + 1))
      if !query.order.contains(where: { $0.column == .key }) { orders.append("\"id\"") }
      if case .others = part.rows {
        // They are few, and an index tells which: no other index is to be read as a whole for its order. With `+`, SQLite takes it for an
        // expression.
        orders = orders.map { "+\($0)" }
      }
      // Without a range each row is a step less.
      let hasRange = query.limit != nil || query.start > 0
      let range = hasRange ? " LIMIT ? OFFSET ?" : ""
      let selection = "\(from) ORDER BY \(orders.joined(separator: ", "))\(range)"
      rows = "SELECT \(SQLiteTable.resultColumns(query.entity, table.keepsExactID)) \(selection)"
      entities = "SELECT \(SQLiteTable.entityColumns(query.entity, table.keepsExactID)) \(selection)"
      count = "SELECT COUNT(*) FROM (SELECT 1 \(from)\(range))"
      // No limit is a negative one.
      let rangeValues: [StoredValue] =
        hasRange ? [.integer(query.limit.map { Int64(max(0, $0)) } ?? -1), .integer(Int64(query.start))] : []
      values = writer.values + rangeValues
    }

    /// Returns the `COLLATE` clause of a column in an order; empty where bytes decide.
    private static func collation(of order: StoredOrder, _ part: SQLitePart) throws -> String {
      switch order.collation {
      case .binary: return ""
      case .lexical:
        if case .position(let position) = order.column, part.plainTexts.contains(position) { return "" }
        return " COLLATE \(SQLiteFunctions.lexical)"
      case .comparator(let comparator): return " COLLATE \(quoted(try SQLiteComparators.name(comparator)))"
      }
    }

    func bind(to statement: SQLiteStatement) throws {
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
    }
  }
#endif
