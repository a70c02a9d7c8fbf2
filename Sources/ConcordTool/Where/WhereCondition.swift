#if Tool
  import ConcordModel
  import ConcordPersistence

  /// A condition translated to SQL. Names are quoted names of the table's columns; values are bound, never part of the text.
  struct WhereCondition {
    private(set) var sql = ""
    private(set) var values: [StoredValue] = []

    /// Parses a condition.
    ///
    /// - Throws: an error that describes the mistake, with the exit code for wrong usage.
    init(_ text: String, _ table: FileTable) throws {
      var parser = WhereParser(tokens: try WhereToken.tokens(text)[...], table: table)
      sql = try parser.condition()
      if let rest = parser.tokens.first { throw ToolError(.usage, "--where: \(rest.text) is not expected") }
      values = parser.values
    }

    static let grammar = """
      CONDITION compares columns with values: year < 1900 and title contains "x".
        =  !=  <  <=  >  >=       numbers before text before bytes
        contains, starts with, ends with    text, by its characters, upper case as upper case
        in (1, 2, 3)
        is null, is not null
        and, or, not, ( )
      Values are numbers, 'text' or "text" (the mark inside it twice), x'00ff', true, false, null. A column whose name is \
      a keyword, or has blanks, stands in `backquotes`.
      """
  }

  /// A recursive descent parser of conditions.
  private struct WhereParser {
    var tokens: ArraySlice<WhereToken>
    let table: FileTable
    var values: [StoredValue] = []
    private var depth = 0
    private var comparisons = 0

    init(tokens: ArraySlice<WhereToken>, table: FileTable) {
      self.tokens = tokens
      self.table = table
    }

    // MARK: Structure

    mutating func condition() throws -> String {
      // Both SQLite's depth of expressions and the stack are limited.
      depth += 1
      defer { depth -= 1 }
      if depth > 12 { throw ToolError(.usage, "--where: the condition is nested too deep") }
      var alternatives = [try conjunction()]
      while take(word: "or") { alternatives.append(try conjunction()) }
      return joined(alternatives, " OR ")
    }

    private mutating func conjunction() throws -> String {
      var parts = [try term()]
      while take(word: "and") { parts.append(try term()) }
      return joined(parts, " AND ")
    }

    /// Joins conditions without redundant parentheses, which would count against SQLite's limit of depth.
    private func joined(_ parts: [String], _ operation: String) -> String {
      parts.count == 1 ? parts[0] : "(\(parts.joined(separator: operation)))"
    }

    private mutating func term() throws -> String {
      var isNegated = false
      while take(word: "not") { isNegated.toggle() }
      let sql: String
      if take(sign: "(") {
        sql = try condition()
        try expect(sign: ")")
      } else {
        sql = try comparison()
      }
      return isNegated ? "NOT \(sql)" : sql
    }

    // MARK: Comparisons

    /// Parses a comparison. The SQL is true or false, never `NULL`, so that it can be negated.
    private mutating func comparison() throws -> String {
      comparisons += 1
      if comparisons > 400 { throw ToolError(.usage, "--where: there are too many comparisons") }
      let column = quoted(try self.column())
      if take(word: "is") {
        let isNegated = take(word: "not")
        guard take(word: "null") else { throw expected("null") }
        return "(\(column) IS \(isNegated ? "NOT " : "")NULL)"
      }
      if take(word: "contains") { return "(COALESCE(instr(\(column), \(try bound())), 0) > 0)" }
      if take(word: "starts") {
        guard take(word: "with") else { throw expected("with") }
        return "(COALESCE(instr(\(column), \(try bound())), 0) = 1)"
      }
      if take(word: "ends") {
        guard take(word: "with") else { throw expected("with") }
        return try ending(column)
      }
      if take(word: "in") { return try membership(column) }
      guard case .sign(let sign)? = tokens.first else { throw expected("a comparison") }
      tokens.removeFirst()
      switch sign {
      case "=", "==": return "(\(column) IS \(try bound()))"
      case "!=", "<>": return "(\(column) IS NOT \(try bound()))"
      case "<", "<=", ">", ">=": return "(COALESCE(\(column) \(sign) \(try bound()), 0))"
      default: throw ToolError(.usage, "--where: '\(sign)' is no comparison; there are =, !=, <, <=, > and >=")
      }
    }

    /// Parses a comparison of a text's end, by bytes, because SQLite's text functions stop at a NUL.
    private mutating func ending(_ column: String) throws -> String {
      let value = try bound()
      let last = values[values.count - 1]
      if last == .text("") {
        values.removeLast()
        return "(\(column) IS NOT NULL)"
      }
      values.append(last)
      return """
        (COALESCE(substr(CAST(\(column) AS BLOB), -max(1, length(CAST(\(value) AS BLOB)))) = CAST(? AS BLOB), 0))
        """
    }

    private mutating func membership(_ column: String) throws -> String {
      try expect(sign: "(")
      var parts = ["\(column) IS \(try bound())"]
      while take(sign: ",") { parts.append("\(column) IS \(try bound())") }
      if parts.count > 400 { throw ToolError(.usage, "--where: there are too many values") }
      try expect(sign: ")")
      return "(\(parts.joined(separator: " OR ")))"
    }

    private mutating func column() throws -> String {
      switch tokens.popFirst() {
      case .word(let name), .column(let name): return try table.requiredColumn(name).name
      case let token?: throw ToolError(.usage, "--where: a column is expected, not \(token.text)")
      case nil: throw ToolError(.usage, "--where: a column is missing at the end")
      }
    }

    /// Parses a value, which is bound.
    private mutating func bound() throws -> String {
      switch tokens.popFirst() {
      case .value(let value): values.append(value)
      case .word(let word) where word.lowercased() == "null": values.append(.null)
      case .word(let word) where word.lowercased() == "true": values.append(.integer(1))
      case .word(let word) where word.lowercased() == "false": values.append(.integer(0))
      case .word(let word): throw ToolError(.usage, "--where: '\(word)' is no value; text stands in quotation marks")
      case let token?: throw ToolError(.usage, "--where: a value is expected, not \(token.text)")
      case nil: throw ToolError(.usage, "--where: a value is missing at the end")
      }
      return "?"
    }

    // MARK: Tokens

    private mutating func take(word: String) -> Bool {
      guard case .word(let present)? = tokens.first, present.lowercased() == word else { return false }
      tokens.removeFirst()
      return true
    }

    private mutating func take(sign: String) -> Bool {
      guard tokens.first == .sign(sign) else { return false }
      tokens.removeFirst()
      return true
    }

    private mutating func expect(sign: String) throws {
      if !take(sign: sign) { throw expected("'\(sign)'") }
    }

    private func expected(_ what: String) -> ToolError {
      ToolError(.usage, "--where: \(what) is expected, not \(tokens.first?.text ?? "the end")")
    }
  }
#endif
