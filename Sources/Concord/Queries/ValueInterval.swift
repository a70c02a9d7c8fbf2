/// All values between two bounds; a bound that is `nil` is infinitely far away.
struct ValueInterval<Value: Comparable> {
  /// A bound, and whether the value at it belongs to the interval.
  struct Bound {
    let value: Value
    let isIncluded: Bool

    init(_ value: Value, isIncluded: Bool) { (self.value, self.isIncluded) = (value, isIncluded) }
  }

  private(set) var lower: Bound?
  private(set) var upper: Bound?

  init(lower: Bound? = nil, upper: Bound? = nil) { (self.lower, self.upper) = (lower, upper) }

  var isBounded: Bool { lower != nil && upper != nil }

  func contains(_ value: Value) -> Bool { beginsBefore(value) && endsAfter(value) }

  /// Whether the value is not below the interval.
  func beginsBefore(_ value: Value) -> Bool {
    guard let lower else { return true }
    return lower.isIncluded ? lower.value <= value : lower.value < value
  }

  /// Whether the value is not above the interval.
  func endsAfter(_ value: Value) -> Bool {
    guard let upper else { return true }
    return upper.isIncluded ? value <= upper.value : value < upper.value
  }

  /// The values that are in both.
  func intersection(_ other: ValueInterval) -> ValueInterval {
    ValueInterval(
      lower: beginsLater(than: other) ? lower : other.lower, upper: other.endsLater(than: self) ? upper : other.upper)
  }

  func beginsLater(than other: ValueInterval) -> Bool {
    guard let lower else { return false }
    guard let bound = other.lower else { return true }
    return bound.value < lower.value || bound.value == lower.value && bound.isIncluded && !lower.isIncluded
  }

  func endsLater(than other: ValueInterval) -> Bool {
    guard let bound = other.upper else { return false }
    guard let upper else { return true }
    return bound.value < upper.value || bound.value == upper.value && upper.isIncluded && !bound.isIncluded
  }

  /// Whether the interval comes before another in the order of their beginnings, and then of their ends.
  func precedes(_ other: ValueInterval) -> Bool {
    if other.beginsLater(than: self) { return true }
    return !beginsLater(than: other) && other.endsLater(than: self)
  }
}
