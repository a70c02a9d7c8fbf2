extension Array {
  /// Takes the first element of those from `first` on. The array is as long as what is left, within a factor of two.
  mutating func popFirst(from first: inout Int) -> Element? {
    guard first < count else { return nil }
    defer {
      first += 1
      if first * 2 > count {
        removeSubrange(..<first)
        first = 0
      }
    }
    return self[first]
  }
}
