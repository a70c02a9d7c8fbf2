extension ContiguousArray {
  /// Gives back what a peak left: room for four times as many as there are, unless it is for no more than `kept`. Cost:
  /// constant, on average.
  mutating func shrink(beyond kept: Int) {
    guard capacity > kept, count * 4 <= capacity else { return }
    // A copy by `init` would share the room.
    var smaller = ContiguousArray()
    smaller.reserveCapacity(count)
    smaller.append(contentsOf: self)
    self = smaller
  }
}
