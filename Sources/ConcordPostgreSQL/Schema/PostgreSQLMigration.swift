#if PostgreSQL
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// The shape of a table, as `concord_schema` notes it: an older program recognises by it a database that a newer one has migrated.
  struct TableShape: Codable, Equatable {
    struct Column: Codable, Equatable {
      var type: String
      var isRequired: Bool
      /// The name of the coding; `nil` for a column that is the store's own.
      var coding: String?
    }

    var columns: [String: Column] = [:]
    /// By column, its name in an earlier model, which is carried over already.
    var originalNames: [String: String] = [:]

    init(_ table: PostgreSQLSchema.Table) {
      for (column, _, description) in table.columns {
        columns[storedName(column.name)] = Column(
          type: column.type, isRequired: column.isRequired, coding: description?.coding.name)
        if let original = description?.originalName, original != column.name {
          originalNames[storedName(column.name)] = storedName(columnName(original))
        }
      }
    }

    /// The statement that notes it.
    static func note(_ table: PostgreSQLSchema.Table) throws -> String {
      try TableShape(table).note(storedName(table.name))
    }

    /// - Parameter table: its name, as the server keeps it.
    func note(_ table: String) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      let text = String(decoding: try encoder.encode(self), as: UTF8.self)
      return
        "INSERT INTO concord_schema (\"table\", shape) VALUES (\(literal(table)), \(literal(text)))"
    }

    static let tableSQL = """
      CREATE TABLE IF NOT EXISTS concord_schema (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "table" text NOT NULL, shape text NOT NULL
      )
      """
  }

  /// A table of the database beside the one that the model wants in its place: what differs, and how it is made so.
  struct PostgreSQLMigration {
    let table: PostgreSQLSchema.Table
    /// The differences that cannot be migrated.
    private(set) var problems: [String] = []
    /// Whether the table was as it is wanted, before it was migrated.
    let isOlder: Bool
    private(set) var isChanged = false
    private var renamed: [(from: String, to: String)] = []
    private var dropped: [String] = []
    private var added: [Addition] = []
    private var required: [String] = []
    private var optional: [String] = []
    /// Columns whose values have to be readable by another type.
    private var checked: [(name: String, form: ColumnForm, coding: ColumnCoding)] = []

    private struct Addition {
      let column: PostgreSQLSchema.Column
      let form: ColumnForm
      let value: StoredValue
      let conversion: ColumnMigration?
    }

    init(
      _ table: PostgreSQLSchema.Table, present: [PostgreSQLSchema.Column], history: [TableShape],
      conversions: [ColumnMigration]
    ) {
      self.table = table
      let wanted = TableShape(table)
      isOlder = history.last != wanted && history.dropLast().contains(wanted)
      var taken: Set<String> = []
      for (column, form, description) in table.columns {
        let stored = storedName(column.name)
        let same = present.first { $0.name == stored }
        let original = description?.originalName.map { storedName(columnName($0)) }.flatMap { name in
          present.first { $0.name == name }
        }
        let isCarried = original.map { history.last?.originalNames[stored] == $0.name } ?? true
        let origin = same != nil && isCarried ? same : original ?? same
        let conversion = conversions.first { $0.column == (description?.name ?? column.name) }
        let known = origin.flatMap { history.last?.columns[$0.name]?.coding }
        let isSame = origin?.type == column.type && (known == nil || known == description?.coding.name)
        guard let origin, isSame || conversion == nil else {
          isChanged = true
          var value = description?.defaultValue ?? .null
          if value.isNull, description?.role == .count { value = .integer(0) }
          if column.isRequired, value.isNull, conversion == nil {
            problems.append("\(table.name).\(column.name) is missing, and has no default")
          }
          added.append(Addition(column: column, form: form, value: value, conversion: conversion))
          continue
        }
        taken.insert(origin.name)
        if origin.type != column.type {
          problems.append("\(table.name).\(column.name) is \(origin.type), not \(column.type)")
        } else if let known, let coding = description?.coding, known != coding.name {
          isChanged = true
          if ColumnCoding.family(of: known) == coding.family {
            checked.append((origin.name, form, coding))
          } else {
            problems.append("\(table.name).\(column.name) holds \(known), not \(coding.name)")
          }
        }
        if origin.name != stored {
          isChanged = true
          renamed.append((origin.name, column.name))
        }
        if origin.isRequired != column.isRequired {
          isChanged = true
          if column.isRequired {
            required.append(column.name)
            if let value = description?.defaultValue, !value.isNull {
              added.append(Addition(column: column, form: form, value: value, conversion: nil))
            }
          } else {
            optional.append(column.name)
          }
        }
      }
      dropped = present.map(\.name).filter { !taken.contains($0) }
      if !dropped.isEmpty { isChanged = true }
    }

    /// The differences, for a store that is not to be migrated.
    var allDifferences: [String] {
      problems + dropped.map { "\(table.name).\($0) is not in the model" }
        + added.map { "\(table.name).\($0.column.name) is missing" }
        + renamed.map { "\(table.name).\($0.from) is to be \($0.to)" }
        + (required + optional).map { "\(table.name).\($0) is required in one, and not in the other" }
    }

    // MARK: Migrating

    /// Makes the table as it is wanted, within a transaction.
    ///
    /// - Returns: what keeps that from being done.
    func run(_ connection: PostgreSQLConnection) throws -> [String] {
      let name = identifier(table.name)
      func alter(_ change: String) -> PostgreSQLConnection.Command { .once("ALTER TABLE \(name) \(change)") }
      var problems: [String] = []
      for (column, form, coding) in checked {
        let result = try connection.run([
          .once("SELECT \(identifier(column)) FROM \(name) WHERE \(identifier(column)) IS NOT NULL")
        ])[0]
        let unreadable = (0..<result.count).count { !coding.canRead(form.read(result, $0, 0)) }
        if unreadable > 0 {
          problems.append("\(table.name).\(column) has \(unreadable) values that are no \(coding.name)")
        }
      }
      // The triggers would note each row.
      try connection.run([alter("DISABLE TRIGGER USER")])
      let converted = try convertedValues(connection)
      // Names may be exchanged.
      for (index, column) in renamed.enumerated() {
        try connection.run([alter("RENAME COLUMN \(identifier(column.from)) TO \(identifier("concord.\(index)"))")])
      }
      for column in dropped { try connection.run([alter("DROP COLUMN \(identifier(column))")]) }
      for (index, column) in renamed.enumerated() {
        try connection.run([alter("RENAME COLUMN \(identifier("concord.\(index)")) TO \(identifier(column.to))")])
      }
      for addition in added {
        let column = identifier(addition.column.name)
        if !required.contains(addition.column.name) {
          try connection.run([alter("ADD COLUMN \(column) \(addition.form.declaration)")])
        }
        if addition.conversion == nil, !addition.value.isNull {
          var parameters = PostgreSQLParameters()
          guard addition.form.append(addition.value, to: &parameters) else {
            problems.append("\(table.name).\(addition.column.name) cannot keep its default")
            continue
          }
          try connection.run([.once("UPDATE \(name) SET \(column) = $1 WHERE \(column) IS NULL", parameters)])
        }
        for (key, value) in converted[addition.column.name] ?? [] {
          var parameters = PostgreSQLParameters()
          guard addition.form.append(value, to: &parameters) else {
            problems.append("\(table.name).\(addition.column.name) cannot keep \(value)")
            break
          }
          parameters.append(key)
          try connection.run([
            .init(sql: "UPDATE \(name) SET \(column) = $1 WHERE \"id\"::text = $2", parameters: parameters)
          ])
        }
      }
      for column in optional { try connection.run([alter("ALTER COLUMN \(identifier(column)) DROP NOT NULL")]) }
      for column in required + added.filter(\.column.isRequired).map(\.column.name) {
        let missing = try connection.run([.once("SELECT count(*) FROM \(name) WHERE \(identifier(column)) IS NULL")])[0]
          .integer(0, 0)
        if missing > 0 {
          problems.append("\(table.name).\(column) is required, and missing in \(missing) rows")
        } else {
          try connection.run([alter("ALTER COLUMN \(identifier(column)) SET NOT NULL")])
        }
      }
      try connection.run([alter("ENABLE TRIGGER USER"), .once(try TableShape.note(table))])
      return problems
    }

    /// The values that the user's closures make of the old rows, by the rows' keys.
    private func convertedValues(_ connection: PostgreSQLConnection) throws -> [String: [(String, StoredValue)]] {
      let conversions = added.filter { $0.conversion != nil }
      if conversions.isEmpty { return [:] }
      let types = try connection.run([
        .once(
          """
          SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
          WHERE attrelid = \(literal(identifier(table.name)))::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
          """)
      ])[0]
      let columns = (0..<types.count).map { (name: types.text($0, 0), form: ColumnForm(type: types.text($0, 1))) }
      let list = columns.map { $0.form == nil ? "\(identifier($0.name))::text" : identifier($0.name) }
      let rows = try connection.run([
        .once(
          "SELECT \"id\"::text, \(list.joined(separator: ", ")) FROM \(identifier(table.name)) AS t ORDER BY t.\"id\"")
      ])[0]
      var found: [String: [(String, StoredValue)]] = [:]
      for row in 0..<rows.count {
        var values: [String: StoredValue] = [:]
        for (position, column) in columns.enumerated() {
          values[column.name] =
            rows.isNull(row, position + 1) ? .null : (column.form ?? .text).read(rows, row, position + 1)
        }
        for addition in conversions {
          guard let conversion = addition.conversion else { continue }
          found[addition.column.name, default: []].append((rows.text(row, 0), try conversion.convert(OldRow(values))))
        }
      }
      return found
    }
  }

  extension ColumnForm {
    /// The form with which values of a type of the server are read; `nil` for one that is read as text.
    init?(type: String) {
      switch type {
      case "bigint": self = .integer
      case "double precision": self = .real
      case "boolean": self = .boolean
      case "text": self = .text
      case "uuid": self = .uuid
      case "bytea": self = .bytes
      case "numeric": self = .unsigned
      default: return nil
      }
    }
  }
#endif
