extension ContiguousArray {
  /// Releases capacity that a peak left, if it exceeds four times the count and `kept`.
  ///
  /// - Complexity: amortized constant.
  mutating func shrink(beyond kept: Int) {
    guard capacity > kept, count * 4 <= capacity else { return }
    // A copy by `init` would share the storage.
    var smaller = ContiguousArray()
    smaller.reserveCapacity(count)
    smaller.append(contentsOf: self)
    self = smaller
  }
}
