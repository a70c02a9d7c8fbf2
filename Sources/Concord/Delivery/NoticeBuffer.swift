/// Calls that wait to be made, oldest first; at most so many of the newest.
struct NoticeBuffer<Value> {
  private var waiting = FIFO<Value>()
  let limit: Int

  init(limit: Int) { self.limit = limit }

  var count: Int { waiting.count }

  /// Puts a value at the end; gives the oldest back if there are too many.
  mutating func append(_ value: consuming Value) -> Value? {
    waiting.append(value)
    return count > limit ? takeFirst() : nil
  }

  mutating func takeFirst() -> Value? { waiting.takeFirst() }

  /// Empties the box, and gives the values to be destroyed elsewhere.
  mutating func takeAll() -> [Value] { waiting.takeAll() }
}
