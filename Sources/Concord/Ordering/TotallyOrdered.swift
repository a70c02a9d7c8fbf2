package import Foundation

/// A type with a total order, which is that of stores: it differs from Swift's `<` for NaN and for some texts.
package protocol TotallyOrdered: SendableMetatype {
  func totalOrder(_ other: Self) -> ComparisonResult
  /// A number by which values are compared first: the lower one comes first, equal ones tell nothing; `nil` if there is none.
  var rank: UInt64? { get }
}

extension Comparable {
  fileprivate func order(_ other: Self) -> ComparisonResult {
    self < other ? .orderedAscending : other < self ? .orderedDescending : .orderedSame
  }
}

extension FixedWidthInteger {
  package func totalOrder(_ other: Self) -> ComparisonResult { order(other) }

  package var rank: UInt64? {
    guard Self.bitWidth <= 64 else { return nil }
    return Self.isSigned
      ? UInt64(bitPattern: Int64(truncatingIfNeeded: self)) ^ (1 << 63) : UInt64(truncatingIfNeeded: self)
  }
}

extension Int: TotallyOrdered {}
extension Int8: TotallyOrdered {}
extension Int16: TotallyOrdered {}
extension Int32: TotallyOrdered {}
extension Int64: TotallyOrdered {}
extension UInt: TotallyOrdered {}
extension UInt8: TotallyOrdered {}
extension UInt16: TotallyOrdered {}
extension UInt32: TotallyOrdered {}
extension UInt64: TotallyOrdered {}

extension BinaryFloatingPoint {
  package func totalOrder(_ other: Self) -> ComparisonResult {
    let result = order(other)
    if result != .orderedSame { return result }
    return switch (isNaN, other.isNaN) {
    case (false, true): .orderedAscending
    case (true, false): .orderedDescending
    default: .orderedSame
    }
  }

  package var rank: UInt64? {
    if isNaN { return .max }
    // The two zeros are the same.
    let bits = self == 0 ? 0 : Double(self).bitPattern
    return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
  }
}

extension Double: TotallyOrdered {}
extension Float: TotallyOrdered {}
extension CGFloat: TotallyOrdered {}

extension Date: TotallyOrdered {
  package func totalOrder(_ other: Date) -> ComparisonResult {
    timeIntervalSinceReferenceDate.totalOrder(other.timeIntervalSinceReferenceDate)
  }

  package var rank: UInt64? { timeIntervalSinceReferenceDate.rank }
}

extension String: TotallyOrdered {
  package func totalOrder(_ other: String) -> ComparisonResult {
    let result = TextOrder.compare(self, other)
    return result == 0 ? .orderedSame : result < 0 ? .orderedAscending : .orderedDescending
  }

  /// The first eight bytes, if these are ASCII, and so is what follows them: nothing combines with them then.
  package var rank: UInt64? {
    var rank: UInt64 = 0
    var count: UInt64 = 0
    for byte in utf8 {
      if byte >= 0x80 { return nil }
      if count == 8 { break }
      rank |= UInt64(byte) << (56 - 8 * count)
      count += 1
    }
    return rank
  }
}

extension UUID: TotallyOrdered {
  package func totalOrder(_ other: UUID) -> ComparisonResult {
    withUnsafeBytes(of: uuid) { a in
      withUnsafeBytes(of: other.uuid) { b in
        a.lexicographicallyPrecedes(b)
          ? .orderedAscending : b.lexicographicallyPrecedes(a) ? .orderedDescending : .orderedSame
      }
    }
  }

  package var rank: UInt64? {
    withUnsafeBytes(of: uuid) { $0.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }
  }
}

extension Optional: TotallyOrdered where Wrapped: TotallyOrdered {
  package func totalOrder(_ other: Wrapped?) -> ComparisonResult {
    switch (self, other) {
    case (let value?, let other?): value.totalOrder(other)
    case (nil, nil): .orderedSame
    case (nil, _): .orderedAscending
    case (_, nil): .orderedDescending
    }
  }

  package var rank: UInt64? {
    guard let self else { return 0 }
    return self.rank.map { $0 >> 1 | (1 << 63) }
  }
}
