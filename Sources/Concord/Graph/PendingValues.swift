// Invariant: the chunks have capacity for values of one type, whose stride and alignment they were made with; those below
// `count` are initialized. A chunk does not move until all values are removed.

/// The storage of the values that wait, in one call, to be applied. A value keeps its address while further values are added, so that
/// it can be read in place.
@usableFromInline struct PendingValues {
  /// The chunks, each with twice the capacity of the one before.
  private var chunks: ContiguousArray<UnsafeMutableRawPointer> = []
  private(set) var count = 0
  private let stride: Int
  private let alignment: Int

  init(stride: Int, alignment: Int) { (self.stride, self.alignment) = (stride, alignment) }

  private static let firstCapacity = 4

  private static func capacity(ofChunk chunk: Int) -> Int { firstCapacity << chunk }

  /// Returns the address of a value; `nil` if the slot has none.
  @inline(__always) func address(_ slot: Int32) -> UnsafeMutableRawPointer? {
    let slot = Int(slot)
    return slot >= 0 && slot < count ? address(at: slot) : nil
  }

  private func address(at slot: Int) -> UnsafeMutableRawPointer {
    // The capacities before a chunk add up to its own minus the first one's.
    let place = slot + Self.firstCapacity
    let chunk = Int.bitWidth - 1 - place.leadingZeroBitCount - Self.firstCapacity.trailingZeroBitCount
    return chunks[chunk] + (place - Self.capacity(ofChunk: chunk)) * stride
  }

  /// Reserves a slot for a value, which the caller initializes at the address.
  @usableFromInline mutating func next() -> (slot: Int32, address: UnsafeMutableRawPointer) {
    let place = count + Self.firstCapacity
    if place & (place - 1) == 0, place == Self.capacity(ofChunk: chunks.count) {
      chunks.append(.allocate(byteCount: place * stride, alignment: alignment))
    }
    count += 1
    return (Int32(truncatingIfNeeded: count - 1), address(at: count - 1))
  }

  /// Removes all values. `deinitialize` is called with each run of them; the capacity is kept, unless it is large.
  mutating func removeAll(_ deinitialize: (UnsafeMutableRawPointer, Int) -> Void) {
    var old = self
    // Code in the `deinit` of a removed value finds the storage empty.
    (chunks, count) = ([], 0)
    var left = old.count
    for (chunk, values) in old.chunks.enumerated() where left > 0 {
      let held = min(left, Self.capacity(ofChunk: chunk))
      deinitialize(values, held)
      left -= held
    }
    if chunks.isEmpty, old.count < 1_024 { chunks = old.chunks } else { old.free() }
  }

  /// Releases the storage, which has no values.
  mutating func free() {
    for chunk in chunks { chunk.deallocate() }
    (chunks, count) = ([], 0)
  }

  /// The number of values that fit in the storage.
  var capacity: Int { Self.capacity(ofChunk: chunks.count) - Self.firstCapacity }
}
