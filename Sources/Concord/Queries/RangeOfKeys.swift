/// A range of values that have keys.
protocol RangeOfKeys { var interval: ValueInterval<RangeKey>? { get } }

extension Range: RangeOfKeys where Bound: RangeKeyed {
  var interval: ValueInterval<RangeKey>? {
    guard let lower = lowerBound.rangeKey, let upper = upperBound.rangeKey else { return nil }
    return ValueInterval(lower: .init(lower, isIncluded: true), upper: .init(upper, isIncluded: false))
  }
}

extension ClosedRange: RangeOfKeys where Bound: RangeKeyed {
  var interval: ValueInterval<RangeKey>? {
    guard let lower = lowerBound.rangeKey, let upper = upperBound.rangeKey else { return nil }
    return ValueInterval(lower: .init(lower, isIncluded: true), upper: .init(upper, isIncluded: true))
  }
}

extension PartialRangeFrom: RangeOfKeys where Bound: RangeKeyed {
  var interval: ValueInterval<RangeKey>? {
    lowerBound.rangeKey.map { ValueInterval(lower: .init($0, isIncluded: true)) }
  }
}

extension PartialRangeUpTo: RangeOfKeys where Bound: RangeKeyed {
  var interval: ValueInterval<RangeKey>? {
    upperBound.rangeKey.map { ValueInterval(upper: .init($0, isIncluded: false)) }
  }
}

extension PartialRangeThrough: RangeOfKeys where Bound: RangeKeyed {
  var interval: ValueInterval<RangeKey>? {
    upperBound.rangeKey.map { ValueInterval(upper: .init($0, isIncluded: true)) }
  }
}
