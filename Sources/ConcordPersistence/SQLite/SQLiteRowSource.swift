#if Persistence
  import ConcordModel

  /// The row that a statement stands on.
  final class SQLiteRowSource: RowSource {
    private let statement: SQLiteStatement
    private let session: SQLiteSession
    private let table: SQLiteTable
    /// The key of the row; `nil` if the statement returns it.
    private let key: StoredValue?

    init(_ statement: SQLiteStatement, _ session: SQLiteSession, _ table: SQLiteTable, key: StoredValue?) {
      self.statement = statement
      self.session = session
      self.table = table
      self.key = key
    }

    override func value(at position: Int) -> StoredValue { statement.value(at: Int32(position)) }
    override func isSame(_ value: StoredValue, at position: Int) -> Bool {
      statement.isSame(value, at: Int32(position))
    }
    override func isNull(at position: Int) -> Bool { statement.isNull(at: Int32(position)) }
    override func integer(at position: Int) -> Int64? { statement.integer(at: Int32(position)) }
    override func real(at position: Int) -> Double? { statement.real(at: Int32(position)) }
    override func text(at position: Int) -> String? { statement.text(at: Int32(position)) }
    override var stamp: Stamp { statement.real(at: table.stampPosition) ?? -.infinity }

    override func collection(_ index: Int) throws -> StoredElements {
      try session.collection(index, of: table.entity, owner: key ?? statement.value(at: table.keyPosition))
    }
  }
#endif
