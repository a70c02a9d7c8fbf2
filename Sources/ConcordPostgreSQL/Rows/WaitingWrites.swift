#if PostgreSQL
  import Concord
  import ConcordModel

  /// Writes whose results nobody needs, in order, until they are sent together.
  ///
  /// Updates of the same columns of rows of one table that follow each other become one statement, and so do elements of one collection, and
  /// deletions of rows of one table: each would run the triggers of the table otherwise.
  struct WaitingWrites {
    private var commands: [PostgreSQLConnection.Command] = []
    private var updates: RowUpdates?
    private var elements: (collection: PostgreSQLTable.Collection, rows: ParameterRows)?
    private var deletions: RowDeletions?
    private var remembered = RememberedDeletions()
    private var count = 0
    /// The size of the values of the statements that have ended.
    private var bytes = 0
    /// The number of writes that are sent together.
    private static let most = 4096

    var isEmpty: Bool { count == 0 }

    /// Whether they are to be sent.
    private var areMany: Bool {
      count >= Self.most
        || bytes + (updates?.bytes ?? 0) + (elements?.rows.bytes ?? 0) >= ParameterRows.mostBytes
    }

    /// - Returns: whether there are many.
    mutating func append(_ command: PostgreSQLConnection.Command) -> Bool {
      endStatement()
      commands.append(command)
      bytes += command.parameters.bytes.count
      count += 1
      return areMany
    }

    /// Appends an element of a collection.
    ///
    /// - Parameter append: appends the owner, the position and the element.
    /// - Returns: whether there are many.
    mutating func append(
      _ collection: PostgreSQLTable.Collection, of table: PostgreSQLTable,
      _ append: (inout PostgreSQLParameters) throws -> Void
    ) rethrows -> Bool {
      if elements?.collection.name != collection.name {
        endStatement()
        elements = (collection, ParameterRows([table.keyForm.type, .bigint] + collection.forms.map(\.type)))
      }
      try elements?.rows.append(append)
      count += 1
      return areMany
    }

    /// - Returns: whether there are many.
    mutating func append(
      _ update: RowUpdate, of key: StoredValue, _ table: PostgreSQLTable, _ append: RowUpdates.Append
    ) throws -> Bool {
      if updates?.takes(update, of: key, table) != true {
        endStatement()
        updates = RowUpdates(table, update.positions)
      }
      try updates?.append(update, of: key, append)
      count += 1
      return areMany
    }

    /// - Parameter parameter: the key as a parameter.
    /// - Returns: whether there are many.
    mutating func append(
      deletionOf key: StoredValue, _ parameter: PostgreSQLParameters, _ table: PostgreSQLTable
    ) -> Bool {
      if deletions?.takes(table) != true {
        endStatement()
        deletions = RowDeletions(table)
      }
      deletions?.append(key, parameter)
      count += 1
      return areMany
    }

    /// Appends a deletion that is remembered. It stands behind all other writes, which do not depend on it.
    ///
    /// - Parameter time: the time after which some old deletions are forgotten with it, in seconds; `nil` if none are.
    /// - Returns: whether there are many.
    mutating func append(
      remembered key: EntityKey, _ stamp: Stamp, forgettingAfter time: Double?
    ) -> Bool {
      remembered.append(key, stamp, forgettingAfter: time)
      count += 1
      return areMany
    }

    /// Returns the statements, and forgets them.
    mutating func take() -> [PostgreSQLConnection.Command] {
      endStatement()
      if !remembered.isEmpty { commands += remembered.commands }
      defer { self = WaitingWrites() }
      return commands
    }

    private mutating func endStatement() {
      bytes += (updates?.bytes ?? 0) + (elements?.rows.bytes ?? 0)
      if let updates { commands.append(updates.command) }
      if let elements { commands.append(.init(sql: elements.collection.insert, parameters: elements.rows.arrays)) }
      if let deletions { commands += deletions.commands }
      (updates, elements, deletions) = (nil, nil, nil)
    }
  }

  /// New values for some columns of a row.
  struct RowUpdate {
    let positions: [Int]
    /// The values of all columns.
    let values: ArraySlice<StoredValue>
    let stamp: Stamp

    init(positions: [Int], values: ArraySlice<StoredValue>, _ stamp: Stamp) {
      (self.positions, self.values, self.stamp) = (positions, values, stamp)
    }
  }

  /// Updates of the same columns of several rows.
  struct RowUpdates {
    typealias Append = (StoredValue, ColumnForm, inout PostgreSQLParameters) throws -> Void

    private let table: PostgreSQLTable
    private let positions: [Int]
    private var rows: ParameterRows
    private var keys: Set<StoredValue> = []
    var bytes: Int { rows.bytes }

    init(_ table: PostgreSQLTable, _ positions: [Int]) {
      (self.table, self.positions) = (table, positions)
      rows = ParameterRows(positions.map { table.forms[$0].type } + [table.keyForm.type, .double])
    }

    /// Whether an update may run in one statement with these. A row may be in a statement once only.
    func takes(_ update: RowUpdate, of key: StoredValue, _ table: PostgreSQLTable) -> Bool {
      table === self.table && update.positions == positions && !keys.contains(key)
    }

    mutating func append(_ update: RowUpdate, of key: StoredValue, _ append: Append) throws {
      try rows.append { row in
        for position in positions {
          try append(update.values[update.values.startIndex + position], table.forms[position], &row)
        }
        try append(key, table.keyForm, &row)
        row.append(update.stamp)
      }
      keys.insert(key)
    }

    var command: PostgreSQLConnection.Command {
      keys.count == 1
        ? .init(sql: table.update(of: positions), parameters: rows.single)
        : .init(sql: table.updateRows(of: positions), parameters: rows.arrays)
    }
  }
#endif
