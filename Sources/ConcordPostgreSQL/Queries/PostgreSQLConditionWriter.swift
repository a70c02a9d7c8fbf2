#if PostgreSQL
  import ConcordModel
  import ConcordPersistence
  import Foundation

  /// Writes conditions as SQL, and collects the values to be bound. What the server cannot evaluate exactly as Swift does is not written.
  struct PostgreSQLConditionWriter {
    private(set) var parameters = PostgreSQLParameters()
    /// The columns of the row itself whose texts have to be plain (``PlainScalars``) for what was written to be exact.
    private(set) var plainTexts: Set<Int> = []
    private let tables: (EntityDescription) -> PostgreSQLTable?
    let indexes: [EntityDescription: PostgreSQLSearchIndex]
    /// The tables whose rows are looked at, the innermost last.
    private var scopes: [Scope]

    private struct Scope {
      let table: PostgreSQLTable
      let name: String
    }

    /// - Parameter indexes: the indexes of words that can be used.
    init(
      _ table: PostgreSQLTable, tables: @escaping (EntityDescription) -> PostgreSQLTable?,
      indexes: [EntityDescription: PostgreSQLSearchIndex] = [:]
    ) {
      (self.tables, self.indexes) = (tables, indexes)
      scopes = [Scope(table: table, name: "t")]
    }

    var table: PostgreSQLTable { scopes[scopes.count - 1].table }
    private var prefix: String { "\(scopes[scopes.count - 1].name)." }

    func name(_ column: StoredColumn) -> String {
      switch column {
      case .key: "\(prefix)\"id\""
      case .position(let position):
        PostgreSQLTable.resultColumn(table.entity, at: position, table.keepsExactID, of: prefix)
      }
    }

    func form(_ column: StoredColumn) -> ColumnForm {
      switch column {
      case .key: table.keyForm
      case .position(let position): table.forms[position]
      }
    }

    private func mayBeNull(_ column: StoredColumn) -> Bool {
      switch column {
      case .key: false
      case .position(let position): table.entity.columns[position].isOptional
      }
    }

    private mutating func bind(_ value: StoredValue, _ form: ColumnForm) -> String? {
      guard form.append(value, to: &parameters) else { return nil }
      return "$\(parameters.count)"
    }

    /// Binds a whole number.
    mutating func bind(_ value: Int64) -> String {
      parameters.append(value)
      return "$\(parameters.count)"
    }

    mutating func bind(text: String) -> String {
      parameters.append(text)
      return "$\(parameters.count)"
    }

    // MARK: Conditions

    /// A condition that is true where this one holds, and false or `NULL` nowhere: it can be negated. `nil` if the server cannot tell.
    mutating func exact(_ condition: StoredCondition) -> String? {
      let before = self
      if let sql = write(condition) { return sql }
      self = before
      return nil
    }

    private mutating func write(_ condition: StoredCondition) -> String? {
      switch condition {
      case .always(let isTrue): return isTrue ? "true" : "false"
      case .isEqual(let column, let value): return equals(column, value)
      case .isIn(let column, let values): return isIn(column, values)
      case .compares(let column, let comparison, let value): return compares(column, comparison, value)
      case .areEqual(let a, let b):
        guard form(a) == form(b), form(a) != .any else { return nil }
        let (first, second) = (name(a), name(b))
        if form(a).type == .double { return "(float8send(\(first)) IS NOT DISTINCT FROM float8send(\(second)))" }
        return "(\(first) IS NOT DISTINCT FROM \(second))"
      case .areOrdered(let a, let comparison, let b):
        guard form(a) == form(b), form(a) != .any, form(a).type != .double else { return nil }
        return "COALESCE(\(name(a)) \(comparison.rawValue) \(name(b)), false)"
      case .relates(let a, let relation, let b): return relates(a, relation, b)
      case .hasElement(let index, let target, let condition): return hasElement(index, target, condition)
      // The server has another notion of words: an index narrows.
      case .matches: return nil
      case .not(let condition): return write(condition).map { "(NOT \($0))" }
      case .all(let conditions): return list(conditions, "AND", "true")
      case .any(let conditions): return list(conditions, "OR", "false")
      }
    }

    private mutating func list(_ conditions: [StoredCondition], _ word: String, _ empty: String) -> String? {
      var parts: [String] = []
      for condition in conditions {
        guard let part = write(condition) else { return nil }
        parts.append(part)
      }
      return parts.isEmpty ? empty : "(\(parts.joined(separator: " \(word) ")))"
    }

    private mutating func equals(_ column: StoredColumn, _ value: StoredValue) -> String? {
      let form = form(column)
      if value.isNull { return "(\(name(column)) IS NULL)" }
      // Of values of any kind, whole numbers are equal to numbers with a fraction.
      if form == .any, case .integer = value { return nil }
      if form == .any, case .real = value { return nil }
      guard let bound = bind(value, form) else { return "false" }
      var equals = "\(name(column)) = \(bound)"
      if form.type == .double {
        // Only of 0 there are two.
        if case .real(let number) = value, number != 0 {
        } else if case .integer(let number) = value, number != 0 {
        } else {
          equals += " AND float8send(\(name(column))) = float8send(\(bound))"
        }
      }
      return mayBeNull(column) ? "(\(name(column)) IS NOT NULL AND \(equals))" : "(\(equals))"
    }

    private mutating func isIn(_ column: StoredColumn, _ values: Set<StoredValue>) -> String? {
      let form = form(column)
      let isNullIn = values.contains(.null)
      let present = values.filter { !$0.isNull }.sorted(by: StoredValue.precedes)
      var condition: String
      if form == .any || form.type == .double {
        var parts: [String] = []
        for value in present {
          guard let part = equals(column, value) else { return nil }
          parts.append(part)
        }
        condition = parts.isEmpty ? "false" : "(\(parts.joined(separator: " OR ")))"
      } else {
        let list = present.compactMap { bind($0, form) }
        condition = list.isEmpty ? "false" : "\(name(column)) IN (\(list.joined(separator: ", ")))"
      }
      if !mayBeNull(column) { return condition }
      condition = "(\(name(column)) IS NOT NULL AND \(condition))"
      return isNullIn ? "(\(name(column)) IS NULL OR \(condition))" : condition
    }

    private mutating func compares(
      _ column: StoredColumn, _ comparison: StoredComparisonOperator, _ value: StoredValue
    ) -> String? {
      let form = form(column)
      let isLess = comparison == .less || comparison == .lessOrEqual
      if value.isNull || form == .any { return value.isNull ? "false" : nil }
      func always(_ isTrue: Bool) -> String {
        isTrue ? mayBeNull(column) ? "(\(name(column)) IS NOT NULL)" : "true" : "false"
      }
      var compares: String
      switch (form, value) {
      case (.real, .real), (.float, .real), (.real, .integer), (.float, .integer):
        guard let bound = bind(value, form) else { return nil }
        if case .integer(let number) = value, Int64(exactly: Double(number)) != number { return nil }
        compares = "(\(PostgreSQLOrder.real(name(column)))) \(comparison.rawValue) \(bound)"
      case (.real, .blob), (.float, .blob):
        guard form.takes(value), let bound = bind(value, form) else { return nil }
        let bits = "(\(PostgreSQLOrder.bits(name(column))))"
        compares = "COALESCE(\(bits) \(comparison.rawValue) float8send(\(bound)), \(isLess))"
      case (.integer, .integer), (.text, .text), (.uuid, .text), (.bytes, .blob), (.unsigned, .integer),
        (.unsigned, .text), (.boolean, .integer):
        guard form.takes(value) else { return nil }
        guard let bound = bind(value, form) else { return nil }
        compares = "\(name(column)) \(comparison.rawValue) \(bound)"
      case (.integer, .real(let number)):
        return whole(column, comparison, number)
      case (.integer, .text), (.integer, .blob), (.boolean, .text), (.boolean, .blob), (.real, .text), (.float, .text),
        (.text, .blob), (.uuid, .blob), (.unsigned, .blob):
        return form.type == .double ? nil : always(isLess)
      case (.text, .integer), (.text, .real), (.uuid, .integer), (.uuid, .real), (.bytes, .integer), (.bytes, .real),
        (.bytes, .text):
        return always(!isLess)
      default: return nil
      }
      return mayBeNull(column) ? "(\(name(column)) IS NOT NULL AND \(compares))" : "(\(compares))"
    }

    /// Compares whole numbers with one that has a fraction.
    private mutating func whole(
      _ column: StoredColumn, _ comparison: StoredComparisonOperator, _ number: Double
    ) -> String? {
      switch comparison {
      case .less, .greaterOrEqual:
        guard let end = Int64(exactly: number.rounded(.up)) else { return nil }
        return compares(column, comparison, .integer(end))
      case .lessOrEqual, .greater:
        guard let end = Int64(exactly: number.rounded(.down)) else { return nil }
        return compares(column, comparison, .integer(end))
      }
    }

    // MARK: Expressions

    private mutating func relates(
      _ a: StoredExpression, _ relation: StoredRelation, _ b: StoredExpression
    ) -> String? {
      switch (a, b) {
      case (.column(let column), .value(let value)): return relates(column, relation, value)
      case (.value(let value), .column(let column)):
        switch relation {
        case .same, .sameText, .sameNumber: return relates(column, relation, value)
        case .ordered(let comparison): return relates(column, .ordered(comparison.turned), value)
        case .text(let comparison): return relates(column, .text(comparison.turned), value)
        case .number(let comparison): return relates(column, .number(comparison.turned), value)
        case .contains, .starts: return nil
        }
      case (.column(let a), .column(let b)):
        switch relation {
        case .same: return write(.areEqual(a, b))
        case .ordered(let comparison): return write(.areOrdered(a, comparison, b))
        default: return nil
        }
      case (.reference(let position, let target, let inner), .value(let value)):
        return reference(position, target, holdsWithout: relation.holds(.null, value)) { writer in
          writer.relates(inner, relation, b)
        }
      default: return nil
      }
    }

    private mutating func relates(
      _ column: StoredColumn, _ relation: StoredRelation, _ value: StoredValue
    ) -> String? {
      switch relation {
      case .same: return equals(column, value)
      case .ordered(let comparison): return compares(column, comparison, value)
      case .sameNumber:
        if value.isNull { return "(\(name(column)) IS NULL)" }
        guard case .real(let number) = value, form(column).type == .double else { return nil }
        parameters.append(number)
        return "(\(name(column)) IS NOT NULL AND \(name(column)) = $\(parameters.count))"
      case .number(let comparison):
        guard case .real(let number) = value, form(column).type == .double else { return nil }
        parameters.append(number)
        // To the server, NaN is greater than all others.
        let isNumber = "\(name(column)) <> 'NaN'::double precision"
        return """
          (\(name(column)) IS NOT NULL AND \(isNumber) AND \(name(column)) \(comparison.rawValue) $\(parameters.count))
          """
      case .sameText:
        if value.isNull { return "(\(name(column)) IS NULL)" }
        guard case .text(let text) = value, let position = plain(column),
          let bound = bind(.text(text.canonicallyComposed), .text)
        else { return nil }
        plainTexts.insert(position)
        return "(\(name(column)) IS NOT NULL AND \(name(column)) = \(bound))"
      case .text(let comparison):
        // Swift's `<` is an order among plain texts.
        guard case .text(let text) = value, let position = plain(column), PlainScalars.makeUp(text),
          let bound = bind(.text(text), .text)
        else { return nil }
        plainTexts.insert(position)
        return "(\(name(column)) IS NOT NULL AND \(name(column)) \(comparison.rawValue) \(bound))"
      case .contains, .starts: return nil
      }
    }

    /// The position of a column whose texts are looked at apart where they are not plain.
    private func plain(_ column: StoredColumn) -> Int? {
      guard scopes.count == 1, case .position(let position) = column, table.forms[position] == .text,
        position != table.entity.idPosition
      else { return nil }
      return position
    }

    /// A condition that is true wherever this one holds, and may be elsewhere. It is not negated.
    mutating func narrow(_ condition: StoredCondition) -> String? {
      if condition.searches { return keys(condition).map { "\(name(.key)) IN (\($0))" } }
      guard case .relates(.column(let column), let relation, .value(.text(let text))) = condition,
        let position = plain(column)
      else { return nil }
      let composed = text.canonicallyComposed
      if composed.isEmpty { return nil }
      switch relation {
      case .starts:
        guard let start = bind(.text(composed), .text) else { return nil }
        var sql = "\(name(column)) >= \(start)"
        if let end = composed.endOfPrefix, let bound = bind(.text(end), .text) {
          sql += " AND \(name(column)) < \(bound)"
        }
        plainTexts.insert(position)
        return "(\(sql))"
      case .contains:
        guard let part = bind(.text(composed), .text) else { return nil }
        plainTexts.insert(position)
        return "(position(\(part) IN \(name(column))) > 0)"
      default: return nil
      }
    }

    // MARK: Other tables

    private mutating func nested(
      _ table: PostgreSQLTable, _ body: (inout PostgreSQLConditionWriter, String) -> String?
    ) -> String? {
      let name = "r\(scopes.count)"
      scopes.append(Scope(table: table, name: name))
      defer { scopes.removeLast() }
      return body(&self, name)
    }

    /// A condition on the row that a reference leads to.
    ///
    /// - Parameter holdsWithout: whether it holds where there is none.
    private mutating func reference(
      _ position: Int, _ target: EntityDescription, holdsWithout: Bool,
      _ body: (inout PostgreSQLConditionWriter) -> String?
    ) -> String? {
      guard let other = tables(target) else { return nil }
      let key = name(.position(position))
      return nested(other) { writer, name in
        guard let condition = body(&writer) else { return nil }
        let rows = "SELECT 1 FROM \(identifier(target.name)) AS \(name) WHERE \(name).\"id\" = \(key)"
        return holdsWithout
          ? "(NOT EXISTS (\(rows) AND NOT \(condition)))" : "(EXISTS (\(rows) AND \(condition)))"
      }
    }

    private mutating func hasElement(
      _ index: Int, _ target: EntityDescription, _ condition: StoredCondition
    ) -> String? {
      guard let other = tables(target), !condition.looksOut(of: 0), let list = list(index) else { return nil }
      let owner = name(.key)
      return nested(other) { writer, name in
        guard let condition = writer.write(condition) else { return nil }
        return """
          (EXISTS (SELECT 1 FROM \(list.table) AS l\(name) JOIN \(identifier(target.name)) AS \(name) \
          ON \(name)."id" = l\(name).\(list.element) WHERE l\(name)."_owner" = \(owner) AND \(condition)))
          """
      }
    }

    /// The table of a collection, and its column of elements.
    private func list(_ index: Int) -> (table: String, element: String)? {
      let collection = table.entity.collections[index]
      guard let element = PostgreSQLTable.columnNames(collection).last else { return nil }
      return (identifier(PostgreSQLTable.tableName(collection, of: table.entity)), identifier(element))
    }

    /// A query for the keys of the rows that have some elements.
    ///
    /// - Parameter keys: writes the query for the elements' keys.
    mutating func owners(
      _ index: Int, _ target: EntityDescription, _ keys: (inout PostgreSQLConditionWriter) -> String?
    ) -> String? {
      guard let other = tables(target), let list = list(index) else { return nil }
      return nested(other) { writer, name in
        keys(&writer).map {
          "SELECT l\(name).\"_owner\" FROM \(list.table) AS l\(name) WHERE l\(name).\(list.element) IN (\($0))"
        }
      }
    }

    /// A query for the keys of the rows for which a condition holds.
    mutating func keysOfRows(_ condition: StoredCondition) -> String? {
      nested(table) { writer, name in
        writer.exact(condition).map {
          "SELECT \(name).\"id\" FROM \(identifier(writer.table.entity.name)) AS \(name) WHERE \($0)"
        }
      }
    }
  }

  extension StoredComparisonOperator {
    /// The operator that holds if the sides are exchanged.
    var turned: StoredComparisonOperator {
      switch self {
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      }
    }
  }
#endif
