import Foundation

/// The order of a fetch and of a live query: that of sort descriptors, with a place for NaN.
///
/// Swift orders NaN beside no number, and an order with such gaps depends on how one sorts. Here all NaN are the same, and come after all
/// numbers, as they do in a file, whose NaN are bytes. 0.0 and -0.0 are the same, and `nil` comes first.
struct TotalOrder<T> {
  private let comparisons: [(T, T) -> ComparisonResult]

  init(_ descriptors: [SortDescriptor<T>]) { comparisons = descriptors.map(Self.comparison) }

  /// Compares two values; the first descriptor that tells them apart decides.
  func compare(_ a: T, _ b: T) -> ComparisonResult {
    for compare in comparisons {
      let result = compare(a, b)
      if result != .orderedSame { return result }
    }
    return .orderedSame
  }

  private static func comparison(_ descriptor: SortDescriptor<T>) -> (T, T) -> ComparisonResult {
    func comparison<Value: NumberWithGaps>(_ type: Value.Type) -> ((T, T) -> ComparisonResult)? {
      guard let keyPath = descriptor.keyPath as? KeyPath<T, Value> else { return nil }
      let isForward = descriptor.order == .forward
      return { a, b in
        let (a, b) = (a[keyPath: keyPath], b[keyPath: keyPath])
        return isForward ? a.totalOrder(b) : b.totalOrder(a)
      }
    }
    let type = descriptor.keyPath.flatMap { Swift.type(of: $0).valueType as? any NumberWithGaps.Type }
    return type.flatMap { comparison($0) } ?? { descriptor.compare($0, $1) }
  }
}

/// A type with values that are ordered beside no other one.
private protocol NumberWithGaps {
  func totalOrder(_ other: Self) -> ComparisonResult
}

extension FloatingPoint {
  fileprivate func totalOrderOfNumbers(_ other: Self) -> ComparisonResult {
    if self < other { return .orderedAscending }
    if other < self { return .orderedDescending }
    return switch (isNaN, other.isNaN) {
    case (false, true): .orderedAscending
    case (true, false): .orderedDescending
    default: .orderedSame
    }
  }
}

extension Double: NumberWithGaps {
  fileprivate func totalOrder(_ other: Double) -> ComparisonResult { totalOrderOfNumbers(other) }
}

extension Float: NumberWithGaps {
  fileprivate func totalOrder(_ other: Float) -> ComparisonResult { totalOrderOfNumbers(other) }
}

extension CGFloat: NumberWithGaps {
  fileprivate func totalOrder(_ other: CGFloat) -> ComparisonResult { totalOrderOfNumbers(other) }
}

extension Date: NumberWithGaps {
  fileprivate func totalOrder(_ other: Date) -> ComparisonResult {
    timeIntervalSinceReferenceDate.totalOrderOfNumbers(other.timeIntervalSinceReferenceDate)
  }
}

extension Optional: NumberWithGaps where Wrapped: NumberWithGaps {
  fileprivate func totalOrder(_ other: Wrapped?) -> ComparisonResult {
    switch (self, other) {
    case (let value?, let other?): value.totalOrder(other)
    case (nil, nil): .orderedSame
    case (nil, _): .orderedAscending
    case (_, nil): .orderedDescending
    }
  }
}
