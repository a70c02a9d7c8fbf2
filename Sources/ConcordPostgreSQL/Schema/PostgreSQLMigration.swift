#if PostgreSQL
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// The shape of a table, as `concord_schema` notes it: an older program recognises by it a database that a newer one has migrated.
  struct TableShape: Codable {
    struct Column: Codable, Equatable {
      var type: String
      var isRequired: Bool
      /// The name of the coding; `nil` for a column that is the store's own.
      var coding: String?
    }

    var columns: [String: Column] = [:]
    /// By column, its name in an earlier model, which is carried over already.
    var originalNames: [String: String] = [:]
    /// By column, such names that the model no longer names.
    var carriedNames: [String: String]?
    /// The version of the model.
    var version: Int?

    /// Whether a table that is described like this fits with all that it means: a model that does not name what was exchanged is an
    /// earlier one.
    func describes(_ wanted: TableShape) -> Bool {
      columns == wanted.columns
        && originalNames.allSatisfy { column, original in
          !columns.keys.contains { $0.lowercased() == original.lowercased() }
            || wanted.originalNames[column]?.lowercased() == original.lowercased()
        }
    }

    /// The name of a column, in lower case, that was carried over to this one.
    func carriedName(of column: String) -> String? {
      func name(_ names: [String: String]?) -> String? {
        names?.first { $0.key.lowercased() == column.lowercased() }?.value.lowercased()
      }
      return name(originalNames) ?? name(carriedNames)
    }

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
    ///
    /// - Parameters:
    ///   - version: the version of the model.
    ///   - names: by column, the names that were carried over already.
    static func note(
      _ table: PostgreSQLSchema.Table, version: Int, keeping names: [String: String] = [:]
    ) throws -> String {
      var shape = TableShape(table)
      (shape.version, shape.carriedNames) = (version, names)
      return try shape.note(storedName(table.name))
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
    /// The name of the table in the database.
    let presentName: String
    /// The differences that cannot be migrated.
    private(set) var problems: [String] = []
    /// Whether the table was as it is wanted, before it was migrated.
    let isOlder: Bool
    private(set) var isChanged: Bool
    /// By column, the column that becomes it.
    private(set) var origins: [String: PostgreSQLSchema.Column] = [:]
    private let version: Int
    /// By column, the names that were carried over already.
    private var carriedNames: [String: String] = [:]
    private var conditions: [Condition] = []
    private(set) var renamed: [(from: String, to: String)] = []
    private var dropped: [String] = []
    private var added: [Addition] = []
    /// The names of the columns in which rows get other values.
    var addedColumns: Set<String> { Set(added.map(\.column.name)) }
    private var required: [String] = []
    private var optional: [String] = []
    /// Columns whose values have to be readable by another type.
    private var checked: [(name: String, form: ColumnForm, coding: ColumnCoding)] = []

    /// A problem that forbids a migration where there is a value.
    private struct Condition {
      let problem: String
      /// `nil` for any row.
      let column: String?
    }

    private struct Addition {
      let column: PostgreSQLSchema.Column
      let form: ColumnForm
      let value: StoredValue
      let conversion: ColumnMigration?
      /// Whether only the rows without a value get one.
      var fills = false
    }

    init(
      _ table: PostgreSQLSchema.Table, from presentName: String,
      _ present: [PostgreSQLSchema.Column],
      history: [TableShape], conversions: [ColumnMigration], version: Int
    ) {
      self.table = table
      self.presentName = presentName
      self.version = version
      let wanted = TableShape(table)
      isOlder =
        history.last?.describes(wanted) != true && history.dropLast().contains { $0.columns == wanted.columns }
        && version <= history.compactMap(\.version).max() ?? .max
      isChanged = storedName(table.name) != presentName
      var takers: [String: [String]] = [:]
      for (column, form, description) in table.columns {
        let stored = storedName(column.name)
        let origin = Self.origin(of: column, description, table, present, history.last)
        origins[column.name] = origin
        let conversion = conversions.first { $0.column == (description?.name ?? column.name) }
        let isRenamed = origin.map { $0.name.lowercased() != stored.lowercased() } ?? false
        let known = origin.flatMap { history.last?.columns[$0.name]?.coding }
        let isSame =
          origin?.type == column.type && (known == nil || known == description?.coding.name)
        guard let origin, conversion == nil || isSame && !isRenamed else {
          add(column, form, description, conversion)
          continue
        }
        if !isRenamed { carriedNames[stored] = history.last?.carriedName(of: origin.name) }
        let isRelated =
          origin.type == column.type
          && known.map { ColumnCoding.family(of: $0) } == description?.coding.family
        if !isSame, !isRelated || column.isKey {
          // What had another type has no values.
          if column.isKey {
            problems.append("\(table.name).\(column.name) is \(origin.type), not \(column.type)")
          } else {
            let (old, new) =
              origin.type == column.type
              ? (known ?? origin.type, description?.coding.name ?? column.type)
              : (origin.type, column.type)
            conditions.append(
              Condition(
                problem: "\(table.name).\(column.name) is \(old), not \(new)", column: origin.name))
            add(column, form, description, nil, isNew: false)
          }
          continue
        }
        takers[origin.name, default: []].append(column.name)
        if !isSame, let coding = description?.coding {
          isChanged = true
          checked.append((origin.name, form, coding))
        }
        if origin.name != stored {
          isChanged = true
          renamed.append((origin.name, column.name))
        }
        if origin.isRequired != column.isRequired {
          isChanged = true
          if column.isRequired {
            required.append(column.name)
            var value = description?.defaultValue ?? .null
            if value.isNull, description?.role == .count { value = .integer(0) }
            if conversion != nil || !value.isNull {
              added.append(
                Addition(
                  column: column, form: form, value: value, conversion: conversion, fills: true))
            }
          } else {
            optional.append(column.name)
          }
        }
      }
      for (origin, columns) in takers.sorted(by: { $0.key < $1.key }) where columns.count > 1 {
        let names = columns.sorted().map { "\(table.name).\($0)" }.joined(separator: " and ")
        problems.append("\(names) would both be made of \(origin)")
      }
      dropped = present.map(\.name).filter { takers[$0] == nil }
      if !dropped.isEmpty { isChanged = true }
      if let collection = table.collection, collection.key == nil, dropped.contains("_key") {
        conditions.append(
          Condition(
            problem: "\(table.name) holds a dictionary, whose keys are not in the model",
            column: nil))
      }
    }

    /// Adds a column, in which no row has a value yet.
    ///
    /// - Parameter isNew: whether it takes the place of no other one, whose rows without a value stay so if they may.
    private mutating func add(
      _ column: PostgreSQLSchema.Column, _ form: ColumnForm, _ description: ColumnDescription?,
      _ conversion: ColumnMigration?, isNew: Bool = true
    ) {
      isChanged = true
      var value = isNew || column.isRequired ? description?.defaultValue ?? .null : .null
      if value.isNull, description?.role == .count, column.isRequired { value = .integer(0) }
      if column.isRequired, value.isNull, conversion == nil {
        let problem = "\(table.name).\(column.name) is missing, and has no default"
        if table.collection == nil {
          problems.append(problem)
        } else {
          conditions.append(Condition(problem: problem, column: nil))
        }
      }
      if conversion != nil, description?.role == .count {
        problems.append("\(table.name).\(column.name) is a collection, which no migration makes")
      }
      added.append(Addition(column: column, form: form, value: value, conversion: conversion))
    }

    /// The column that becomes one. SQLite does not tell upper case from lower case in names, and so models do not.
    private static func origin(
      of column: PostgreSQLSchema.Column, _ description: ColumnDescription?,
      _ table: PostgreSQLSchema.Table,
      _ present: [PostgreSQLSchema.Column], _ shape: TableShape?
    ) -> PostgreSQLSchema.Column? {
      func named(_ name: String) -> PostgreSQLSchema.Column? {
        present.first { $0.name == name }
          ?? present.first { $0.name.lowercased() == name.lowercased() }
      }
      let same = named(storedName(column.name))
      if table.collection == nil, let name = description?.originalName,
        let original = named(storedName(columnName(name))), original.name != same?.name
      {
        // A name that was carried over already is not carried over again.
        if same == nil
          || shape?.carriedName(of: storedName(column.name)) != original.name.lowercased()
        {
          return original
        }
      }
      if let same { return same }
      // The columns of a collection's elements are named after it.
      guard let name = table.collection?.elements.first?.name, let description,
        description.name.hasPrefix(name),
        let first = present.first(where: { !["_owner", "_position", "_key"].contains($0.name) })
      else { return nil }
      return named(storedName(first.name + description.name.dropFirst(name.count)))
    }

    /// The differences, for a store that is not to be migrated.
    var allDifferences: [String] {
      problems + conditions.map(\.problem)
        + dropped.map { "\(table.name).\($0) is not in the model" }
        + added.map { "\(table.name).\($0.column.name) is missing" }
        + renamed.map { "\(table.name).\($0.from) is to be \($0.to)" }
        + (required + optional).map { "\(table.name).\($0) is required in one, and not in the other" }
    }

    // MARK: Migrating

    /// Returns what keeps the rows from being carried over.
    func differences(_ connection: PostgreSQLConnection) throws -> [String] {
      let name = identifier(presentName)
      var problems: [String] = []
      for condition in conditions {
        let isGiven = condition.column.map { " WHERE \(identifier($0)) IS NOT NULL" } ?? ""
        let count = try connection.run([.once("SELECT count(*) FROM \(name)\(isGiven)")])[0]
          .integer(0, 0)
        if count > 0 { problems.append(condition.problem) }
      }
      for (column, form, coding) in checked {
        let result = try connection.run([
          .once("SELECT \(identifier(column)) FROM \(name) WHERE \(identifier(column)) IS NOT NULL")
        ])[0]
        let unreadable = (0..<result.count).count { !coding.canRead(form.read(result, $0, 0)) }
        if unreadable > 0 {
          problems.append(
            "\(table.name).\(column) has \(unreadable.of("value that is", "values that are")) no \(coding.name)")
        }
      }
      return problems
    }

    /// Makes the table as it is wanted, within a transaction, in which the table has its name already.
    ///
    /// - Returns: what keeps that from being done.
    func run(_ connection: PostgreSQLConnection) throws -> [String] {
      let name = identifier(table.name)
      func alter(_ change: String) -> PostgreSQLConnection.Command {
        .once("ALTER TABLE \(name) \(change)")
      }
      var problems: [String] = []
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
        if !addition.fills {
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
        let values = converted[addition.column.name] ?? []
        problems += try write(values, into: addition, connection)
        problems += try unreadable(addition, values, connection)
      }
      for column in optional {
        try connection.run([alter("ALTER COLUMN \(identifier(column)) DROP NOT NULL")])
      }
      for column in required
        + added.filter({ $0.column.isRequired && !$0.fills }).map(\.column.name)
      {
        let missing = try connection.run([
          .once("SELECT count(*) FROM \(name) WHERE \(identifier(column)) IS NULL")
        ])[0]
        .integer(0, 0)
        if missing > 0 {
          problems.append("\(table.name).\(column) is required, and missing in \(Int(missing).of("row"))")
        } else {
          try connection.run([alter("ALTER COLUMN \(identifier(column)) SET NOT NULL")])
        }
      }
      try connection.run([
        alter("ENABLE TRIGGER USER"),
        .once(try TableShape.note(table, version: version, keeping: carriedNames)),
      ])
      return problems
    }

    /// The rows of one statement.
    private static let batch = 5_000

    /// Writes what the user's closures have made into the rows that have no value.
    ///
    /// - Returns: what cannot be written.
    private func write(
      _ values: [(key: String, value: StoredValue)], into addition: Addition, _ connection: PostgreSQLConnection
    ) throws -> [String] {
      if values.isEmpty { return [] }
      let (name, column) = (identifier(table.name), identifier(addition.column.name))
      let type = try connection.run([
        .once(
          """
          SELECT format_type(atttypid, atttypmod) FROM pg_attribute
          WHERE attrelid = \(literal(name))::regclass AND attname = 'id' AND NOT attisdropped
          """)
      ])[0].text(0, 0)
      // Each key is looked up by the index; otherwise each batch may read all rows.
      let ways = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"]
      try connection.run(ways.map { .once("SET LOCAL \($0) TO off") })
      let sql = """
        UPDATE \(name) AS t SET \(column) = u.v FROM unnest(($1::text[])::\(type)[], $2) AS u(k, v)
        WHERE t."id" = u.k AND t.\(column) IS NULL
        """
      for start in stride(from: 0, to: values.count, by: Self.batch) {
        var rows = ParameterRows([.text, addition.form.type])
        for (key, value) in values[start..<min(values.count, start + Self.batch)] {
          var isKept = true
          rows.append { row in
            row.append(key)
            isKept = addition.form.append(value, to: &row)
            if !isKept { row.appendNull(addition.form.type) }
          }
          if !isKept { return ["\(table.name).\(addition.column.name) cannot keep \(value)"] }
        }
        try connection.run([.init(sql: sql, parameters: rows.arrays)])
      }
      try connection.run(ways.map { .once("SET LOCAL \($0) TO DEFAULT") })
      return []
    }

    /// Returns what cannot be read of the values that the user's closures have made. A database that was left with it would have no way
    /// back.
    private func unreadable(
      _ addition: Addition, _ made: [(key: String, value: StoredValue)], _ connection: PostgreSQLConnection
    ) throws -> [String] {
      let keys = Set(made.lazy.filter { !$0.value.isNull }.map(\.key))
      guard !keys.isEmpty,
        let coding = table.columns.first(where: { $0.0.name == addition.column.name })?.2?.coding
      else { return [] }
      let column = identifier(addition.column.name)
      let rows = try connection.run([
        .once("SELECT \"id\"::text, \(column) FROM \(identifier(table.name)) WHERE \(column) IS NOT NULL")
      ])[0]
      let count = (0..<rows.count).count { row in
        keys.contains(rows.text(row, 0)) && !coding.canRead(addition.form.read(rows, row, 1))
      }
      if count == 0 { return [] }
      return ["\(table.name).\(addition.column.name) has \(count.of("value")) that cannot be read as \(coding.name)"]
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
          // What has a value keeps it.
          if addition.fills, let origin = origins[addition.column.name], values[origin.name]?.isNull == false {
            continue
          }
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
