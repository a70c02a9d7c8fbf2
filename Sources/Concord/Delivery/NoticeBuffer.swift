/// Calls that wait to be made, oldest first; at most so many of the newest.
struct NoticeBuffer<Value> {
  private var oldest: Value?
  /// Most often there are none, and one takes no room of its own.
  private var others = FIFO<Value>()
  let limit: Int

  init(limit: Int) { self.limit = limit }

  var count: Int { oldest == nil ? 0 : 1 + others.count }

  /// Puts a value at the end; gives the oldest back if there are too many.
  mutating func append(_ value: consuming Value) -> Value? {
    if oldest == nil { oldest = value } else { others.append(value) }
    return count > limit ? takeFirst() : nil
  }

  mutating func takeFirst() -> Value? {
    let taken = oldest.take()
    if !others.isEmpty { oldest = others.takeFirst() }
    return taken
  }

  /// Empties the box, and gives the values to be destroyed elsewhere.
  mutating func takeAll() -> [Value] {
    guard let first = oldest.take() else { return [] }
    return [first] + others.takeAll()
  }
}
