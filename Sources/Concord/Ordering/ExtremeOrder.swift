import Foundation

/// The order in which the least and the greatest value of a property are looked for: that of sorts, without NaN.
package struct ExtremeOrder<Value: Comparable>: Sendable {
  // Asked once, since a cast costs more than most comparisons.
  private let isText = Value.self == String.self
  private let isDecimal = Value.self == Decimal.self

  package init() {}

  /// Whether a value has a place in the order.
  package func contains(_ value: Value) -> Bool {
    // The NaN of `Decimal` equals itself.
    if isDecimal, let number = value as? Decimal { return !number.isNaN }
    return value == value
  }

  package func precedes(_ a: Value, _ b: Value) -> Bool {
    if isText, let a = a as? String, let b = b as? String { return TextOrder.compare(a, b) < 0 }
    return a < b
  }
}
