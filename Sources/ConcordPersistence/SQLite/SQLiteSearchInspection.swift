#if Persistence
  import ConcordModel
  import Foundation
  package import GRDB

  /// The index of the words of a table, as a program without the model sees it.
  package struct SQLiteSearchInspection {
    private let table: String
    private let db: Database
    /// The names of the columns whose words it has.
    private let columns: [String]
    private let version: String
    private var wordColumns: [String] { columns.indices.map { "w\($0)" } }
    private var words: String { quoted(SQLiteSearchIndex.nameOfWords(table)) }
    private var notes: String { quoted(SQLiteSearchIndex.nameOfNotes(table)) }

    /// - Returns: `nil` if there is no index.
    package init?(_ table: String, _ db: Database) throws {
      guard try db.tableExists(SQLiteSearchIndex.registry),
        let form = try String.fetchOne(db, sql: "SELECT form FROM concord_search WHERE entity = ?", arguments: [table]),
        let form = SQLiteSearchIndex.Form(form)
      else { return nil }
      (self.table, self.db, columns, version) = (table, db, form.columns, form.version)
    }

    /// Compares it with the rows.
    ///
    /// - Complexity: linear in the texts.
    package func inspect(examples: Int) throws -> WordInspection {
      let name = "'\(table.doubling(UInt8(ascii: "'")))'"
      var found = WordInspection(remedy: "DELETE FROM concord_search WHERE entity = \(name)", most: examples)
      for prefix in SQLiteSearchIndex.prefixes where try !db.tableExists(prefix + table) {
        found.problems.append("the index of the words of \(table) lacks its table \(prefix + table)")
      }
      for event in SQLiteSearchIndex.events {
        let name = SQLiteSearchIndex.nameOfTrigger(table, event)
        let count = try Int.fetchOne(
          db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger' AND name = ?", arguments: [name])
        if count == 0 {
          found.problems.append("\(table) lacks the trigger \(name), so that searches miss what other programs write")
        }
      }
      if !found.problems.isEmpty { return found }
      if !SQLiteSearchIndex.isAvailable(db) {
        found.reason = "this SQLite has no FTS5"
      } else if version != ScalarFolding.version {
        found.reason = "it was made by a program with other rules of folding"
      } else {
        try compareRows(&found)
        // Otherwise the same rows would be found twice.
        if found.count == 0 { try compareIndex(&found) }
      }
      return found
    }

    /// Compares the table of words with the rows that are not noted.
    private func compareRows(_ found: inout WordInspection) throws {
      let texts = columns.map { "row.\(quoted($0))" }.joined(separator: ", ")
      let known = wordColumns.map { "words.\($0)" }.joined(separator: ", ")
      try visit(
        """
        SELECT row."id", words.number IS NOT NULL, \(texts), \(known) FROM \(quoted(table)) AS row \
        LEFT JOIN \(words) AS words ON words."key" = +row."id" \
        WHERE NOT EXISTS (SELECT 1 FROM \(notes) WHERE "key" = +row."id")
        """
      ) { statement in
        let isRight =
          statement.integer(at: 1) == 1
          && columns.indices.allSatisfy { index in
            let text = statement.value(at: Int32(2 + index)).text ?? ""
            return statement.value(at: Int32(2 + columns.count + index)) == .text(FoldedText(text).indexedWords)
          }
        if !isRight { found.add(statement.value(at: 0)) }
      }
      try visit(
        """
        SELECT words."key" FROM \(words) AS words \
        WHERE NOT EXISTS (SELECT 1 FROM \(quoted(table)) AS row WHERE row."id" = words."key") \
        AND NOT EXISTS (SELECT 1 FROM \(notes) WHERE "key" = words."key")
        """
      ) { found.add($0.value(at: 0)) }
    }

    /// Compares the table of words with the FTS5 index, by a sum of numbers that are made of each word and its place.
    private func compareIndex(_ found: inout WordInspection) throws {
      var sums: [Int64: UInt64] = [:]
      try visit("SELECT number, \(wordColumns.joined(separator: ", ")) FROM \(words)") { statement in
        guard let number = statement.integer(at: 0) else { return }
        var sum: UInt64 = 0
        for (index, column) in wordColumns.enumerated() {
          let text = statement.value(at: Int32(index + 1)).text ?? ""
          for (offset, word) in text.utf8.split(separator: UInt8(ascii: " ")).enumerated() {
            sum &+= Self.number(word, column, offset)
          }
        }
        sums[number] = sum
      }
      try db.execute(
        sql:
          "CREATE VIRTUAL TABLE temp.concord_vocabulary USING fts5vocab(main, \(quoted(SQLiteSearchIndex.nameOfIndex(table))), instance)"
      )
      defer { try? db.execute(sql: "DROP TABLE temp.concord_vocabulary") }
      try visit("SELECT doc, term, col, \"offset\" FROM temp.concord_vocabulary") { statement in
        guard let number = statement.integer(at: 0), let offset = statement.integer(at: 3) else { return }
        let term = statement.value(at: 1).text ?? ""
        let column = statement.value(at: 2).text ?? ""
        sums[number, default: 0] &-= Self.number(term.utf8, column, Int(offset))
      }
      for (number, sum) in sums.sorted(by: { $0.key < $1.key }) where sum != 0 {
        let key = try Row.fetchOne(db, sql: "SELECT \"key\" FROM \(words) WHERE number = ?", arguments: [number])
        found.add(key.map { Self.value($0[0]) } ?? .integer(number))
      }
    }

    private static func value(_ value: DatabaseValue) -> StoredValue {
      switch value.storage {
      case .null: .null
      case .int64(let number): .integer(number)
      case .double(let number): .real(number)
      case .string(let text): .text(text)
      case .blob(let data): .blob(data)
      }
    }

    /// FNV-1a.
    private static func number(_ word: some Sequence<UInt8>, _ column: String, _ offset: Int) -> UInt64 {
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      for byte in word { add(byte) }
      add(0)
      for byte in column.utf8 { add(byte) }
      withUnsafeBytes(of: offset) { for byte in $0 { add(byte) } }
      return hash
    }

    private func visit(_ sql: String, _ body: (SQLiteStatement) throws -> Void) throws {
      let statement = SQLiteStatement(try db.makeStatement(sql: sql))
      defer { statement.reset() }
      while try statement.step() { try body(statement) }
    }
  }

  extension SQLiteSearchIndex {
    /// The form of an index's words: the version of folding, and the columns.
    struct Form: Equatable {
      let version: String
      let columns: [String]

      init(version: String, columns: [String]) { (self.version, self.columns) = (version, columns) }

      init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let columns = try? JSONDecoder().decode([String].self, from: Data(parts[1].utf8)) else {
          return nil
        }
        self.init(version: String(parts[0]), columns: columns)
      }

      var text: String {
        let columns = (try? JSONEncoder().encode(columns)) ?? Data()
        return "\(version) \(String(decoding: columns, as: UTF8.self))"
      }
    }
  }
#endif
