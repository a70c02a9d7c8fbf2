import Foundation

/// A part of a predicate that may have the same value whatever the predicate is evaluated for.
private protocol ConstantExpression: PredicateExpression {
  var isConstant: Bool { get }
}

/// Returns the value of a part of a predicate that is a constant; `nil` if it is none, or has no value.
func constant(_ expression: any PredicateExpression) -> Any? {
  func value(_ expression: some PredicateExpression) -> Any? {
    let bindings = PredicateBindings()
    return (try? expression.checkedInside()?.evaluate(bindings) ?? expression.evaluate(bindings)).map { $0 as Any }
  }
  return isConstant(expression) ? value(expression) : nil
}

private func isConstant(_ expression: any PredicateExpression) -> Bool {
  (expression as? any ConstantExpression)?.isConstant ?? false
}

extension PredicateExpressions.Value: ConstantExpression {
  fileprivate var isConstant: Bool { true }
}

extension PredicateExpressions.NilLiteral: ConstantExpression {
  fileprivate var isConstant: Bool { true }
}

extension PredicateExpressions.KeyPath: ConstantExpression {
  /// A computed property, or one of an object, may have another value later.
  fileprivate var isConstant: Bool {
    MemoryLayout<Root.Output>.offset(of: keyPath) != nil && Concord.isConstant(root)
  }
}

extension PredicateExpressions.UnaryMinus: ConstantExpression {
  fileprivate var isConstant: Bool { Concord.isConstant(wrapped) }
}

extension PredicateExpressions.Arithmetic: ConstantExpression {
  fileprivate var isConstant: Bool { Concord.isConstant(lhs) && Concord.isConstant(rhs) }
}

extension PredicateExpressions.Range: ConstantExpression {
  fileprivate var isConstant: Bool { Concord.isConstant(lower) && Concord.isConstant(upper) }
}

extension PredicateExpressions.ClosedRange: ConstantExpression {
  fileprivate var isConstant: Bool { Concord.isConstant(lower) && Concord.isConstant(upper) }
}
