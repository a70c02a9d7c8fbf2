#if Persistence
  import ConcordModel

  /// Writes conditions as SQL, and collects the values to be bound.
  struct SQLiteConditionWriter {
    private(set) var values: [StoredValue] = []
    private let table: SQLiteTable
    private let isOrderedByKey: Bool
    /// The columns of the table whose texts are all plain, so that their bytes tell how they compare.
    private let plainTexts: Set<Int>
    /// The entities in whose texts is searched by an index of their words.
    private let searched: Set<EntityDescription>
    /// The tables of the query and its subqueries, the innermost last; each but the first has an alias.
    private var scopes: [Scope]

    private struct Scope {
      let entity: EntityDescription
      let name: String
    }

    init(_ table: SQLiteTable, isOrderedByKey: Bool, plainTexts: Set<Int>, searched: Set<EntityDescription> = []) {
      self.searched = searched
      self.table = table
      self.isOrderedByKey = isOrderedByKey
      self.plainTexts = plainTexts
      scopes = [Scope(entity: table.entity, name: quoted(table.entity.name))]
    }

    private var entity: EntityDescription { scopes.last?.entity ?? table.entity }
    private var isOutermost: Bool { scopes.count == 1 }

    func name(_ column: StoredColumn) -> String {
      switch column {
      case .key: qualified("\"id\"")
      case .position(let position):
        SQLiteTable.resultColumn(entity, at: position, SQLiteTable.keepsExactID(entity), of: qualified(""))
      }
    }

    /// A column of the innermost table. Only one of several tables needs to be named.
    private func qualified(_ name: String) -> String {
      isOutermost && !isNested ? name : "\(scopes.last?.name ?? "").\(name)"
    }

    /// Whether the condition is written inside of a query of another table.
    private var isNested = false

    private func mayBeNull(_ column: StoredColumn) -> Bool {
      switch column {
      case .key: false
      case .position(let position): entity.columns[position].isOptional
      }
    }

    private mutating func bind(_ value: StoredValue) -> String {
      values.append(value)
      return "?"
    }

    // MARK: Conditions

    /// True or false, never `NULL`, so that it can be negated.
    mutating func sql(_ condition: StoredCondition) throws -> String {
      switch condition {
      case .always(let isTrue): return isTrue ? "1" : "0"
      case .isEqual(let column, let value):
        return "\(name(column)) IS \(bind(value))"
      case .isIn(let column, let wanted):
        let present = wanted.filter { !$0.isNull }.sorted(by: StoredValue.precedes).map { bind($0) }
        let isIn = "\(name(column)) IN (\(present.joined(separator: ", ")))"
        if !mayBeNull(column) { return isIn }
        return wanted.contains(.null)
          ? "(\(name(column)) IS NULL OR \(isIn))" : "(\(name(column)) IS NOT NULL AND \(isIn))"
      case .compares(let column, let comparison, let value):
        let other = isOutermost ? StoredRanges([condition]).missingEnd(of: column, table, isOrderedByKey) : nil
        let compares = compares(column, comparison, value)
        return other.map { "(\(compares) AND \(self.compares(column, $0.comparison, $0.value)))" } ?? compares
      case .areEqual(let a, let b): return "\(name(a)) IS \(name(b))"
      case .areOrdered(let a, let comparison, let b):
        return "COALESCE(\(name(a)) \(comparison.rawValue) \(name(b)), 0)"
      case .relates(let a, let relation, let b): return try relates(a, relation, b)
      case .hasElement(let index, let target, let condition): return try hasElement(index, target, condition)
      case .matches(let query, let positions): return matches(query, positions)
      case .not(let condition): return "NOT (\(try sql(condition)))"
      case .all: return try conjunction(condition.conjuncts)
      case .any(let conditions): return try disjunction(conditions)
      }
    }

    /// - Parameter isSearched: whether an index may be searched for it.
    private mutating func compares(
      _ column: StoredColumn, _ comparison: StoredComparisonOperator, _ value: StoredValue, isSearched: Bool = true
    ) -> String {
      // With `+`, SQLite takes it for an expression.
      let compares = "\(isSearched ? "" : "+")\(name(column)) \(comparison.rawValue) \(bind(value))"
      return mayBeNull(column) ? "(\(name(column)) IS NOT NULL AND \(compares))" : compares
    }

    private mutating func conjunction(_ conditions: [StoredCondition]) throws -> String {
      if conditions.isEmpty { return "1" }
      let ranges = StoredRanges(conditions)
      var parts: [String] = []
      let last = Self.lastAfterOthers(conditions)
      for (index, condition) in conditions.enumerated() {
        if case .compares(let column, let comparison, let value) = condition {
          parts.append(compares(column, comparison, value, isSearched: ranges.isEnd(index)))
        } else if index == last {
          parts.append(try inOrder(conditions[...index], joined: " AND ") { "CASE WHEN \($0) THEN \($1) ELSE 0 END" })
        } else if !condition.mayFail || index == 0 {
          parts.append(try sql(condition))
        }
      }
      if isOutermost {
        for column in ranges.columns {
          guard let other = ranges.missingEnd(of: column, table, isOrderedByKey) else { continue }
          parts.append(compares(column, other.comparison, other.value))
        }
      }
      return "(\(parts.joined(separator: " AND ")))"
    }

    private mutating func disjunction(_ conditions: [StoredCondition]) throws -> String {
      if conditions.isEmpty { return "0" }
      var parts: [String] = []
      let last = Self.lastAfterOthers(conditions)
      for (index, condition) in conditions.enumerated() {
        if index == last {
          parts.append(try inOrder(conditions[...index], joined: " OR ") { "CASE WHEN \($0) THEN 1 ELSE \($1) END" })
        } else if !condition.mayFail || index == 0 {
          parts.append(try sql(condition))
        }
      }
      return "(\(parts.joined(separator: " OR ")))"
    }

    /// The position of the last condition that may fail, if there are other conditions before it.
    private static func lastAfterOthers(_ conditions: [StoredCondition]) -> Int? {
      conditions.lastIndex(where: \.mayFail).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Writes conditions so that each one that may fail is evaluated after those before it, if these leave it open: SQLite evaluates a conjunction in
    /// any order, and Swift from left to right.
    ///
    /// - Parameters:
    ///   - separator: the operator between conditions whose order does not matter.
    ///   - step: makes the expression of some conditions, and of those behind them.
    private mutating func inOrder(
      _ conditions: ArraySlice<StoredCondition>, joined separator: String,
      _ step: (_ first: String, _ rest: String) -> String
    ) throws -> String {
      let group = conditions.first?.mayFail == true ? conditions.prefix(1) : conditions.prefix { !$0.mayFail }
      // The values are bound in the order of the text.
      let first = "(\(try group.map { try sql($0) }.joined(separator: separator)))"
      let rest = conditions.dropFirst(group.count)
      return rest.isEmpty ? first : step(first, try inOrder(rest, joined: separator, step))
    }

    private mutating func relates(
      _ a: StoredExpression, _ relation: StoredRelation, _ b: StoredExpression
    ) throws -> String {
      if isOutermost, case .column(let column) = a, case .position(let position) = column,
        plainTexts.contains(position), case .value(let value) = b,
        let condition = relatesPlain(column, relation, value)
      {
        return condition
      }
      switch relation {
      case .same: return "\(try sql(a)) IS \(try sql(b))"
      case .ordered(let comparison): return "COALESCE(\(try sql(a)) \(comparison.rawValue) \(try sql(b)), 0)"
      case .sameText: return "\(try sql(a)) IS \(try sql(b)) COLLATE \(SQLiteFunctions.lexical)"
      case .text(let comparison):
        return "COALESCE(\(try sql(a)) \(comparison.rawValue) \(try sql(b)) COLLATE \(SQLiteFunctions.swift), 0)"
      case .contains: return "\(SQLiteFunctions.contains)(\(try sql(a)), \(try sql(b)))"
      case .starts: return "\(SQLiteFunctions.starts)(\(try sql(a)), \(try sql(b)))"
      case .sameNumber, .number:
        return "\(SQLiteFunctions.numbers)(\(relation.number ?? 0), \(try sql(a)), \(try sql(b)))"
      }
    }

    /// Returns the comparison of a column whose texts are all plain: by their bytes, with those of the other text's
    /// composed form, so that an index serves it. `nil` where bytes do not decide.
    private mutating func relatesPlain(
      _ column: StoredColumn, _ relation: StoredRelation, _ value: StoredValue
    ) -> String? {
      guard case .text(let text) = value else { return nil }
      let composed = text.canonicallyComposed
      switch relation {
      case .sameText: return "\(name(column)) IS \(bind(.text(composed)))"
      case .text(let comparison):
        // Swift's `<` is an order among plain texts.
        guard PlainScalars.makeUp(text) else { return nil }
        return compares(column, comparison, .text(text))
      case .starts:
        let exact = "\(SQLiteFunctions.starts)(\(name(column)), \(bind(value)))"
        guard !composed.isEmpty else { return exact }
        var parts = [exact, "\(name(column)) >= \(bind(.text(composed)))"]
        if let end = composed.endOfPrefix { parts.append("\(name(column)) < \(bind(.text(end)))") }
        if mayBeNull(column) { parts.append("\(name(column)) IS NOT NULL") }
        return "(\(parts.joined(separator: " AND ")))"
      default: return nil
      }
    }

    private mutating func hasElement(
      _ index: Int, _ target: EntityDescription, _ condition: StoredCondition
    ) throws -> String {
      let owner = name(.key)
      let outerName = scopes.count == 1 ? "\(quoted(entity.name)).\"id\"" : owner
      let collection = entity.collections[index]
      let list = "\"concord.list\(scopes.count)\""
      guard let element = collection.columnNames.last else { return "0" }
      let isApart =
        !condition.looksOut(of: 0)
        && (condition.isFoundByKey || searched.contains(target) && condition.isFoundByWords)
      let tables = "FROM \(quoted(SQLiteTable.tableName(collection, of: entity))) AS \(list)"
      return try nested(target) { writer, name in
        let join = "JOIN \(quoted(target.name)) AS \(name) ON \(name).\"id\" = \(list).\(quoted(element))"
        let condition = try writer.sql(condition)
        // Apart from the owner's row it is evaluated once, and owners are found by it.
        return isApart
          ? "\(owner) IN (SELECT \(list).\"_owner\" \(tables) \(join) WHERE \(condition))"
          : "EXISTS (SELECT 1 \(tables) \(join) WHERE \(list).\"_owner\" = \(outerName) AND \(condition))"
      }
    }

    private mutating func matches(_ query: SearchQuery, _ positions: [Int]) -> String {
      var parts: [String] = []
      if searched.contains(entity), let candidates = query.candidates, let index = SQLiteSearchIndex(entity) {
        parts.append("\(name(.key)) IN (\(index.keys(bind(.text(candidates.fts5)))))")
      }
      let texts = positions.map { name(.position($0)) }
      parts.append("\(SQLiteFunctions.matches)(\(([bind(.text(query.text))] + texts).joined(separator: ", ")))")
      return "(\(parts.joined(separator: " AND ")))"
    }

    /// Writes a part that looks at rows of another table.
    private mutating func nested<R>(
      _ entity: EntityDescription, _ body: (inout SQLiteConditionWriter, String) throws -> R
    ) rethrows -> R {
      let wasNested = isNested
      let name = "\"concord.row\(scopes.count)\""
      isNested = true
      scopes.append(Scope(entity: entity, name: name))
      defer {
        scopes.removeLast()
        isNested = wasNested
      }
      return try body(&self, name)
    }

    // MARK: Expressions

    mutating func sql(_ expression: StoredExpression) throws -> String {
      switch expression {
      case .value(let value): return bind(value)
      case .column(let column): return name(column)
      case .outer(let expression):
        let inner = scopes.removeLast()
        defer { scopes.append(inner) }
        return try sql(expression)
      case .reference(let position, let target, let expression):
        let scope = scopes.last?.name ?? ""
        let key = "\(scope).\(quoted(entity.columns[position].name))"
        return try nested(target) { writer, name in
          "(SELECT \(try writer.sql(expression)) FROM \(quoted(target.name)) AS \(name) WHERE \(name).\"id\" = \(key))"
        }
      case .coalesce(let a, let b): return "COALESCE(\(try sql(a)), \(try sql(b)))"
      case .choice(let condition, let a, let b):
        return "CASE WHEN \(try sql(condition)) THEN \(try sql(a)) ELSE \(try sql(b)) END"
      case .truth(let condition): return "(\(try sql(condition)))"
      case .characterCount(let expression): return "\(SQLiteFunctions.characters)(\(try sql(expression)))"
      case .arithmetic(let operation, let type, let a, let b):
        return """
          \(SQLiteFunctions.arithmetic)(\(operation.rawValue), \(type.rawValue), \(try sql(a)), \(try sql(b)))
          """
      }
    }
  }

  extension StoredCondition {
    /// Whether few rows are found by it through an index on their key.
    fileprivate var isFoundByKey: Bool {
      conjuncts.contains {
        switch $0 {
        case .isEqual(.key, _), .isIn(.key, _): true
        default: false
        }
      }
    }

    /// Whether an index of words finds the rows.
    fileprivate var isFoundByWords: Bool {
      conjuncts.contains { if case .matches(let query, _) = $0 { query.candidates != nil } else { false } }
    }
  }
#endif
