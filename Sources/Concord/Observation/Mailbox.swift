/// Values waiting to be delivered, oldest first. The first needs no memory of its own, and there is rarely a second.
@usableFromInline struct Mailbox<Value> {
  @usableFromInline var first: Value?
  @usableFromInline var more: ContiguousArray<Value?> = []
  @usableFromInline var next = 0

  @inlinable init() {}

  @inlinable mutating func append(_ value: Value) {
    if first == nil, more.isEmpty { first = value } else { more.append(value) }
  }

  @inlinable mutating func removeFirst() -> Value? {
    if let value = first.take() { return value }
    return more.isEmpty ? nil : removeNext()
  }

  @inlinable mutating func removeNext() -> Value? {
    let value = more[next].take()
    next += 1
    if next == more.count {
      more.removeAll(keepingCapacity: next < 64)
      next = 0
    } else if next >= 64, next * 2 > more.count {
      more.removeFirst(next)
      next = 0
    }
    return value
  }
}
