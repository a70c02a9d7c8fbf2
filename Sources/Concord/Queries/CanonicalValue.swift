import Foundation

/// Returns a value that equals another one, and whose hash is the same for all that do.
///
/// Foundation's `Decimal` is hashed as the `Double` beside it, which of a number with many digits depends on how many zeros stand at its end:
/// there, equal ones may have different hashes.
func canonical<Value: Hashable>(_ value: Value) -> Value {
  guard Value.self == Decimal.self || Value.self == Decimal?.self, var number = value as? Decimal else { return value }
  NSDecimalCompact(&number)
  return number as? Value ?? value
}
