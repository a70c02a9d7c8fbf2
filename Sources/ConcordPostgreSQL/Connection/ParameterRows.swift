#if PostgreSQL
  /// The parameters of several rows, which become those of one statement: an array for each column.
  struct ParameterRows {
    private var columns: [ParameterArray]
    private var row = PostgreSQLParameters()
    private(set) var count = 0
    /// The size of all values.
    private(set) var bytes = 0

    /// The size from which on rows become several statements: the server takes no value, and no message, of 1 GB.
    static let mostBytes = 1 << 26

    /// - Parameter types: those of the columns.
    init(_ types: [PostgreSQLType]) { columns = types.map { ParameterArray($0) } }

    /// Appends the values of a row, one for each column; nothing if the closure throws.
    mutating func append(_ write: (inout PostgreSQLParameters) throws -> Void) rethrows {
      row.removeAll()
      try write(&row)
      for index in columns.indices { columns[index].append(row, at: index) }
      count += 1
      bytes += row.bytes.count
    }

    /// The parameters of the one row.
    var single: PostgreSQLParameters { row }

    /// An array for each column.
    var arrays: PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      for column in columns { parameters.append(column) }
      return parameters
    }
  }
#endif
