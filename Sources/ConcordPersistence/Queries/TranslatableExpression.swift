import ConcordModel
import Foundation

/// An expression of Foundation's that a store may evaluate.
protocol TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition?
}

/// An expression that may be a column.
protocol ColumnExpression {
  func column(_ translation: PredicateTranslation) -> PredicateTranslation.Column?
}

/// A variable of a predicate.
protocol VariableExpression { var variableID: PredicateExpressions.VariableID { get } }

/// A property of an expression.
protocol KeyPathExpression {
  var anyKeyPath: AnyKeyPath { get }
  var rootExpression: any PredicateExpression { get }
}

/// An expression of which both sides hold.
protocol ConjunctionExpression { var sides: [any PredicateExpression] { get } }

extension PredicateExpressions.Variable: VariableExpression {
  var variableID: PredicateExpressions.VariableID { key }
}

extension PredicateExpressions.KeyPath: KeyPathExpression, ColumnExpression {
  var anyKeyPath: AnyKeyPath { keyPath }
  var rootExpression: any PredicateExpression { root }
  func column(_ translation: PredicateTranslation) -> PredicateTranslation.Column? {
    translation.column(keyPath, of: root, type: Output.self)
  }
}

extension PredicateExpressions.NilCoalesce: ColumnExpression {
  func column(_ translation: PredicateTranslation) -> PredicateTranslation.Column? {
    guard var column = translation.column(lhs), column.substitute == nil, case .same = column.kind,
      let value = translation.constant(rhs), let stored = try? column.encode(value.value), !stored.isNull
    else { return nil }
    column.substitute = stored
    return column
  }
}

extension PredicateExpressions.Conjunction: ConjunctionExpression, TranslatableExpression {
  var sides: [any PredicateExpression] { [lhs, rhs] }
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let a = translation.condition(of: lhs), let b = translation.condition(of: rhs) else { return nil }
    return .all(a, b)
  }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let a = translation.condition(of: lhs), let b = translation.condition(of: rhs) else { return nil }
    return .any(a, b)
  }
}

extension PredicateExpressions.Negation: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.condition(of: wrapped).map { .not($0) }
  }
}

extension PredicateExpressions.Equal: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? { translation.equal(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    translation.equal(lhs, rhs).map { .not($0) }
  }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    let comparison: StoredComparisonOperator? =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: nil
      }
    return comparison.flatMap { translation.compares(lhs, $0, rhs) }
  }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let values = translation.constant(sequence)?.value as? any Sequence else { return nil }
    let wanted = Array(anyOf: values)
    let condition = translation.column(element).flatMap { translation.isIn(wanted, $0) }
    return condition ?? translation.isIn(wanted, element)
  }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
  func condition(_ translation: PredicateTranslation) -> StoredCondition? {
    guard let range = translation.constant(range)?.value as? any BoundedRange else { return nil }
    let compares = translation.comparison(of: element)
    var conditions: [StoredCondition] = []
    if let lower = range.lower {
      guard let condition = compares(.greaterOrEqual, lower) else { return nil }
      conditions.append(condition)
    }
    if let upper = range.upper {
      guard let condition = compares(range.includesUpper ? .lessOrEqual : .less, upper) else { return nil }
      conditions.append(condition)
    }
    return .all(conditions)
  }
}

extension [Any] {
  fileprivate init(anyOf sequence: any Sequence) {
    func elements(_ sequence: some Sequence) -> [Any] { sequence.map { $0 as Any } }
    self = elements(sequence)
  }
}

/// A range whose bounds are known.
private protocol BoundedRange {
  var lower: Any? { get }
  var upper: Any? { get }
  var includesUpper: Bool { get }
}

extension Range: BoundedRange {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { false }
}
extension ClosedRange: BoundedRange {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { true }
}
extension PartialRangeFrom: BoundedRange {
  fileprivate var lower: Any? { lowerBound }
  fileprivate var upper: Any? { nil }
  fileprivate var includesUpper: Bool { false }
}
extension PartialRangeUpTo: BoundedRange {
  fileprivate var lower: Any? { nil }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { false }
}
extension PartialRangeThrough: BoundedRange {
  fileprivate var lower: Any? { nil }
  fileprivate var upper: Any? { upperBound }
  fileprivate var includesUpper: Bool { true }
}
