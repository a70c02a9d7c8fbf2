/// Values waiting to be told, oldest first; at most so many of the newest.
struct NoticeBuffer<Value> {
  private var values: ContiguousArray<Value?> = []
  private var first = 0
  let limit: Int

  init(limit: Int) { self.limit = limit }

  var count: Int { values.count - first }

  /// Puts a value at the end; gives the oldest back if there are too many.
  mutating func append(_ value: consuming Value) -> Value? {
    values.append(value)
    return count > limit ? takeFirst() : nil
  }

  mutating func takeFirst() -> Value? {
    guard first < values.count else { return nil }
    // Most often there is one.
    if values.count == 1 { return values.removeLast() }
    let value = values[first].take()
    first += 1
    if first == values.count {
      values.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 64, first * 2 > values.count {
      values.removeFirst(first)
      values.shrink(beyond: 256)
      first = 0
    }
    return value
  }

  /// Empties the box, and gives the values to be destroyed elsewhere.
  mutating func takeAll() -> [Value] {
    defer {
      values = []
      first = 0
    }
    return values[first...].compactMap { $0 }
  }
}
