/// Values waiting to be delivered, oldest first. Usually one.
@usableFromInline struct Mailbox<Value> {
  @usableFromInline var values: ContiguousArray<Value?> = []
  @usableFromInline var next = 0

  @inlinable init() {}

  @inlinable mutating func append(_ value: Value) { values.append(value) }

  @inlinable mutating func removeFirst() -> Value? {
    guard next < values.count else { return nil }
    let value = values[next].take()
    next += 1
    if next == values.count {
      values.removeAll(keepingCapacity: next < 64)
      next = 0
    } else if next >= 64, next * 2 > values.count {
      values.removeFirst(next)
      next = 0
    }
    return value
  }
}
