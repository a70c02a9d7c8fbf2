/// Values waiting to be delivered, oldest first. The first needs no memory of its own, and there is rarely a second.
@usableFromInline struct Mailbox<Value> {
  @usableFromInline var first: Value?
  @usableFromInline var more: ContiguousArray<Value?> = []
  @usableFromInline var next = 0

  @inlinable init() {}

  /// Puts a value at the end, if there is one; whether there is.
  @inlinable mutating func append(_ value: consuming Value?) -> Bool {
    guard value != nil else { return false }
    if first == nil, more.isEmpty { first = value } else { more.append(value) }
    return true
  }

  @inlinable mutating func removeFirst() -> Value? {
    more.isEmpty || first != nil ? first.take() : removeNext()
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
