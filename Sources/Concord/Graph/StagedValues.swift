/// Values that wait, in the current call, to be applied. Each stays where it is in memory while more are added.
@usableFromInline struct StagedValues<T> {
  /// Each is twice as large as the one before.
  @usableFromInline var chunks: ContiguousArray<UnsafeMutablePointer<T>> = []
  @usableFromInline var count = 0

  /// The first chunk has room for 16, and chunks for 1,008 in all are kept for the next call.
  @inlinable static var firstBits: Int { 4 }
  @inlinable static var keptChunks: Int { 6 }

  @inlinable init() {}

  @inlinable static func place(of index: Int) -> (chunk: Int, offset: Int) {
    let position = index + 1 << firstBits
    let bits = Int.bitWidth - 1 - position.leadingZeroBitCount
    return (bits - firstBits, position - 1 << bits)
  }

  @inlinable @inline(__always) var isEmpty: Bool { count == 0 }

  /// Where the value at an index below `count` is.
  @inlinable subscript(index: Int32) -> UnsafeMutablePointer<T> {
    let place = Self.place(of: Int(index))
    return chunks[place.chunk] + place.offset
  }

  /// Adds a copy of a value; gives its index.
  @inlinable mutating func append(_ value: UnsafePointer<T>) -> Int32 {
    let (chunk, offset) = Self.place(of: count)
    if chunk == chunks.count { chunks.append(.allocate(capacity: 1 << (chunk + Self.firstBits))) }
    (chunks[chunk] + offset).initialize(from: value, count: 1)
    count += 1
    return Int32(truncatingIfNeeded: count - 1)
  }

  @inlinable mutating func removeAll() {
    var rest = count
    for (index, chunk) in chunks.enumerated() where rest > 0 {
      let held = min(rest, 1 << (index + Self.firstBits))
      chunk.deinitialize(count: held)
      rest -= held
    }
    count = 0
    while chunks.count > Self.keptChunks { chunks.removeLast().deallocate() }
  }

  /// Gives the memory back; to be called when the values are no longer needed.
  @inlinable mutating func destroy() {
    removeAll()
    for chunk in chunks { chunk.deallocate() }
    chunks.removeAll()
  }
}
