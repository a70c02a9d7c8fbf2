import Foundation

/// A value as it stands in the order of its type's `<`, for the types that queries are found by ranges of.
///
/// All values of one type have keys of one case.
enum RangeKey: Hashable, Comparable {
  case number(UInt64)
  case decimal(Decimal)
  case text(String)
}

/// A type whose `<` is known to order all of its values that have a key. Where it is the user's, nothing is known of it.
protocol RangeKeyed: Comparable {
  /// The place in the order; `nil` for a value that `<` does not order beside all other values, like NaN.
  var rangeKey: RangeKey? { get }
}

extension RangeKeyed where Self: FixedWidthInteger & TotallyOrdered {
  var rangeKey: RangeKey? { rank.map { .number($0) } }
}

extension Int: RangeKeyed {}
extension Int8: RangeKeyed {}
extension Int16: RangeKeyed {}
extension Int32: RangeKeyed {}
extension Int64: RangeKeyed {}
extension UInt: RangeKeyed {}
extension UInt8: RangeKeyed {}
extension UInt16: RangeKeyed {}
extension UInt32: RangeKeyed {}
extension UInt64: RangeKeyed {}

extension Double: RangeKeyed {
  var rangeKey: RangeKey? { isNaN ? nil : rank.map { .number($0) } }
}

extension Float: RangeKeyed {
  var rangeKey: RangeKey? { Double(self).rangeKey }
}

extension CGFloat: RangeKeyed {
  var rangeKey: RangeKey? { Double(self).rangeKey }
}

extension Date: RangeKeyed {
  var rangeKey: RangeKey? { timeIntervalSinceReferenceDate.rangeKey }
}

extension Decimal: RangeKeyed {
  var rangeKey: RangeKey? { isNaN ? nil : .decimal(self) }
}

extension String: RangeKeyed {
  /// Of texts that normalization may change, `<` contradicts itself, see ``TextOrder``.
  var rangeKey: RangeKey? { PlainScalars.makeUp(self) ? .text(self) : nil }
}
