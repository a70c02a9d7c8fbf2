extension Array {
  /// Removes and returns the element at `first`, the start of a queue. The array is at most twice as long as the queue.
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
