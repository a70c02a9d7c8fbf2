public import ConcordModel

/// A value that a store computes of a row. Where the row has none it is `null`.
public indirect enum StoredExpression: Sendable, Hashable {
  /// A value that is the same for all rows.
  case value(StoredValue)
  /// A place in the row that is looked at: the entity's, or inside of ``StoredCondition/hasElement(_:_:_:)`` the element's.
  case column(StoredColumn)
  /// The value of an expression in the row whose element is looked at, one step out of ``StoredCondition/hasElement(_:_:_:)``.
  case outer(StoredExpression)
  /// The value of an expression in the row that the reference at a position leads to; `null` if there is none.
  case reference(Int, EntityDescription, StoredExpression)
  /// The second one where the first is `null`.
  case coalesce(StoredExpression, StoredExpression)
  /// One of two expressions, chosen by a condition. Only the chosen one is evaluated.
  case choice(StoredCondition, StoredExpression, StoredExpression)
  /// 1 or 0.
  case truth(StoredCondition)
  /// The number of characters in a text.
  case characterCount(StoredExpression)
  /// A calculation with numbers of one type.
  case arithmetic(StoredArithmetic, StoredNumber, StoredExpression, StoredExpression)
}

/// A calculation with two numbers.
public enum StoredArithmetic: Int64, Sendable, Hashable {
  /// The sum.
  case add
  /// The difference.
  case subtract
  /// The product.
  case multiply
  /// The quotient; of whole numbers without its fraction.
  case divide
  /// The remainder of a division of whole numbers, with the sign of the first.
  case remainder
}

/// A type of numbers, within which a calculation must stay.
public enum StoredNumber: Int64, Sendable, Hashable {
  /// `Int8`.
  case int8
  /// `Int16`.
  case int16
  /// `Int32`.
  case int32
  /// `Int64`, and `Int`.
  case int64
  /// `UInt8`.
  case uint8
  /// `UInt16`.
  case uint16
  /// `UInt32`.
  case uint32
  /// `Float`.
  case float
  /// `Double`.
  case double
}

/// A relation between two computed values.
public enum StoredRelation: Sendable, Hashable {
  /// Sameness of two stored values; `null` is the same as `null`.
  case same
  /// An order of two values as SQLite orders them; neither is `null`.
  case ordered(StoredComparisonOperator)
  /// Equality of two texts to Swift (canonical equivalence), or of two `null`s.
  case sameText
  /// An order of two texts as Swift orders them; neither is `null`.
  case text(StoredComparisonOperator)
  /// Containment: the second text is a part of the first one, character by character.
  case contains
  /// A prefix: the first text begins with the second one, character by character.
  case starts
  /// Equality of two numbers with a fraction, or of two `null`s. NaN and -0.0 are stored as their bits.
  case sameNumber
  /// An order of two numbers with a fraction; neither is `null`.
  case number(StoredComparisonOperator)
}

extension StoredRelation {
  /// Whether two values are related so.
  package func holds(_ a: StoredValue, _ b: StoredValue) -> Bool {
    switch (self, a, b) {
    case (.same, .integer, .real), (.same, .real, .integer):
      !StoredValue.precedes(a, b) && !StoredValue.precedes(b, a)
    case (.same, _, _): a == b
    case (.ordered(let comparison), _, _): comparison.holds(a, b)
    case (.sameText, .null, .null), (.sameNumber, .null, .null): true
    case (.sameText, .text(let a), .text(let b)): a == b
    case (.text(let comparison), .text(let a), .text(let b)): comparison.holds(a, b)
    case (.contains, .text(let a), .text(let b)): TextSearch.contains(a, b)
    case (.starts, .text(let a), .text(let b)): TextSearch.starts(a, with: b)
    case (.sameNumber, _, _): number(a, b) { $0 == $1 }
    case (.number(let comparison), _, _): number(a, b) { comparison.holds($0, $1) }
    default: false
    }
  }

  private func number(_ a: StoredValue, _ b: StoredValue, _ body: (Double, Double) -> Bool) -> Bool {
    guard let a = a.number, let b = b.number else { return false }
    return body(a, b)
  }
}

extension StoredComparisonOperator {
  /// Whether two values are ordered so by Swift.
  func holds<T: Comparable>(_ a: T, _ b: T) -> Bool {
    switch self {
    case .less: a < b
    case .lessOrEqual: a <= b
    case .greater: a > b
    case .greaterOrEqual: a >= b
    }
  }
}

extension StoredValue {
  /// The number with a fraction, NaN and -0.0 included, of a `Double` or a `Float`; `nil` for anything else.
  var number: Double? {
    switch self {
    case .real(let value): value
    case .integer(let value): Double(value)
    case .blob(let bits) where bits.count == 4: (try? Float(storedValue: self)).map { Double($0) }
    case .blob: try? Double(storedValue: self)
    default: nil
    }
  }
}

// MARK: Rows and columns that are read

extension StoredExpression {
  /// The types, other than that of the row itself, whose rows it looks at.
  var otherEntities: Set<EntityDescription> {
    switch self {
    case .value, .column: []
    case .outer(let expression), .characterCount(let expression): expression.otherEntities
    case .reference(_, let target, let expression): expression.otherEntities.union([target])
    case .coalesce(let a, let b), .arithmetic(_, _, let a, let b): a.otherEntities.union(b.otherEntities)
    case .choice(let condition, let a, let b):
      condition.otherEntities.union(a.otherEntities).union(b.otherEntities)
    case .truth(let condition): condition.otherEntities
    }
  }

  /// Whether evaluating it may throw: a calculation may have no result.
  var mayFail: Bool {
    switch self {
    case .value, .column: false
    case .outer(let expression), .characterCount(let expression), .reference(_, _, let expression): expression.mayFail
    case .coalesce(let a, let b): a.mayFail || b.mayFail
    case .choice(let condition, let a, let b): condition.mayFail || a.mayFail || b.mayFail
    case .truth(let condition): condition.mayFail
    case .arithmetic: true
    }
  }

  /// Whether the expression looks further out than so many steps.
  func looksOut(of depth: Int) -> Bool {
    switch self {
    case .value, .column: false
    case .outer(let expression): depth == 0 || expression.looksOut(of: depth - 1)
    case .characterCount(let expression), .reference(_, _, let expression): expression.looksOut(of: depth)
    case .coalesce(let a, let b), .arithmetic(_, _, let a, let b): a.looksOut(of: depth) || b.looksOut(of: depth)
    case .choice(let condition, let a, let b):
      condition.looksOut(of: depth) || a.looksOut(of: depth) || b.looksOut(of: depth)
    case .truth(let condition): condition.looksOut(of: depth)
    }
  }
}

extension StoredCondition {
  /// The types, other than that of the row itself, whose rows it looks at.
  var otherEntities: Set<EntityDescription> {
    switch self {
    case .relates(let a, _, let b): a.otherEntities.union(b.otherEntities)
    case .hasElement(_, let target, let condition): condition.otherEntities.union([target])
    case .not(let condition): condition.otherEntities
    case .all(let conditions), .any(let conditions): conditions.reduce(into: []) { $0.formUnion($1.otherEntities) }
    default: []
    }
  }

  /// Whether the condition depends on nothing but the row.
  var isOfRow: Bool {
    switch self {
    case .relates(let a, _, let b): a.otherEntities.isEmpty && b.otherEntities.isEmpty
    case .hasElement: false
    case .not(let condition): condition.isOfRow
    case .all(let conditions), .any(let conditions): conditions.allSatisfy(\.isOfRow)
    default: true
    }
  }

  /// The weakest condition on the row alone that follows from this one.
  var ofRow: StoredCondition {
    let parts = conjuncts.prefix { $0.isOfRow || !$0.mayFail }.filter(\.isOfRow)
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .always(true) : .all(parts)
  }

  /// Whether evaluating it may throw.
  package var mayFail: Bool {
    switch self {
    case .relates(let a, _, let b): a.mayFail || b.mayFail
    case .hasElement(_, _, let condition), .not(let condition): condition.mayFail
    case .all(let conditions), .any(let conditions): conditions.contains(where: \.mayFail)
    default: false
    }
  }

  package func looksOut(of depth: Int) -> Bool {
    switch self {
    case .relates(let a, _, let b): a.looksOut(of: depth) || b.looksOut(of: depth)
    case .hasElement(_, _, let condition): condition.looksOut(of: depth + 1)
    case .not(let condition): condition.looksOut(of: depth)
    case .all(let conditions), .any(let conditions): conditions.contains { $0.looksOut(of: depth) }
    default: false
    }
  }

  /// The conditions of which this one is the conjunction.
  package var conjuncts: [StoredCondition] {
    if case .all(let conditions) = self { conditions.flatMap(\.conjuncts) } else { [self] }
  }
}
