#if Persistence
  extension QueryPlan {
    /// Creates a plan from the lines of SQLite's `EXPLAIN QUERY PLAN`.
    ///
    /// - Parameter statement: the statement, which tells the tables of the aliases that the lines name.
    package init(sqlite lines: [String], of statement: String) {
      self.init()
      for line in lines {
        if line.hasPrefix("USE TEMP B-TREE FOR") { sorts = true }
        guard let access = TableAccess(sqlite: line, of: statement), !accesses.contains(access) else { continue }
        accesses.append(access)
      }
    }
  }

  extension TableAccess {
    fileprivate init?(sqlite line: String, of statement: String) {
      let isSearch = line.hasPrefix("SEARCH ")
      guard isSearch || line.hasPrefix("SCAN ") else { return nil }
      let rest = line.dropFirst(isSearch ? 7 : 5)
      // A list of constants or the result of a subquery is no table.
      if rest.contains("CONSTANT ROW") || rest.hasPrefix("(") { return nil }
      // What belongs to an index of words is not read for itself.
      if rest.hasPrefix("concord_words.") || rest.hasPrefix("concord_noted.") { return nil }
      if rest.hasPrefix("concord_fts."), let end = rest.firstRange(of: " VIRTUAL TABLE INDEX ") {
        let index = rest[..<end.lowerBound]
        self.init(table: String(index.dropFirst("concord_fts.".count)), .search(index: String(index)))
        return
      }
      let end = rest.firstRange(of: " USING ")
      let table = Self.table(String(rest[..<(end?.lowerBound ?? rest.endIndex)]), in: statement)
      guard let end, let index = Self.index(rest[end.upperBound...], isSearch) else {
        self.init(table: table, .scan)
        return
      }
      self.init(table: table, isSearch ? .search(index: index) : .walk(index: index))
    }

    /// Returns the name of the index; `nil` if one is made for the statement, for which all rows are read.
    private static func index(_ text: Substring, _ isSearch: Bool) -> String? {
      if text.hasPrefix("AUTOMATIC ") { return nil }
      // The constraints stand behind it in parentheses.
      let name = isSearch ? text.lastRange(of: " (").map { text[..<$0.lowerBound] } ?? text : text
      for prefix in ["COVERING INDEX ", "INDEX "] where name.hasPrefix(prefix) {
        return String(name.dropFirst(prefix.count))
      }
      return String(name)
    }

    /// Returns the table that an alias stands for.
    private static func table(_ name: String, in statement: String) -> String {
      guard let end = statement.firstRange(of: "\" AS \(quoted(name))")?.lowerBound else { return name }
      let before = statement[..<end]
      return before.lastIndex(of: "\"").map { String(before[before.index(after: $0)...]) } ?? name
    }
  }

  extension StringProtocol {
    fileprivate func lastRange(of part: String) -> Range<Index>? {
      var found: Range<Index>?
      var start = startIndex
      while let next = self[start...].firstRange(of: part) {
        found = next
        start = next.upperBound
      }
      return found
    }
  }
#endif
