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

/// Whether all values that equal one share its hash, once they are canonical: those in which no `Decimal` is inside another value.
///
/// Nobody sees what a class or a type with a mirror of its own hides.
func isFoundByHash<Value: Hashable>(_ value: Value) -> Bool {
  Value.self == Decimal.self || Value.self == Decimal?.self || !holdsDecimal(value, depth: 16)
}

private func holdsDecimal(_ value: Any, depth: Int) -> Bool {
  if value is Decimal { return true }
  // Fast path: most properties are of such a type.
  if value is any RangeKeyed { return false }
  let mirror = Mirror(reflecting: value)
  // An object may be changed meanwhile, and may lead to any number of further ones.
  if mirror.displayStyle == .class { return false }
  return mirror.children.contains { depth == 0 || holdsDecimal($0.value, depth: depth - 1) }
}
