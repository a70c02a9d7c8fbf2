import Foundation

/// A predicate that throws where Swift's operators would trap: a number that is too large for its type, a division by zero, a range that ends
/// before it begins.
///
/// Foundation evaluates it, except for the parts that contain such an operator.
// Unchecked, because the compiler cannot see that the closures of `checked` hold nothing but parts of the predicate, which are sendable and
// never change.
package struct CheckedPredicate<T>: @unchecked Sendable {
  private let predicate: Predicate<T>
  private let checked: CheckedValue<Bool>?

  /// - Complexity: the number of parts.
  package init(_ predicate: Predicate<T>) {
    self.predicate = predicate
    checked = predicate.expression.checkedInside()
  }

  /// - Throws: ``ArithmeticFailure``, or what Foundation throws.
  package func evaluate(_ value: T) throws -> Bool {
    guard let checked else { return try predicate.evaluate(value) }
    return try checked.evaluate(PredicateBindings((predicate.variable, value)))
  }
}

/// A part of a predicate that contains operators which are checked.
package struct CheckedValue<Output>: PredicateExpression {
  let body: (PredicateBindings) throws -> Output

  package init(_ body: @escaping (PredicateBindings) throws -> Output) { self.body = body }

  package func evaluate(_ bindings: PredicateBindings) throws -> Output { try body(bindings) }
}

/// A part of a predicate that consists of smaller parts, or is checked itself.
package protocol CheckedExpression<Output>: PredicateExpression {
  /// The part with all operators in it checked; `nil` if there are none that need that.
  var checked: CheckedValue<Output>? { get }
}

extension PredicateExpression {
  /// Returns the part with all operators in it checked; `nil` if there are none that need that.
  package func checkedInside() -> CheckedValue<Output>? { (self as? any CheckedExpression<Output>)?.checked }
}

/// One of the parts that another consists of, with its operators checked.
///
/// Each is asked once: to ask a part again doubles the cost of all that contain it, and of nested parts that is exponential.
struct CheckedPart<Output> {
  /// Whether the part contains operators that need a check.
  let isChecked: Bool
  let value: CheckedValue<Output>

  init(_ part: some PredicateExpression<Output>) {
    let checked = part.checkedInside()
    isChecked = checked != nil
    value = checked ?? CheckedValue(part.evaluate)
  }
}
