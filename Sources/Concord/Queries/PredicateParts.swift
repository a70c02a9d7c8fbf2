import Foundation

extension PredicateExpressions.ComparisonOperator {
  /// The operator that holds for the sides in the other order; `nil` for an unknown one.
  var flipped: PredicateExpressions.ComparisonOperator? {
    switch self {
    case .lessThan: .greaterThan
    case .lessThanOrEqual: .greaterThanOrEqual
    case .greaterThan: .lessThan
    case .greaterThanOrEqual: .lessThanOrEqual
    @unknown default: nil
    }
  }
}

/// Conditions that all have to hold, or of which one has to.
protocol PredicateParts {
  var parts: [any PredicateExpression] { get }
  var areAlternatives: Bool { get }
}

protocol PredicateNegation { var negated: any PredicateExpression { get } }

protocol PredicateEquality {
  var sides: (any PredicateExpression, any PredicateExpression) { get }
  var areEqual: Bool { get }
}

protocol PredicateComparison {
  var sides: (any PredicateExpression, PredicateExpressions.ComparisonOperator, any PredicateExpression) { get }
}

protocol PredicateRangeTest { var test: (range: any PredicateExpression, element: any PredicateExpression) { get } }

extension PredicateExpressions.Conjunction: PredicateParts {
  var parts: [any PredicateExpression] { [lhs, rhs] }
  var areAlternatives: Bool { false }
}

extension PredicateExpressions.Disjunction: PredicateParts {
  var parts: [any PredicateExpression] { [lhs, rhs] }
  var areAlternatives: Bool { true }
}

extension PredicateExpressions.Negation: PredicateNegation {
  var negated: any PredicateExpression { wrapped }
}

extension PredicateExpressions.Equal: PredicateEquality {
  var sides: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }
  var areEqual: Bool { true }
}

extension PredicateExpressions.NotEqual: PredicateEquality {
  var sides: (any PredicateExpression, any PredicateExpression) { (lhs, rhs) }
  var areEqual: Bool { false }
}

extension PredicateExpressions.Comparison: PredicateComparison {
  var sides: (any PredicateExpression, PredicateExpressions.ComparisonOperator, any PredicateExpression) {
    (lhs, op, rhs)
  }
}

extension PredicateExpressions.RangeExpressionContains: PredicateRangeTest {
  var test: (range: any PredicateExpression, element: any PredicateExpression) { (range, element) }
}
