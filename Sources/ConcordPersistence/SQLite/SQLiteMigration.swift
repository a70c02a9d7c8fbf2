#if Persistence
  import ConcordModel
  import GRDB

  /// A table of a file beside the one that the model wants in its place: what differs, and a new table that takes what can be
  /// carried over.
  struct SQLiteMigration {
    let table: SQLiteSchema.Table
    let present: [SQLiteSchema.Column]
    /// The name of the table in the file.
    let presentName: String
    let history: SQLiteHistory
    let conversions: [ColumnMigration]
    let file: FileFacts
    /// The examined values of columns whose coding may not be the wanted one, by the wanted name.
    private var values: [String: Values] = [:]
    private let readsValues: Bool

    /// Facts about the whole file.
    struct FileFacts {
      /// The target of each column that refers to an entity, by table and column; `nil` if the file does not say.
      var targets: [String: [String: String]]?
      /// By entity, the names of its collections' tables, in lower case.
      var collections: [String: Set<String>] = [:]
      /// The entities that are targets of references.
      var referredTo: Set<String> = []
      /// The entities that are kept in the file.
      var kept: Set<String> = []
    }

    private struct Values {
      var present = 0
      var unreadable = 0
    }

    /// The source of a column's values.
    enum Source {
      case column(String)
      /// A column, with a value in place of `NULL`.
      case columnOr(String, StoredValue)
      /// A column, with a converted value in place of `NULL`.
      case columnOrConversion(String, ColumnMigration)
      case value(StoredValue)
      case conversion(ColumnMigration)
      case nothing(String)
    }

    /// The relation between a column's coding and that of the values it takes over.
    private enum Fit: Equatable {
      /// The values were stored with this coding.
      case same
      /// The values have to be read.
      case unknown
      /// The values were stored with another coding of the same family.
      case related(String)
      case other(String)
    }

    /// - Parameter readsValues: whether values are read where nothing else tells whether they fit.
    init(
      _ table: SQLiteSchema.Table, from presentName: String, _ present: [SQLiteSchema.Column],
      _ conversions: [ColumnMigration], _ file: FileFacts, readsValues: Bool, _ db: Database
    ) throws {
      self.table = table
      self.present = present
      self.presentName = presentName
      self.conversions = conversions
      self.file = file
      self.readsValues = readsValues
      history = try SQLiteHistory(of: presentName, db)
      if readsValues { values = try readValues(db) }
    }

    // MARK: What becomes what

    /// The column with a name. SQLite does not tell upper case from lower case in names.
    func presentColumn(_ name: String) -> SQLiteSchema.Column? {
      present.first { $0.name == name }
        ?? present.first { $0.name.lowercased() == name.lowercased() }
    }

    /// The column that becomes this one.
    func origin(of column: SQLiteSchema.Column) -> SQLiteSchema.Column? {
      let same = presentColumn(column.name)
      if let original = table.originalName(of: column.name).flatMap(presentColumn), original != same {
        // A name that was carried over already is not carried over again.
        if same == nil || history.carriedName(of: column.name) != original.name.lowercased() {
          return original
        }
      }
      return same ?? elementColumn(column)
    }

    /// The column of an element in the table of a collection that had another name. Its columns are named after it.
    private func elementColumn(_ column: SQLiteSchema.Column) -> SQLiteSchema.Column? {
      guard let name = table.collection?.elements.first?.name, column.name.hasPrefix(name),
        let first = present.first(where: { !["_owner", "_position", "_key"].contains($0.name) })
      else { return nil }
      return presentColumn(first.name + column.name.dropFirst(name.count))
    }

    /// Whether a column takes over another one that had another name.
    private func isRenamed(_ column: SQLiteSchema.Column, from origin: SQLiteSchema.Column) -> Bool {
      origin.name.lowercased() != column.name.lowercased()
    }

    private func fit(_ column: SQLiteSchema.Column, _ origin: SQLiteSchema.Column) -> Fit {
      guard let coding = table.coding(of: column.name) else { return .same }
      let known = history.codings(of: origin.name)
      if known.contains(coding.name) { return .same }
      if let last = known.last {
        return ColumnCoding.family(of: last) == coding.family ? .related(last) : .other(last)
      }
      let role = table.description(of: column.name)?.role
      if let targets = file.targets?[presentName.lowercased()] ?? file.targets.map({ _ in [:] }) {
        if let target = targets[origin.name] {
          return coding.name == "reference(\(target))" ? .same : .other("reference(\(target))")
        }
        if role == .reference { return .other("no reference") }
      }
      if table.collection == nil {
        let collection = "\(presentName)_\(origin.name)".lowercased()
        let isCollection = file.collections[table.entity.name]?.contains(collection) ?? false
        if role == .count { return isCollection ? .same : .other("no collection") }
        if isCollection { return .other("collection") }
      }
      return .unknown
    }

    func source(of column: SQLiteSchema.Column) -> Source {
      let origin = origin(of: column)
      let conversion = conversions.first { $0.column == column.name }
      if let conversion, needsConversion(column, origin) {
        if let problem = problem(ofConverting: column) { return .nothing(problem) }
        return .conversion(conversion)
      }
      let description = table.description(of: column.name)
      let defaultValue = description?.defaultValue
      guard let origin else {
        if let defaultValue, !(defaultValue.isNull && column.isRequired) { return .value(defaultValue) }
        if !column.isRequired { return .value(.null) }
        if description?.role == .count { return .value(.integer(0)) }
        if column.name == "_stamp" { return .value(.real(-.infinity)) }
        return .nothing("\(table.name).\(column.name) is missing, and has no default")
      }
      if let problem = problem(ofTaking: origin, column) { return .nothing(problem) }
      // What had another type has no values.
      let isOther = !isTaken(origin, by: column)
      guard !origin.isRequired, column.isRequired else {
        return isOther && !column.isRequired ? .value(.null) : .column(origin.name)
      }
      if let conversion, problem(ofConverting: column) == nil {
        return .columnOrConversion(origin.name, conversion)
      }
      var replacement = defaultValue ?? .null
      if replacement.isNull, description?.role == .count { replacement = .integer(0) }
      if replacement.isNull { return .column(origin.name) }
      return isOther ? .value(replacement) : .columnOr(origin.name, replacement)
    }

    /// A column that is there as it is wanted was converted by an earlier migration, and a second one would garble it. Whether it may be
    /// missing in a row does not matter.
    private func needsConversion(_ column: SQLiteSchema.Column, _ origin: SQLiteSchema.Column?)
      -> Bool
    {
      guard let origin, !isRenamed(column, from: origin), origin.type == column.type,
        origin.isKey == column.isKey
      else {
        return true
      }
      return switch fit(column, origin) {
      // The names of cases may differ where the wrapper's columns are.
      case .same: lostColumns.contains { $0.cases.contains(column.name) }
      case .unknown: values[column.name, default: Values()].unreadable > 0
      case .related, .other: true
      }
    }

    private func problem(ofConverting column: SQLiteSchema.Column) -> String? {
      if table.description(of: column.name)?.role == .count {
        return "\(table.name).\(column.name) is a collection, which no migration makes"
      }
      if column.isKey, !table.entity.collections.isEmpty || file.referredTo.contains(table.entity.name) {
        return "\(table.name).\(column.name) is what others refer to, and cannot be migrated"
      }
      return nil
    }

    private func problem(ofTaking origin: SQLiteSchema.Column, _ column: SQLiteSchema.Column) -> String? {
      let name = "\(table.name).\(column.name)"
      let coding = table.coding(of: column.name)?.name ?? ""
      let values = values[column.name, default: Values()]
      if !isTaken(origin, by: column) {
        if readsValues, values.present == 0 { return nil }
        if case .other(let other) = fit(column, origin), origin.type == column.type {
          return "\(name) is \(other), not \(coding)"
        }
        return Self.classProblem(name, origin, column)
      }
      switch fit(column, origin) {
      case .same, .other: return nil
      case .unknown, .related:
        return values.unreadable == 0
          ? nil : "\(name) has \(values.unreadable.of("value")) that cannot be read as \(coding)"
      }
    }

    /// Whether the values of a column may be those of another one. Otherwise there must be none.
    private func isTaken(_ origin: SQLiteSchema.Column, by column: SQLiteSchema.Column) -> Bool {
      if origin.type != column.type || origin.isKey != column.isKey { return false }
      if case .other = fit(column, origin) { return false }
      return true
    }

    private static func classProblem(
      _ name: String, _ origin: SQLiteSchema.Column, _ column: SQLiteSchema.Column
    ) -> String {
      "\(name) is \(origin.type.isEmpty ? "any" : origin.type), not \(column.type.isEmpty ? "any" : column.type)"
    }

    /// Reads the values of which nothing else tells whether they fit, in one pass.
    private func readValues(_ db: Database) throws -> [String: Values] {
      let open = table.columns.compactMap {
        column -> (column: String, origin: String, coding: ColumnCoding)? in
        guard let origin = origin(of: column), let coding = table.coding(of: column.name),
          fit(column, origin) != .same || !isTaken(origin, by: column)
        else { return nil }
        return (column.name, origin.name, coding)
      }
      if open.isEmpty { return [:] }
      let names = open.map { quoted($0.origin) }.joined(separator: ", ")
      let statement = SQLiteStatement(try db.makeStatement(sql: "SELECT \(names) FROM \(quoted(presentName))"))
      defer { statement.reset() }
      var found = [Values](repeating: Values(), count: open.count)
      while try statement.step() {
        for (index, part) in open.enumerated() {
          let value = statement.value(at: Int32(index))
          if value.isNull { continue }
          found[index].present += 1
          if !part.coding.canRead(value) { found[index].unreadable += 1 }
        }
      }
      return Dictionary(uniqueKeysWithValues: zip(open.map(\.column), found))
    }

    // MARK: What differs

    /// Whether the table has to be made anew, or cannot be.
    var isChanged: Bool {
      if presentName != table.name || Set(present) != Set(table.columns) { return true }
      return table.columns.contains { column in
        switch source(of: column) {
        case .column(column.name): false
        case .column, .columnOr, .columnOrConversion, .value, .conversion, .nothing: true
        }
      }
    }

    /// Whether the table stays as it is, and has to be noted with other codings.
    var isCarried: Bool { !isChanged && !history.knows(table) }

    /// Whether a model that is newer than this one has changed the table.
    ///
    /// - Parameter version: that of this one.
    func isOlder(version: Int) -> Bool {
      isChanged ? history.isOlder(table) : history.isOlderByDescription(table, version: version)
    }

    /// By column, the names that were carried over already, and that the model need not name any longer.
    var carriedNames: [String: String] {
      var names: [String: String] = [:]
      for column in table.columns {
        guard let origin = origin(of: column), !isRenamed(column, from: origin) else { continue }
        names[column.name] = history.carriedName(of: origin.name)
      }
      return names
    }

    /// Returns the differences that cannot be migrated.
    func problems(_ db: Database) throws -> [String] {
      if table.collection != nil {
        let count =
          try Int.fetchOne(
            db, sql: "SELECT COUNT(*) FROM (SELECT 1 FROM \(quoted(presentName)) LIMIT 1)") ?? 0
        if count == 0 { return [] }
      }
      var takers: [String: [String]] = [:]
      var problems = try table.columns.compactMap { column in
        let source = source(of: column)
        switch source {
        case .column(let name), .columnOr(let name, _), .columnOrConversion(let name, _):
          takers[name, default: []].append(column.name)
        case .value, .conversion, .nothing: break
        }
        return try problem(of: source, column, db)
      }
      for (origin, columns) in takers.sorted(by: { $0.key < $1.key }) where columns.count > 1 {
        let names = columns.sorted().map { "\(table.name).\($0)" }.joined(separator: " and ")
        problems.append("\(names) would both be made of \(origin)")
      }
      if table.collection != nil, table.collection?.key == nil, presentColumn("_key") != nil {
        problems.append("\(table.name) holds a dictionary, whose keys are not in the model")
      }
      return try problems + exchanges + lostValues(db)
    }

    private func problem(of source: Source, _ column: SQLiteSchema.Column, _ db: Database) throws -> String? {
      switch source {
      case .nothing(let problem): return problem
      case .column(let name) where column.isRequired && presentColumn(name)?.isRequired == false:
        let count =
          try Int.fetchOne(
            db, sql: "SELECT COUNT(*) FROM \(quoted(presentName)) WHERE \(quoted(name)) IS NULL") ?? 0
        return count == 0 ? nil : "\(table.name).\(column.name) is required, and missing in \(count.of("row"))"
      default: return nil
      }
    }

    /// Columns that exchange their names, in a file that does not say whether they have.
    private var exchanges: [String] {
      if history.shape != nil { return [] }
      return table.columns.compactMap { column in
        guard let original = table.originalName(of: column.name),
          let same = presentColumn(column.name),
          let present = presentColumn(original), present != same,
          table.columns.contains(where: {
            $0.name.lowercased() == original.lowercased() && table.originalName(of: $0.name) != nil
          })
        else { return nil }
        return
          "\(table.name).\(column.name) was \(original), and the file does not say whether they were exchanged already"
      }
    }

    /// All differences.
    var allDifferences: [String] {
      var differences = present.map(\.name).filter { name in !table.columns.contains { $0.name == name } }.sorted()
        .map { "\(table.name).\($0) is not in the model" }
      for column in table.columns {
        guard let there = present.first(where: { $0.name == column.name }) else {
          differences.append("\(table.name).\(column.name) is missing")
          continue
        }
        if there.type == column.type, there.isRequired != column.isRequired {
          differences.append(
            "\(table.name).\(column.name) is \(there.isRequired ? "required" : "optional") in the file")
        } else if let origin = origin(of: column), origin != there {
          differences.append("\(table.name).\(column.name) is \(origin.name) in the file")
        } else if let problem = problem(ofTaking: there, column) {
          differences.append(problem)
        }
      }
      return differences
    }
  }
#endif
