#if PostgreSQL
  import ConcordModel

  /// A column of which no two rows have equal values.
  ///
  /// Its unique index compares stored forms. Where equal values may have several, such as a text in composed and in decomposed form, those whose
  /// form is not the usual one have an entry in `concord_unique`, by what all equal values have in common. Most databases have no entries. An
  /// entry whose row has another value by now is ignored, so other programs may ignore the table.
  struct PostgreSQLUniqueColumn: Sendable {
    let table: String
    let name: String
    let position: Int
    let form: ColumnForm
    let keyForm: ColumnForm
    private let coding: ColumnCoding
    /// Whether all equal values are stored the same, and each is equal to itself.
    let isExact: Bool
    private let isReal: Bool

    init(_ entity: EntityDescription, at position: Int, _ form: ColumnForm) {
      let column = entity.columns[position]
      (table, name, self.position, self.form) = (entity.name, columnName(column.name), position, form)
      (keyForm, coding) = (ColumnForm(keyOf: entity), column.coding)
      (isExact, isReal) = (column.isExact, column.storageClass == .real)
    }

    /// The column that a note describes, of those that are compared apart.
    init(
      _ column: TableNote.Column, of table: TableNote, at position: Int, keyForm: ColumnForm, _ coding: ColumnCoding
    ) {
      (self.table, name, form) = (table.entity, columnName(column.name), column.form)
      self.position = position
      (self.keyForm, self.coding) = (keyForm, coding)
      (isExact, isReal) = (false, column.storageClass == StorageClass.real.rawValue)
    }

    /// Returns the key that all values equal to this one share; `nil` if it is equal to none.
    func key(of value: StoredValue) -> StoredValue? { isExact ? (value.isNull ? nil : value) : coding.key(of: value) }

    /// Whether the index may miss values that equal this one.
    func isStoredApart(_ value: StoredValue) -> Bool {
      if isExact || value.isNull { return false }
      if isReal, case .blob = value { return true }
      return coding.key(of: value) != value
    }

    // MARK: The index

    /// The expression and the condition of the index. NaN is equal to none, and the server takes -0.0 for 0.0.
    var indexed: String {
      let column = identifier(name)
      guard form.type == .double else {
        return isReal ? "(\(column)) WHERE \(column) NOT LIKE 'x''%'" : "(\(column))"
      }
      return isExact ? "((float8send(\(column))))" : "(\(column)) WHERE \(column) <> 'NaN'::double precision"
    }

    /// Finds another row whose stored value is a key. Takes the key and the own id.
    private var same: String {
      let column = identifier(name)
      let compared =
        form.type == .double && isExact ? "float8send(\(column)) = float8send($1)" : "\(column) = $1"
      return "SELECT 1 FROM \(identifier(table)) WHERE \(compared) AND \"id\" <> $2 LIMIT 1"
    }

    func findSame(_ key: StoredValue, except id: StoredValue) -> PostgreSQLConnection.Command? {
      var parameters = PostgreSQLParameters()
      // No row has what the column cannot keep.
      guard form.append(key, to: &parameters), keyForm.append(id, to: &parameters) else { return nil }
      return .init(sql: same, parameters: parameters)
    }

    /// Finds the stored values that are among some keys.
    func findSame(_ keys: [StoredValue]) -> PostgreSQLConnection.Command {
      var rows = ParameterRows([form.type])
      for key in keys {
        var parameter = PostgreSQLParameters()
        // No row has what the column cannot keep.
        if form.append(key, to: &parameter) { rows.append { $0.append(from: parameter, at: 0) } }
      }
      let column = identifier(name)
      return .init(
        sql: "SELECT \(column) FROM \(identifier(table)) WHERE \(column) = ANY($1)", parameters: rows.arrays)
    }

    // MARK: Entries

    static let tableSQL = [
      """
      CREATE TABLE concord_unique (
        "table" text COLLATE "C" NOT NULL, "column" text COLLATE "C" NOT NULL, "key" text COLLATE "C" NOT NULL,
        owner text COLLATE "C" NOT NULL, PRIMARY KEY ("table", "column", "key")
      )
      """,
      "CREATE INDEX concord_unique_owner ON concord_unique (\"table\", \"column\", owner)",
    ]

    private func command(_ sql: String, _ values: StoredValue...) -> PostgreSQLConnection.Command {
      var parameters = PostgreSQLParameters()
      for value in [StoredValue.text(table), .text(name)] { _ = ColumnForm.text.append(value, to: &parameters) }
      for value in values { _ = ColumnForm.any.append(value, to: &parameters) }
      return .init(sql: sql, parameters: parameters)
    }

    /// - Parameter values: the last parameter, an array.
    private func command(_ sql: String, ofAny values: [StoredValue]) -> PostgreSQLConnection.Command {
      var rows = ParameterRows([.text])
      for value in values { rows.append { _ = ColumnForm.any.append(value, to: &$0) } }
      var command = command(sql)
      command.parameters.append(from: rows.arrays, at: 0)
      return command
    }

    /// Finds the owner of an entry, unless it is the row itself.
    func findOwner(of key: StoredValue, except id: StoredValue) -> PostgreSQLConnection.Command {
      command(
        "SELECT owner FROM concord_unique WHERE \"table\" = $1 AND \"column\" = $2 AND \"key\" = $3 AND owner <> $4",
        key, id)
    }

    /// Finds which of some keys have an entry.
    func findEntries(_ keys: [StoredValue]) -> PostgreSQLConnection.Command {
      command(
        "SELECT \"key\" FROM concord_unique WHERE \"table\" = $1 AND \"column\" = $2 AND \"key\" = ANY($3)", ofAny: keys
      )
    }

    /// Finds the value of an owner.
    func value(of owner: StoredValue) -> PostgreSQLConnection.Command? {
      var parameters = PostgreSQLParameters()
      guard keyForm.append(owner, to: &parameters) else { return nil }
      return .init(
        sql: "SELECT \(identifier(name)) FROM \(identifier(table)) WHERE \"id\" = $1", parameters: parameters)
    }

    func note(_ key: StoredValue, of id: StoredValue) -> PostgreSQLConnection.Command {
      command(
        """
        INSERT INTO concord_unique VALUES ($1, $2, $3, $4)
        ON CONFLICT ("table", "column", "key") DO UPDATE SET owner = excluded.owner
        """, key, id)
    }

    func forget(_ id: StoredValue) -> PostgreSQLConnection.Command {
      command("DELETE FROM concord_unique WHERE \"table\" = $1 AND \"column\" = $2 AND owner = $3", id)
    }

    /// Removes the entries of several rows.
    func forget(_ ids: [StoredValue]) -> PostgreSQLConnection.Command {
      command("DELETE FROM concord_unique WHERE \"table\" = $1 AND \"column\" = $2 AND owner = ANY($3)", ofAny: ids)
    }

    /// Makes the entries of a column.
    ///
    /// - Returns: whether no two rows have equal values.
    func fill(_ connection: PostgreSQLConnection) throws -> Bool {
      let column = identifier(name)
      try connection.run([
        .once("LOCK TABLE \(identifier(table)) IN SHARE ROW EXCLUSIVE MODE"),
        command("DELETE FROM concord_unique WHERE \"table\" = $1 AND \"column\" = $2"),
      ])
      let rows = try connection.run([
        .once("SELECT \"id\", \(column) FROM \(identifier(table)) WHERE \(column) IS NOT NULL")
      ])[0]
      var owners: [StoredValue: StoredValue] = [:]
      var entries: [PostgreSQLConnection.Command] = []
      for row in 0..<rows.count {
        let value = form.read(rows, row, 1)
        guard let key = key(of: value) else { continue }
        let id = keyForm.read(rows, row, 0)
        if owners.updateValue(id, forKey: key) != nil { return false }
        if key != value { entries.append(note(key, of: id)) }
      }
      try connection.run(entries)
      return true
    }
  }
#endif
