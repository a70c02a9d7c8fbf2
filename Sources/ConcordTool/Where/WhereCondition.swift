#if Tool
  import ConcordModel
  import ConcordPersistence

  /// A condition, given as in `year < 1900 and title contains "x"`.
  struct WhereCondition {
    let condition: RowCondition

    /// Parses a condition.
    ///
    /// - Throws: an error that describes the mistake, with the exit code for wrong usage.
    init(_ text: String, _ table: SourceTable) throws {
      var parser = WhereParser(tokens: try WhereToken.tokens(text)[...], table: table)
      condition = try parser.condition()
      if let rest = parser.tokens.first { throw ToolError(.usage, "--where: \(rest.text) is not expected") }
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
    let table: SourceTable
    private var depth = 0
    private var comparisons = 0

    init(tokens: ArraySlice<WhereToken>, table: SourceTable) {
      self.tokens = tokens
      self.table = table
    }

    // MARK: Structure

    mutating func condition() throws -> RowCondition {
      // Both SQLite's depth of expressions and the stack are limited.
      depth += 1
      defer { depth -= 1 }
      if depth > 12 { throw ToolError(.usage, "--where: the condition is nested too deep") }
      var alternatives = [try conjunction()]
      while take(word: "or") { alternatives.append(try conjunction()) }
      return alternatives.count == 1 ? alternatives[0] : .any(alternatives)
    }

    private mutating func conjunction() throws -> RowCondition {
      var parts = [try term()]
      while take(word: "and") { parts.append(try term()) }
      return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func term() throws -> RowCondition {
      var isNegated = false
      while take(word: "not") { isNegated.toggle() }
      let condition: RowCondition
      if take(sign: "(") {
        condition = try self.condition()
        try expect(sign: ")")
      } else {
        condition = try comparison()
      }
      return isNegated ? .not(condition) : condition
    }

    // MARK: Comparisons

    private mutating func comparison() throws -> RowCondition {
      comparisons += 1
      if comparisons > 400 { throw ToolError(.usage, "--where: there are too many comparisons") }
      let column = try self.column()
      if take(word: "is") {
        let isNegated = take(word: "not")
        guard take(word: "null") else { throw expected("null") }
        return isNegated ? .not(.isNull(column)) : .isNull(column)
      }
      if take(word: "contains") { return .match(column, .contains, try value()) }
      if take(word: "starts") {
        guard take(word: "with") else { throw expected("with") }
        return .match(column, .startsWith, try value())
      }
      if take(word: "ends") {
        guard take(word: "with") else { throw expected("with") }
        return .match(column, .endsWith, try value())
      }
      if take(word: "in") { return try membership(column) }
      guard case .sign(let sign)? = tokens.first else { throw expected("a comparison") }
      tokens.removeFirst()
      switch sign {
      case "==": return .compare(column, .equal, try value())
      case "<>": return .compare(column, .notEqual, try value())
      default:
        guard let comparison = RowCondition.Comparison(rawValue: sign) else {
          throw ToolError(.usage, "--where: '\(sign)' is no comparison; there are =, !=, <, <=, > and >=")
        }
        return .compare(column, comparison, try value())
      }
    }

    private mutating func membership(_ column: Int) throws -> RowCondition {
      try expect(sign: "(")
      var parts = [RowCondition.compare(column, .equal, try value())]
      while take(sign: ",") { parts.append(.compare(column, .equal, try value())) }
      if parts.count > 400 { throw ToolError(.usage, "--where: there are too many values") }
      try expect(sign: ")")
      return .any(parts)
    }

    private mutating func column() throws -> Int {
      switch tokens.popFirst() {
      case .word(let name), .column(let name): return try table.requiredColumn(name)
      case let token?: throw ToolError(.usage, "--where: a column is expected, not \(token.text)")
      case nil: throw ToolError(.usage, "--where: a column is missing at the end")
      }
    }

    private mutating func value() throws -> StoredValue {
      switch tokens.popFirst() {
      case .value(let value): return value
      case .word(let word) where word.lowercased() == "null": return .null
      case .word(let word) where word.lowercased() == "true": return .integer(1)
      case .word(let word) where word.lowercased() == "false": return .integer(0)
      case .word(let word): throw ToolError(.usage, "--where: '\(word)' is no value; text stands in quotation marks")
      case let token?: throw ToolError(.usage, "--where: a value is expected, not \(token.text)")
      case nil: throw ToolError(.usage, "--where: a value is missing at the end")
      }
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
