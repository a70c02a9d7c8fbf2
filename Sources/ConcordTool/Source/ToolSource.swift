#if Tool
  import ConcordPersistence

  /// A file or a database that a command works on: one committed state of it, or what one transaction sees.
  protocol ToolSource {
    /// The name, for people. It has no password.
    var name: String { get }
    var schema: SourceSchema { get }

    // MARK: Sizes

    /// The space that it takes, in words.
    func sizes() throws -> String
    /// The number of bytes that a table takes; `nil` where only the whole is known.
    func room(of table: SourceTable) throws -> Int64?
    func count(_ table: SourceTable) throws -> Int

    // MARK: Rows

    /// Calls a closure with each row of a selection.
    func rows(_ selection: RowSelection, of table: SourceTable, _ body: ([Cell]) throws -> Void) throws
    /// Returns the statement of a selection, and how it is carried out.
    func explain(_ selection: RowSelection, of table: SourceTable) throws -> [String]
    /// Imports rows in one transaction.
    ///
    /// - Parameter commits: Whether the rows are to stay; otherwise it is only found out whether they could.
    func importRows(replaces: Bool, commits: Bool, _ body: (any RowTarget) throws -> Void) throws

    // MARK: Checks

    /// Returns the damage below tables and rows.
    func damage() throws -> [String]
    /// Returns the differences between a table and its note.
    func differences(of table: SourceTable) throws -> [String]
    /// Returns the rows that a statement selects.
    ///
    /// - Parameters:
    ///   - sql: A statement with the columns, in order, made of the names that tables and columns have in SQL.
    ///   - examples: How many of the rows, in the order of the first column, are returned beside their number.
    func findings(_ sql: String, _ columns: [SourceColumn], examples: Int) throws -> Findings
    /// Compares the index of the words of a table with its texts; `nil` if there is none.
    func words(of table: SourceTable, examples: Int) throws -> WordInspection?
    /// The forwarded actions; `nil` if there were never any.
    func outbox() throws -> SourceOutbox?
    /// Forwarded actions that cannot be read, and those in a state that is not known.
    func strangeActions(examples: Int) throws -> (unreadable: Findings, unknown: Findings)
  }

  /// Rows that a check has found.
  struct Findings {
    var count = 0
    /// The first of them, by their keys and values.
    var examples: [[Cell]] = []
  }

  /// A destination of imported rows.
  protocol RowTarget: AnyObject {
    /// Writes a row, now or later.
    ///
    /// - Parameter row: The values of all columns of the table, in order.
    /// - Throws: ``ToolError``, with the line if it is that of an earlier row.
    func write(_ row: [Cell], into table: SourceTable, line: Int) throws
  }

  extension SourceOptions {
    /// Opens the file or the database for reading, passes it to `body`, and closes it. `body` reads one state of it.
    func reading<R>(_ body: (any ToolSource) throws -> R) throws -> R {
      guard isURL else { return try SQLiteFile.reading(self) { try body($0) } }
      #if PostgreSQL
        return try PostgreSQLSource.with(self, writes: false) { try body($0) }
      #else
        throw Self.withoutPostgreSQL
      #endif
    }

    /// Opens the file or the database for writing, passes it to `body`, and closes it.
    func writing<R>(_ body: (any ToolSource) throws -> R) throws -> R {
      guard isURL else { return try SQLiteFile.writing(self) { try body($0) } }
      #if PostgreSQL
        return try PostgreSQLSource.with(self, writes: true) { try body($0) }
      #else
        throw Self.withoutPostgreSQL
      #endif
    }

    static var withoutPostgreSQL: ToolError {
      ToolError(
        .usage,
        "this concord was built without PostgreSQL; 'swift build --traits default,PostgreSQL --product concord' builds it with it"
      )
    }
  }
#endif
