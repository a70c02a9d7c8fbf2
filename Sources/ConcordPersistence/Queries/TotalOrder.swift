import Foundation

/// The order of a fetch and of a live query: that of sort descriptors, with a place for NaN, and with the lexical order that stores have
/// for texts.
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
    func comparison<Value: TotallyOrdered>(_ type: Value.Type) -> ((T, T) -> ComparisonResult)? {
      guard let keyPath = descriptor.keyPath as? KeyPath<T, Value> else { return nil }
      let isForward = descriptor.order == .forward
      return { a, b in
        let (a, b) = (a[keyPath: keyPath], b[keyPath: keyPath])
        return isForward ? a.totalOrder(b) : b.totalOrder(a)
      }
    }
    // Foundation's comparators define their own order.
    if let collation = descriptor.collation, collation != .lexical { return { descriptor.compare($0, $1) } }
    let type = descriptor.keyPath.flatMap { Swift.type(of: $0).valueType as? any TotallyOrdered.Type }
    return type.flatMap { comparison($0) } ?? { descriptor.compare($0, $1) }
  }
}

/// A type whose order in stores differs from Swift's `<`, which is not total for NaN and for some texts.
private protocol TotallyOrdered {
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

extension Double: TotallyOrdered {
  fileprivate func totalOrder(_ other: Double) -> ComparisonResult { totalOrderOfNumbers(other) }
}

extension Float: TotallyOrdered {
  fileprivate func totalOrder(_ other: Float) -> ComparisonResult { totalOrderOfNumbers(other) }
}

extension CGFloat: TotallyOrdered {
  fileprivate func totalOrder(_ other: CGFloat) -> ComparisonResult { totalOrderOfNumbers(other) }
}

extension Date: TotallyOrdered {
  fileprivate func totalOrder(_ other: Date) -> ComparisonResult {
    timeIntervalSinceReferenceDate.totalOrderOfNumbers(other.timeIntervalSinceReferenceDate)
  }
}

extension String: TotallyOrdered {
  fileprivate func totalOrder(_ other: String) -> ComparisonResult {
    let result = TextOrder.compare(self, other)
    return result == 0 ? .orderedSame : result < 0 ? .orderedAscending : .orderedDescending
  }
}

extension Optional: TotallyOrdered where Wrapped: TotallyOrdered {
  fileprivate func totalOrder(_ other: Wrapped?) -> ComparisonResult {
    switch (self, other) {
    case (let value?, let other?): value.totalOrder(other)
    case (nil, nil): .orderedSame
    case (nil, _): .orderedAscending
    case (_, nil): .orderedDescending
    }
  }
}
