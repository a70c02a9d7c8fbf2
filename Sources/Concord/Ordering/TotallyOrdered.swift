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

extension TotallyOrdered where Self: Comparable {
  package func totalOrder(_ other: Self) -> ComparisonResult { order(other) }
}

// Each type is converted on its own: one generic conversion has the compiler make the whole arithmetic of each of them.
extension Int: TotallyOrdered { package var rank: UInt64? { Int64(self).rank } }
extension Int8: TotallyOrdered { package var rank: UInt64? { Int64(self).rank } }
extension Int16: TotallyOrdered { package var rank: UInt64? { Int64(self).rank } }
extension Int32: TotallyOrdered { package var rank: UInt64? { Int64(self).rank } }
extension Int64: TotallyOrdered { package var rank: UInt64? { UInt64(bitPattern: self) ^ (1 << 63) } }
extension UInt: TotallyOrdered { package var rank: UInt64? { UInt64(self) } }
extension UInt8: TotallyOrdered { package var rank: UInt64? { UInt64(self) } }
extension UInt16: TotallyOrdered { package var rank: UInt64? { UInt64(self) } }
extension UInt32: TotallyOrdered { package var rank: UInt64? { UInt64(self) } }
extension UInt64: TotallyOrdered { package var rank: UInt64? { self } }

extension Double: TotallyOrdered {
  package func totalOrder(_ other: Double) -> ComparisonResult {
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
    let bits = self == 0 ? 0 : bitPattern
    return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
  }
}

extension Float: TotallyOrdered {
  package func totalOrder(_ other: Float) -> ComparisonResult { Double(self).totalOrder(Double(other)) }
  package var rank: UInt64? { Double(self).rank }
}

extension CGFloat: TotallyOrdered {
  package func totalOrder(_ other: CGFloat) -> ComparisonResult { Double(self).totalOrder(Double(other)) }
  package var rank: UInt64? { Double(self).rank }
}

extension Date: TotallyOrdered {
  package func totalOrder(_ other: Date) -> ComparisonResult {
    timeIntervalSinceReferenceDate.totalOrder(other.timeIntervalSinceReferenceDate)
  }

  package var rank: UInt64? { timeIntervalSinceReferenceDate.rank }
}

extension Decimal: TotallyOrdered {
  /// Its NaN equals itself, and precedes all numbers by `<`.
  package func totalOrder(_ other: Decimal) -> ComparisonResult {
    switch (isNaN, other.isNaN) {
    case (false, false): order(other)
    case (false, true): .orderedAscending
    case (true, false): .orderedDescending
    case (true, true): .orderedSame
    }
  }

  package var rank: UInt64? { nil }
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
