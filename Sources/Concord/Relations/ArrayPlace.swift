// Invariant: an array does not move its elements while it is read with a buffer pointer, which does not escape the closure.

/// The place of an array of entities: a fast path for the most frequent collection.
@usableFromInline enum ArrayPlace<T: Identifiable & Sendable>: Place {
  @usableFromInline static var canOmit: Omittability { .always }
  @usableFromInline static var canAlwaysRemove: Bool { true }
  @usableFromInline static var isFoundLater: Bool { isWrapper(T.self) }

  @inlinable static func visit(_ value: [T], _ visitor: Visitor) {
    guard let first = value.first else { return }
    let table = visitor.table(T.self)
    visitor.reserve(value.count, from: first, in: table)
    value.withUnsafeBufferPointer { buffer in
      guard var element = buffer.baseAddress else { return }
      for _ in buffer.indices {
        visitor.visit(at: element, in: table)
        element += 1
      }
    }
  }

  @inlinable static func patch(_ value: inout [T], _ cursor: inout PatchCursor) {
    let start = cursor.begin(value.count)
    while let index = cursor.nextStale(since: start, count: value.count) {
      // Read in place, without a copy.
      let newer = value.withUnsafeBufferPointer { cursor.newer(than: $0[index], at: start + index) }
      if let newer { value[index] = newer }
    }
  }

  @usableFromInline static func remove(from value: inout [T], _ cursor: RemovalCursor) -> Bool {
    if let positions = cursor.removedPositions(in: value.count),
      positions.allSatisfy({ cursor.isRemoved(value[$0]) })
    {
      var left: [T] = []
      left.reserveCapacity(value.count - positions.count)
      var start = 0
      for position in positions {
        left += value[start..<position]
        start = position + 1
      }
      left += value[start...]
      value = left
    } else {
      value.removeAll { cursor.isRemoved($0) }
    }
    return true
  }

  /// Whether two arrays share their buffer, and so have the same elements.
  @inlinable static func isIdentical(_ a: [T], _ b: [T]) -> Bool { haveSameBits(a, b) }

  @usableFromInline static func transplant(_ source: [T], into value: inout [T], _ graph: Graph) -> Bool {
    guard source.count == value.count, zip(source, value).allSatisfy({ isSameEntity($0, $1) }) else { return false }
    value = source
    return true
  }

  @usableFromInline static func omit(_ value: inout [T], _ graph: Graph) { value = OmittedCollection<[T]>.value ?? [] }
  @usableFromInline static func forgetOmission(of value: inout [T]) { value = [] }
  @usableFromInline static func omission(of value: [T]) -> Omission { OmittedCollection<[T]>.omission(of: value) }
}
