#if PostgreSQL
  /// The parameters of several rows, which become those of one statement: an array for each column.
  struct ParameterRows {
    private let types: [PostgreSQLType]
    private var columns: [PostgreSQLParameters]
    private var row = PostgreSQLParameters()
    private(set) var count = 0

    /// - Parameter types: those of the columns.
    init(_ types: [PostgreSQLType]) {
      self.types = types
      columns = types.map { _ in PostgreSQLParameters() }
    }

    /// Appends the values of a row, one for each column; nothing if the closure throws.
    mutating func append(_ write: (inout PostgreSQLParameters) throws -> Void) rethrows {
      row.removeAll()
      try write(&row)
      for index in columns.indices { columns[index].append(from: row, at: index) }
      count += 1
    }

    /// The parameters of the one row.
    var single: PostgreSQLParameters { row }

    /// An array for each column.
    var arrays: PostgreSQLParameters {
      var parameters = PostgreSQLParameters()
      for (type, column) in zip(types, columns) { parameters.append(arrayOf: column, type) }
      return parameters
    }
  }
#endif
