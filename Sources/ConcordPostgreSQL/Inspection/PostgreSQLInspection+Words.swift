#if PostgreSQL
  import ConcordModel
  package import ConcordPersistence

  extension PostgreSQLInspection {
    /// Compares the index of the words of a table with its rows.
    ///
    /// - Returns: `nil` if none of its columns is searched.
    /// - Complexity: linear in the texts.
    package func words(of table: InspectedTable, examples: Int) throws -> WordInspection? {
      guard let words = table.note.words else { return nil }
      let index = identifier(PostgreSQLSearchIndex.table(table.name))
      var found = WordInspection(remedy: "DROP FUNCTION IF EXISTS \(index)() CASCADE", most: examples)
      let triggers = present.triggers[storedName(table.name)] ?? []
      let columns = present.tables[storedName(PostgreSQLSearchIndex.table(table.name))]
      guard let columns else {
        found.problems.append("\(table.name) lacks the index of its words, so that searches read all rows")
        return found
      }
      guard columns.contains(where: { $0.name == words.form }),
        PostgreSQLSearchIndex.Form(name: words.form)?.version == ScalarFolding.version
      else {
        found.reason = "it was made by a program with other columns or other rules of folding"
        return found
      }
      for name in words.triggers where !triggers.contains(name) {
        found.problems.append(
          "\(table.name) lacks the trigger \(name), so that searches miss what other programs write")
      }
      if found.problems.isEmpty { try compare(table, words, index, &found) }
      return found
    }

    private func compare(
      _ table: InspectedTable, _ words: TableNote.Words, _ index: String, _ found: inout WordInspection
    ) throws {
      guard let key = table.columns.first(where: { $0.name == "id" }) else { return }
      let texts = words.columns.compactMap { name in table.columns.first { $0.name == name } }
      let form = identifier(words.form)
      let list = texts.map { ", t.\($0.sql)" }.joined()
      try rows(
        """
        SELECT t."id", w."key", t."id" IS NOT NULL, w."key" IS NOT NULL, w.\(form) IS NULL AND NOT w.is_long, w.is_long, \
        w.\(form)::text\(list) FROM \(table.sql) AS t FULL JOIN \(index) AS w ON w."key" = t."id"
        """, .none, [key.form, key.form, .boolean, .boolean, .boolean, .boolean, .text] + texts.map(\.form),
        isStamp: Array(repeating: false, count: 7 + texts.count)
      ) { values in
        let (hasRow, hasWords) = (values[2] == .integer(1), values[3] == .integer(1))
        if hasRow, hasWords, values[4] == .integer(1) { return }
        let expected = TextVector.literal(values.dropFirst(7).map(\.text))
        let isRight =
          hasRow && hasWords && (values[5] == .integer(1)) == (expected == nil)
          && TextVector.words(values[6].text) == TextVector.words(expected)
        if !isRight { found.add(hasRow ? values[0] : values[1]) }
      }
    }
  }
#endif
