extension Dictionary {
  /// Releases capacity that a peak left, if it exceeds four times the count and a few hundred.
  ///
  /// - Complexity: amortized constant.
  @inline(__always) mutating func shrink() { if capacity > 256, count * 4 <= capacity { shrinkNow() } }

  @inline(never) private mutating func shrinkNow() {
    // A copy by `init` would share the storage.
    var smaller = Dictionary(minimumCapacity: count)
    for (key, value) in self { smaller[key] = value }
    self = smaller
  }
}

extension Set {
  /// Releases capacity that a peak left, as a dictionary does.
  ///
  /// - Complexity: amortized constant.
  mutating func shrink() {
    guard capacity > 256, count * 4 <= capacity else { return }
    var smaller = Set(minimumCapacity: count)
    smaller.formUnion(self)
    self = smaller
  }
}
