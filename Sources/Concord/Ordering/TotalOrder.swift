import Foundation

/// The order of a fetch and of a live query: that of sort descriptors, with a place for NaN, and with the lexical order that stores have
/// for texts.
///
/// Swift orders NaN beside no number, and an order with such gaps depends on how one sorts. Here all NaN are the same, and come after all
/// numbers, as they do in a file, whose NaN are bytes. 0.0 and -0.0 are the same, and `nil` comes first.
package struct TotalOrder<T> {
  private let comparisons: [(T, T) -> ComparisonResult]
  /// A function that returns a rank by the first descriptor: of two values, the one with the lower rank comes first, and equal ranks tell
  /// nothing. It returns `nil` for a value that has none, as do all if the function is `nil`.
  package let rank: ((T) -> UInt64?)?

  package init(_ descriptors: [SortDescriptor<T>]) {
    comparisons = descriptors.map(Self.comparison)
    rank = descriptors.first.flatMap(Self.rank)
  }

  package var isTrivial: Bool { comparisons.isEmpty }
  package var count: Int { comparisons.count }

  /// Compares two values; the first descriptor that tells them apart decides.
  package func compare(_ a: T, _ b: T) -> ComparisonResult {
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
    return orderedType(of: descriptor).flatMap { comparison($0) } ?? { descriptor.compare($0, $1) }
  }

  private static func rank(_ descriptor: SortDescriptor<T>) -> ((T) -> UInt64?)? {
    func rank<Value: TotallyOrdered>(_ type: Value.Type) -> ((T) -> UInt64?)? {
      guard let keyPath = descriptor.keyPath as? KeyPath<T, Value> else { return nil }
      let isForward = descriptor.order == .forward
      return { value in
        guard let rank = value[keyPath: keyPath].rank else { return nil }
        return isForward ? rank : ~rank
      }
    }
    return orderedType(of: descriptor).flatMap { rank($0) }
  }

  /// The type of the ordered property; `nil` if Foundation's comparators are to compare it.
  private static func orderedType(of descriptor: SortDescriptor<T>) -> (any TotallyOrdered.Type)? {
    // Foundation's comparators define their own order. A descriptor without one compares texts by `<`.
    if let comparator = descriptor.stringComparator,
      String.StandardComparator(comparator, order: .forward) != .lexical
    {
      return nil
    }
    return descriptor.keyPath.flatMap { Swift.type(of: $0).valueType as? any TotallyOrdered.Type }
  }
}
