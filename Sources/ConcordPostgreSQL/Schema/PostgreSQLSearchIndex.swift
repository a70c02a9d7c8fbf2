#if PostgreSQL
  import ConcordModel
  import ConcordPersistence

  /// The index of the words of an entity's searchable texts.
  ///
  /// Only this program can fold words as Swift does. The table `concord_words.Book` has for each row a vector of its folded words, or `NULL` if
  /// they have to be folded. Triggers note so which rows other programs have written. A session of this program tells the triggers that it folds the
  /// words of its rows itself, and writes their vectors in the same transaction. A search looks at the rows that the index finds and at those that
  /// are noted, and checks each.
  ///
  /// The name of the column of vectors says how words are folded, and of which columns. A program that wants words folded otherwise fails with a
  /// statement, and takes no wrong vector for a right one.
  struct PostgreSQLSearchIndex: Sendable {
    let entity: EntityDescription
    let positions: [Int]
    let keyForm: ColumnForm
    private let forms: [ColumnForm]

    /// - Returns: `nil` if the entity has no searchable texts.
    init?(_ entity: EntityDescription) {
      if entity.searchablePositions.isEmpty { return nil }
      (self.entity, positions) = (entity, entity.searchablePositions)
      let table = PostgreSQLTable(entity)
      (keyForm, forms) = (table.keyForm, table.forms)
    }

    // MARK: Names

    /// The beginning of the names of its tables, columns and triggers, by which errors about them are recognised, too.
    static let mark = "concord_words"

    static func table(_ entity: String) -> String { "\(mark).\(entity)" }

    var table: String { identifier(Self.table(entity.name)) }

    /// The version of folding and the columns, as the name of the column of vectors has them.
    struct Form: Equatable {
      let version: String
      let columns: String

      var name: String { "\(mark) \(version) \(columns)" }

      init(version: String, columns: [String]) {
        self.version = version
        self.columns = PostgreSQLSearchIndex.hash(columns.joined(separator: "\u{0}"))
      }

      /// - Returns: `nil` if it is no name of a column of vectors.
      init?(name: String) {
        let parts = name.split(separator: " ").map(String.init)
        guard parts.count == 3, parts[0] == mark else { return nil }
        (version, columns) = (parts[1], parts[2])
      }

      /// Whether its words are of the same columns, and are folded by a newer version of the rules.
      func isNewer(than other: Form) -> Bool {
        func numbers(_ version: String) -> [Int] { version.split(separator: ".").map { Int($0) ?? 0 } }
        return columns == other.columns && numbers(other.version).lexicographicallyPrecedes(numbers(version))
      }
    }

    var form: Form {
      Form(version: ScalarFolding.version, columns: positions.map { columnName(entity.columns[$0].name) })
    }
    var column: String { identifier(form.name) }

    /// Returns the claim of a program that folds the words of a table's rows in this form. A program that searches other columns folds none of these.
    ///
    /// - Parameter number: the number of the table.
    func claim(_ number: String) -> String { "\(number) \(form.name)" }

    static func hash(_ text: String) -> String {
      // FNV-1a.
      let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
      return String(hash, radix: 16)
    }

    // MARK: Statements

    /// A query for the keys of the rows that may be hits.
    ///
    /// - Parameter query: the placeholder of a `tsquery`'s text.
    func keys(_ query: String) -> String {
      "SELECT w.\"key\" FROM \(table) AS w WHERE w.\(column) @@ \(query)::tsquery OR w.\(column) IS NULL"
    }

    /// Writes the vectors of rows: arrays of the keys, the vectors, and whether there are too many words for one.
    var write: String { write("SELECT u.k, u.v::tsvector, u.l FROM unnest($1, $2, $3) AS u(k, v, l)") }

    /// Writes the vector of one row, if a statement that writes the row gives a row.
    ///
    /// - Parameter count: the number of the statement's parameters. The three of ``append(_:_:to:)`` come behind them.
    func write(beside statement: String, _ count: Int) -> String {
      let (key, vector, isLong) = ("$\(count + 1)", "$\(count + 2)", "$\(count + 3)")
      return """
        WITH r AS (\(statement)), x AS (\(write("SELECT \(key), \(vector)::tsvector, \(isLong) FROM r"))) SELECT * FROM r
        """
    }

    private func write(_ source: String) -> String {
      """
      INSERT INTO \(table) AS w ("key", \(column), is_long) \(source) \
      ON CONFLICT ("key") DO UPDATE SET \(column) = excluded.\(column), is_long = excluded.is_long \
      WHERE w.\(column) IS DISTINCT FROM excluded.\(column) OR w.is_long <> excluded.is_long
      """
    }

    /// The statement that folds the words of rows that were noted and are locked.
    var fold: String {
      """
      UPDATE \(table) AS w SET \(column) = u.v::tsvector, is_long = u.l \
      FROM unnest($1, $2, $3) AS u(k, v, l) WHERE w."key" = u.k
      """
    }

    /// The statement that begins the folding. Who lets nobody read the table may need the rows of words that are locked for it, so nobody waits with
    /// these for the table.
    var lock: String { "LOCK TABLE \(identifier(entity.name)) IN ACCESS SHARE MODE NOWAIT" }

    /// Locks some noted rows, and gives their keys in order. Those that somebody else has locked are left.
    ///
    /// - Parameter isFirst: whether they are the first ones; otherwise they stand behind a key.
    func noted(isFirst: Bool, atMost count: Int) -> String {
      """
      SELECT w."key" FROM \(table) AS w WHERE w.\(column) IS NULL AND NOT w.is_long\(isFirst ? "" : " AND w.\"key\" > $1") \
      ORDER BY w."key" LIMIT \(count) FOR UPDATE SKIP LOCKED
      """
    }

    /// The texts of an array of keys, behind the key of each.
    var texts: String {
      let columns = positions.map { identifier(columnName(entity.columns[$0].name)) }
      return
        "SELECT \((["\"id\""] + columns).joined(separator: ", ")) FROM \(identifier(entity.name)) WHERE \"id\" = ANY($1)"
    }

    /// The vector of a row's words; `nil` if there are too many for one.
    func vector(_ values: [StoredValue]) -> String? { TextVector.literal(positions.map { values[$0].text }) }

    /// Appends what a row of the table is made of.
    func append(_ key: StoredValue, _ vector: String?, to parameters: inout PostgreSQLParameters) {
      // No row has a key that its column cannot keep.
      if !keyForm.append(key, to: &parameters) { parameters.appendNull(keyForm.type) }
      if let vector { parameters.append(vector) } else { parameters.appendNull(.text) }
      parameters.append(vector == nil)
    }

    /// Reads the key and the vector of a row that ``texts`` gives.
    func vector(_ result: PostgreSQLResult, _ row: Int) -> (key: StoredValue, vector: String?) {
      let texts = positions.enumerated().map { index, position -> String? in
        guard !result.isNull(row, index + 1) else { return nil }
        guard case .text(let text) = forms[position].read(result, row, index + 1) else { return nil }
        return text
      }
      return (keyForm.read(result, row, 0), TextVector.literal(texts))
    }
  }

  /// The vectors of rows that are written together.
  struct SearchVectors {
    private var rows: ParameterRows
    private let index: PostgreSQLSearchIndex
    private(set) var bytes = 0
    var count: Int { rows.count }
    var parameters: PostgreSQLParameters { rows.arrays }

    init(_ index: PostgreSQLSearchIndex) {
      self.index = index
      rows = ParameterRows([index.keyForm.type, .text, .boolean])
    }

    /// - Parameter vector: `nil` if there are too many words.
    mutating func append(_ key: StoredValue, _ vector: String?) {
      bytes += vector?.utf8.count ?? 0
      rows.append { index.append(key, vector, to: &$0) }
    }
  }

  extension PostgreSQLFailure {
    /// Whether an index of words is not as it was: another program has removed it or changed its form, or a right is gone.
    var concernsWords: Bool {
      ["42P01", "42703", "42501"].contains(code) && message.contains(PostgreSQLSearchIndex.mark)
    }
  }
#endif
