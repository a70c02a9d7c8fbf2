// Relies on: the chunks have room for values of one type, whose stride and alignment they were made with; those below `count` are
// initialized. A chunk stays where it is until all values are removed.

/// Room for the values that wait, in one call, to be applied. A value stays at its address while others are added, so that it can be
/// looked at where it lies.
@usableFromInline struct PendingValues {
  /// Each has room for twice as many values as the one before.
  private var chunks: ContiguousArray<UnsafeMutableRawPointer> = []
  private(set) var count = 0
  private let stride: Int
  private let alignment: Int

  init(stride: Int, alignment: Int) { (self.stride, self.alignment) = (stride, alignment) }

  private static let firstCapacity = 4

  private static func capacity(ofChunk chunk: Int) -> Int { firstCapacity << chunk }

  /// Where a value lies; `nil` if there is none in the slot.
  @inline(__always) func address(_ slot: Int32) -> UnsafeMutableRawPointer? {
    let slot = Int(slot)
    return slot >= 0 && slot < count ? address(at: slot) : nil
  }

  private func address(at slot: Int) -> UnsafeMutableRawPointer {
    // The capacities before a chunk add up to its own less the first one's.
    let place = slot + Self.firstCapacity
    let chunk = Int.bitWidth - 1 - place.leadingZeroBitCount - Self.firstCapacity.trailingZeroBitCount
    return chunks[chunk] + (place - Self.capacity(ofChunk: chunk)) * stride
  }

  /// Makes room for one more value, which the caller initializes at the address.
  @usableFromInline mutating func next() -> (slot: Int32, address: UnsafeMutableRawPointer) {
    let place = count + Self.firstCapacity
    if place & (place - 1) == 0, place == Self.capacity(ofChunk: chunks.count) {
      chunks.append(.allocate(byteCount: place * stride, alignment: alignment))
    }
    count += 1
    return (Int32(truncatingIfNeeded: count - 1), address(at: count - 1))
  }

  /// Takes all values out. `deinitialize` is called with each run of them; the room is kept, unless it is much.
  mutating func removeAll(_ deinitialize: (UnsafeMutableRawPointer, Int) -> Void) {
    var old = self
    // What a value that goes does in its `deinit` finds none left.
    (chunks, count) = ([], 0)
    var left = old.count
    for (chunk, values) in old.chunks.enumerated() where left > 0 {
      let held = min(left, Self.capacity(ofChunk: chunk))
      deinitialize(values, held)
      left -= held
    }
    if chunks.isEmpty, old.count < 1_024 { chunks = old.chunks } else { old.free() }
  }

  /// Gives the room back, which has no values.
  mutating func free() {
    for chunk in chunks { chunk.deallocate() }
    (chunks, count) = ([], 0)
  }

  /// How many values it has room for.
  var capacity: Int { Self.capacity(ofChunk: chunks.count) - Self.firstCapacity }
}
