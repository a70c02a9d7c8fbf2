import ConcordModel

/// A store's statements are limited in depth and in length: SQLite's expressions to a depth of 1,000, its parser to a stack of
/// 100. A predicate may have any size. What does not fit is evaluated in memory.
extension StoredCondition {
  /// Whether a statement may hold it.
  package var fitsStatement: Bool { depth <= 12 && size <= 400 }

  /// The depth of nested parts.
  fileprivate var depth: Int {
    switch self {
    case .not(let condition): 1 + condition.depth
    // A query of its own.
    case .hasElement(_, _, let condition): 3 + condition.depth
    case .all(let conditions), .any(let conditions): conditions.nesting + (conditions.map(\.depth).max() ?? 0)
    case .relates(let a, _, let b): 1 + max(a.depth, b.depth)
    default: 1
    }
  }

  /// The number of comparisons in SQL: those before the last part that may fail are written twice.
  fileprivate var size: Int {
    switch self {
    case .not(let condition), .hasElement(_, _, let condition): 1 + condition.size
    case .all(let conditions), .any(let conditions):
      conditions.map(\.size).reduce(0, +)
        + (conditions.lastIndex(where: \.mayFail).map { conditions[..<$0].map(\.size).reduce(0, +) } ?? 0)
    case .relates(let a, _, let b): 1 + a.size + b.size
    default: 1
    }
  }

  /// Both, without one more level for each of a row of conjunctions.
  static func all(_ a: StoredCondition, _ b: StoredCondition) -> StoredCondition {
    func parts(_ condition: StoredCondition) -> [StoredCondition] {
      if case .all(let parts) = condition { parts } else { [condition] }
    }
    return .all(parts(a) + parts(b))
  }

  /// One of them, in the same way.
  static func any(_ a: StoredCondition, _ b: StoredCondition) -> StoredCondition {
    func parts(_ condition: StoredCondition) -> [StoredCondition] {
      if case .any(let parts) = condition { parts } else { [condition] }
    }
    return .any(parts(a) + parts(b))
  }
}

extension [StoredCondition] {
  /// The number of levels that they are written in: each one that may fail stands within an expression that evaluates those before it first.
  fileprivate var nesting: Int {
    guard let last = lastIndex(where: \.mayFail), last > 0 else { return 1 }
    return 1 + (0..<last).count { self[$0].mayFail || self[$0 + 1].mayFail }
  }
}

extension StoredExpression {
  fileprivate var depth: Int {
    switch self {
    case .value, .column: 0
    case .outer(let expression): expression.depth
    case .characterCount(let expression): 1 + expression.depth
    case .reference(_, _, let expression): 3 + expression.depth
    case .coalesce(let a, let b), .arithmetic(_, _, let a, let b): 1 + max(a.depth, b.depth)
    case .choice(let condition, let a, let b): 1 + max(condition.depth, a.depth, b.depth)
    case .truth(let condition): condition.depth
    }
  }

  fileprivate var size: Int {
    switch self {
    case .value, .column: 0
    case .outer(let expression): expression.size
    case .characterCount(let expression), .reference(_, _, let expression): 1 + expression.size
    case .coalesce(let a, let b), .arithmetic(_, _, let a, let b): 1 + a.size + b.size
    case .choice(let condition, let a, let b): 1 + condition.size + a.size + b.size
    case .truth(let condition): condition.size
    }
  }
}
