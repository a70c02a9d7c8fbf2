#if Persistence
  import ConcordModel
  import GRDB

  /// A cursor over the rows of a part of a query.
  final class SQLiteCursor {
    let source: SQLiteRowSource
    private let query: RowQuery
    private let statement: SQLiteStatement
    private let keyPosition: Int32
    /// The sort key of the present row; `nil` after the last one.
    fileprivate private(set) var sortKey: SortKey?

    init(
      _ query: RowQuery, _ part: SQLitePart, _ table: SQLiteTable, _ sql: KeyPath<SQLiteQuery, String>,
      _ keyPosition: Int32, _ session: SQLiteSession
    ) throws {
      let select = try SQLiteQuery(query, table, part)
      self.query = query
      self.keyPosition = keyPosition
      statement = try session.db.reusableStatement(select[keyPath: sql])
      source = SQLiteRowSource(statement, session, table, key: nil)
      try select.bind(to: statement)
    }

    var key: StoredValue { statement.value(at: keyPosition) }

    /// Goes to the next row; `false` behind the last.
    func next() throws -> Bool { try statement.step() }

    /// Moves to the next row, and reads the values that the rows are ordered by.
    func advance() throws {
      sortKey = try next() ? query.sortKey(key) { source.value(at: $0) } : nil
    }

    func close() { statement.reset() }
  }

  extension RowQuery {
    /// The one whose row comes first; `nil` if all are behind their last.
    func first(of cursors: [SQLiteCursor]) -> SQLiteCursor? {
      cursors.filter { $0.sortKey != nil }.min { a, b in
        guard let first = a.sortKey, let second = b.sortKey else { return false }
        return precedes(first, second)
      }
    }
  }

  extension RowQuery {
    /// The indexed text columns that the query compares or orders by, the most selective first.
    var indexedTexts: [Int] {
      var found: [Int] = []
      func add(_ column: StoredColumn) {
        guard case .position(let position) = column, entity.columns[position].isIndexedText,
          position != entity.idPosition, !found.contains(position)
        else { return }
        found.append(position)
      }
      for order in order where order.collation == .lexical { add(order.column) }
      condition.forEachTextColumn { column, _ in add(column) }
      return found
    }

    /// Whether the order or the condition is such that an index on the text helps.
    func isHelpedByIndex(onText position: Int) -> Bool {
      if let first = order.first, first.collation == .lexical, first.column == .position(position) { return true }
      return condition.conjuncts.contains { $0.isSearch(ofText: position) }
    }
  }

  extension StoredCondition {
    /// Whether rows are found by it through an index on a text.
    fileprivate func isSearch(ofText position: Int) -> Bool {
      switch self {
      case .relates(.column(.position(position)), let relation, .value):
        switch relation {
        case .sameText, .starts, .text: true
        default: false
        }
      case .isIn(.position(position), _): true
      case .any(let conditions): !conditions.isEmpty && conditions.allSatisfy { $0.isSearch(ofText: position) }
      case .all(let conditions): conditions.contains { $0.isSearch(ofText: position) }
      default: false
      }
    }

    /// Calls back for each column of the row itself whose text is compared with a value.
    fileprivate func forEachTextColumn(_ body: (StoredColumn, StoredRelation) -> Void) {
      switch self {
      case .relates(.column(let column), let relation, .value): body(column, relation)
      case .not(let condition): condition.forEachTextColumn(body)
      case .all(let conditions), .any(let conditions): for condition in conditions { condition.forEachTextColumn(body) }
      default: break
      }
    }
  }
#endif
