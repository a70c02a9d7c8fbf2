/// The waiting calls of an observer, oldest first, up to a number of the newest.
struct NoticeBuffer<Value> {
  private var oldest: Value?
  /// The calls after the first. Usually there are none, so that a single call needs no buffer.
  private var others = FIFO<Value>()
  let limit: Int

  init(limit: Int) { self.limit = limit }

  var count: Int { oldest == nil ? 0 : 1 + others.count }

  /// Appends a value. Returns the oldest if there are too many.
  mutating func append(_ value: consuming Value) -> Value? {
    if oldest == nil { oldest = value } else { others.append(value) }
    return count > limit ? takeFirst() : nil
  }

  mutating func takeFirst() -> Value? {
    let taken = oldest.take()
    if !others.isEmpty { oldest = others.takeFirst() }
    return taken
  }

  /// Removes all values, and returns them, to be destroyed elsewhere.
  mutating func takeAll() -> [Value] {
    guard let first = oldest.take() else { return [] }
    return [first] + others.takeAll()
  }
}
