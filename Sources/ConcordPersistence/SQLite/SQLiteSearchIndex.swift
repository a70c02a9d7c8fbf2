#if Persistence
  import ConcordModel
  import GRDB

  /// The index of the words of an entity's searchable texts, in FTS5.
  ///
  /// Only this program can fold words as Swift does. Triggers in plain SQL note the keys of rows that are changed, whoever writes, in
  /// `concord_noted.Book`. A write of this program brings the folded words of these rows in `concord_words.Book` up to date, and with them the
  /// FTS5 index `concord_fts.Book`, whose content that table is. A search looks at the rows that the index finds and at those that are
  /// noted, and checks each.
  struct SQLiteSearchIndex: Sendable {
    let entity: EntityDescription
    private let positions: [Int]

    /// - Returns: `nil` if the entity has no searchable texts.
    init?(_ entity: EntityDescription) {
      if entity.searchablePositions.isEmpty { return nil }
      (self.entity, positions) = (entity, entity.searchablePositions)
    }

    static let registry = "concord_search"
    static func nameOfIndex(_ entity: String) -> String { "concord_fts.\(entity)" }
    static func nameOfWords(_ entity: String) -> String { "concord_words.\(entity)" }
    static func nameOfNotes(_ entity: String) -> String { "concord_noted.\(entity)" }
    static let events = ["insert", "update", "delete"]
    static func nameOfTrigger(_ entity: String, _ event: String) -> String { "concord_search.\(entity).\(event)" }
    /// The prefixes of the tables' names.
    static let prefixes = ["concord_fts.", "concord_words.", "concord_noted."]

    var index: String { quoted(Self.nameOfIndex(entity.name)) }
    var words: String { quoted(Self.nameOfWords(entity.name)) }
    var notes: String { quoted(Self.nameOfNotes(entity.name)) }
    private var table: String { quoted(entity.name) }
    private var columns: [String] { positions.map { quoted(entity.columns[$0].name) } }
    /// The columns of folded words.
    private var wordColumns: [String] { positions.indices.map { "w\($0)" } }
    private var wordList: String { wordColumns.joined(separator: ", ") }

    /// A text that is equal where the index was made in the same way.
    var form: String {
      Form(version: ScalarFolding.version, columns: positions.map { entity.columns[$0].name }).text
    }

    /// Whether this SQLite has FTS5.
    static func isAvailable(_ db: Database) -> Bool {
      (try? Int.fetchOne(db, sql: "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")) == 1
    }

    /// Whether the file has the index, in the form of this program.
    func isUsable(_ db: Database) throws -> Bool {
      guard try db.tableExists(Self.registry) else { return false }
      return try String.fetchOne(
        db.cachedStatement(sql: "SELECT form FROM concord_search WHERE entity = ?"), arguments: [entity.name]) == form
    }

    // MARK: Making

    /// Makes the indexes of a model's entities, and removes those that are not wanted any longer.
    static func prepare(_ entities: [EntityDescription], _ db: Database) throws {
      let wanted = entities.compactMap { SQLiteSearchIndex($0) }
      let isPresent = try db.tableExists(registry)
      if wanted.isEmpty, !isPresent { return }
      // Without FTS5, what another program has made stays as it is.
      guard isAvailable(db) else { return }
      if isPresent {
        let kept = Set(entities.map { $0.name.lowercased() })
        let names = Set(wanted.map { $0.entity.name.lowercased() })
        for name in try String.fetchAll(db, sql: "SELECT entity FROM concord_search")
        where kept.contains(name.lowercased()) && !names.contains(name.lowercased()) { try drop(name, db) }
      } else {
        try db.execute(sql: "CREATE TABLE concord_search (entity TEXT PRIMARY KEY, form TEXT NOT NULL)")
      }
      for index in wanted where try !index.isComplete(db) { try index.make(db) }
      for index in wanted { try index.update(atMost: nil, db) }
    }

    private func isComplete(_ db: Database) throws -> Bool {
      guard try isUsable(db) else { return false }
      for name in Self.prefixes where try !db.tableExists(name + entity.name) { return false }
      // Triggers go with a table that is made anew.
      return try Set(triggers.map(\.sql)) == Set(Self.presentTriggers(entity.name, db).map(\.sql))
    }

    private static func presentTriggers(_ entity: String, _ db: Database) throws -> [(name: String, sql: String)] {
      try Row.fetchAll(
        db,
        sql: """
          SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE
          AND name LIKE 'concord@_search.%' ESCAPE '@'
          """, arguments: [entity]
      ).map { ($0.text(0), $0.text(1)) }
    }

    private static func drop(_ entity: String, _ db: Database) throws {
      for trigger in try presentTriggers(entity, db) { try db.execute(sql: "DROP TRIGGER \(quoted(trigger.name))") }
      for prefix in prefixes { try db.execute(sql: "DROP TABLE IF EXISTS \(quoted(prefix + entity))") }
      try db.execute(sql: "DELETE FROM concord_search WHERE entity = ? COLLATE NOCASE", arguments: [entity])
    }

    private func make(_ db: Database) throws {
      try Self.drop(entity.name, db)
      try db.execute(
        sql: """
          CREATE TABLE \(words) (number INTEGER PRIMARY KEY, "key" NOT NULL UNIQUE, \
          \(wordColumns.map { "\($0) TEXT" }.joined(separator: ", ")))
          """)
      // Its tokens are what stands between spaces: folded words have no other ASCII characters than letters and digits.
      try db.execute(
        sql: """
          CREATE VIRTUAL TABLE \(index) USING fts5(\(wordList), content=\(literal(Self.nameOfWords(entity.name))), \
          content_rowid='number', tokenize='ascii', columnsize=0)
          """)
      try db.execute(sql: "CREATE TABLE \(notes) (\"key\" NOT NULL PRIMARY KEY) WITHOUT ROWID")
      try db.execute(sql: "INSERT INTO \(notes) SELECT \"id\" FROM \(table)")
      for trigger in triggers { try db.execute(sql: trigger.sql) }
      try db.execute(sql: "INSERT INTO concord_search (entity, form) VALUES (?, ?)", arguments: [entity.name, form])
    }

    private var triggers: [(name: String, sql: String)] {
      // Without `OR IGNORE`, for which the rule of the statement that fires the trigger is used instead. The sign takes the affinity of the
      // id's column away, which would be that of all noted keys then: they would be read one after the other.
      func note(_ key: String) -> String {
        "INSERT INTO \(notes) SELECT \(key) WHERE NOT EXISTS (SELECT 1 FROM \(notes) WHERE \"key\" = +\(key));"
      }
      func trigger(_ named: String, _ event: String, _ body: String) -> (name: String, sql: String) {
        let name = Self.nameOfTrigger(entity.name, named)
        return (name, "CREATE TRIGGER \(quoted(name)) \(event) BEGIN \(body) END")
      }
      let watched = columns + ["\"id\""]
      let isChanged = watched.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
      let update = "AFTER UPDATE OF \(watched.joined(separator: ", ")) ON \(table) WHEN \(isChanged)"
      return [
        trigger("insert", "AFTER INSERT ON \(table)", note("NEW.\"id\"")),
        trigger("update", update, note("OLD.\"id\"") + " " + note("NEW.\"id\"")),
        trigger("delete", "AFTER DELETE ON \(table)", note("OLD.\"id\"")),
      ]
    }

    private func literal(_ text: String) -> String { "'\(text.doubling(UInt8(ascii: "'")))'" }

    // MARK: Bringing up to date

    /// Folds the words of rows that are noted, and writes them to the index.
    ///
    /// - Parameter count: the greatest number of rows; `nil` for all. Those that are left stay noted.
    func update(atMost count: Int?, _ db: Database) throws {
      var (rest, total) = (count ?? .max, 0)
      while rest > 0 {
        let batch = min(rest, Self.batch)
        let noted = try self.noted(batch, db)
        for row in noted { try update(row, db) }
        total += noted.count
        if noted.count < batch {
          if !noted.isEmpty { try run("DELETE FROM \(notes)", [], db) }
          break
        }
        for row in noted { try run("DELETE FROM \(notes) WHERE \"key\" = ?", [row.key], db) }
        rest -= batch
      }
      if total >= Self.batch { try merge(total, db) }
    }

    private static let batch = 1_000

    /// Merges what many rows have added to the index, which otherwise a later save of a single row would do.
    private func merge(_ count: Int, _ db: Database) throws {
      // With a savepoint FTS5 writes what it has collected.
      try db.inSavepoint { .commit }
      // The number of pages is negative, so that all that is there is merged with it, also in later writes.
      let name = quoted(Self.nameOfIndex(entity.name))
      try run("INSERT INTO \(index) (\(name), rank) VALUES ('merge', ?)", [.integer(Int64(-count / 16))], db)
    }

    private struct Noted {
      let key: StoredValue
      /// The folded words of each text; `nil` if there is no row.
      let new: [StoredValue]?
      /// The words that the index has, and its number; `nil` if there is nothing.
      let known: (number: Int64, words: [StoredValue])?
    }

    /// The noted rows, first those that the index has, in its order: FTS5 collects what is written in this order, and writes all that
    /// it has collected when a smaller number comes.
    private func noted(_ count: Int, _ db: Database) throws -> [Noted] {
      let texts = columns.map { "row.\($0)" }
      let known = wordColumns.map { "words.\($0)" }
      let statement = SQLiteStatement(
        try db.cachedStatement(
          sql: """
            SELECT noted."key", row."id" IS NOT NULL, words.number, \((texts + known).joined(separator: ", ")) \
            FROM (SELECT "key" FROM \(notes) LIMIT ?) AS noted \
            LEFT JOIN \(table) AS row ON row."id" = noted."key" LEFT JOIN \(words) AS words ON words."key" = noted."key"
            """))
      defer { statement.reset() }
      try statement.bind(.integer(Int64(count)), at: 1)
      var found: [Noted] = []
      while try statement.step() {
        let isPresent = statement.integer(at: 1) == 1
        let new = positions.indices.map { index in
          StoredValue.text(statement.withText(at: Int32(index + 3)) { FoldedText(bytes: $0).indexedWords } ?? "")
        }
        let number = statement.integer(at: 2)
        let old = number.map { number in
          (number, positions.indices.map { statement.value(at: Int32($0 + 3 + positions.count)) })
        }
        found.append(Noted(key: statement.value(at: 0), new: isPresent ? new : nil, known: old))
      }
      return found.sorted { ($0.known?.number ?? .max) < ($1.known?.number ?? .max) }
    }

    private func update(_ row: Noted, _ db: Database) throws {
      let places = wordColumns.map { _ in "?" }.joined(separator: ", ")
      func insert(_ number: StoredValue, _ new: [StoredValue]) throws {
        try run("INSERT INTO \(index) (rowid, \(wordList)) VALUES (?, \(places))", [number] + new, db)
      }
      guard let (number, old) = row.known else {
        guard let new = row.new else { return }
        try run("INSERT INTO \(words) (\"key\", \(wordList)) VALUES (?, \(places))", [row.key] + new, db)
        return try insert(.integer(db.lastInsertedRowID), new)
      }
      if row.new == old { return }
      // The index has to be told what it has.
      let name = quoted(Self.nameOfIndex(entity.name))
      try run(
        "INSERT INTO \(index) (\(name), rowid, \(wordList)) VALUES ('delete', ?, \(places))", [.integer(number)] + old,
        db)
      if let new = row.new {
        let changed = wordColumns.map { "\($0) = ?" }.joined(separator: ", ")
        try run("UPDATE \(words) SET \(changed) WHERE number = ?", new + [.integer(number)], db)
        try insert(.integer(number), new)
      } else {
        try run("DELETE FROM \(words) WHERE number = ?", [.integer(number)], db)
      }
    }

    private func run(_ sql: String, _ values: [StoredValue], _ db: Database) throws {
      let statement = SQLiteStatement(try db.cachedStatement(sql: sql))
      defer { statement.reset() }
      for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
      _ = try statement.step()
    }

    // MARK: Searching

    /// A query for the keys of the rows that may be hits.
    ///
    /// - Parameter match: the placeholder of what FTS5 is to find.
    func keys(_ match: String) -> String {
      // In this order: what FTS5 finds is few.
      """
      SELECT \(words)."key" FROM \(index) CROSS JOIN \(words) ON \(words).number = \(index).rowid WHERE \(index) MATCH \(match) \
      UNION ALL SELECT "key" FROM \(notes)
      """
    }

    /// The key of a row in ``words(_:where:)``.
    let wordsKey = "\"concord.words\".\"key\""

    /// A query for the keys and the folded words of what FTS5 finds among the rows that are not noted.
    ///
    /// - Parameter condition: a further condition.
    func words(_ match: String, where condition: String?) -> String {
      let columns = [wordsKey] + wordColumns.map { "\"concord.words\".\($0)" }
      return """
        SELECT \(columns.joined(separator: ", ")) FROM \(index) CROSS JOIN \(words) AS "concord.words" \
        ON "concord.words".number = \(index).rowid WHERE \(index) MATCH \(match) \
        AND NOT EXISTS (SELECT 1 FROM \(notes) WHERE "key" = \(wordsKey))\(condition.map { " AND \($0)" } ?? "")
        """
    }
  }

  extension SearchCandidates {
    /// The number of words of a phrase that are looked up. FTS5 compares each word of a phrase at each of its places, and what it finds is
    /// checked.
    private static var mostWords: Int { 16 }

    /// The candidates in the language of FTS5.
    var fts5: String {
      switch self {
      case .term(let words, let isPrefix):
        let phrase = words.prefix(Self.mostWords).map(\.indexedWord).joined(separator: " ")
        return "\"\(phrase)\"\(isPrefix && words.count <= Self.mostWords ? "*" : "")"
      case .all(let parts): return "(\(parts.map(\.fts5).joined(separator: " AND ")))"
      case .any(let parts): return "(\(parts.map(\.fts5).joined(separator: " OR ")))"
      }
    }
  }
#endif
