/// The set of a value's stale occurrences: one word without an allocation for up to 64 of them.
struct StaleSet {
  private var word: UInt64 = 0
  private var more: More?

  /// The ordinals beyond 63: a bit for each, and a list to find them without a search.
  private final class More {
    var bits: ContiguousArray<UInt64> = []
    /// The list, which may contain ordinals that were removed since, and twice those that were added again.
    var list: ContiguousArray<Int32> = []
    var count = 0

    func contains(_ ordinal: Int32) -> Bool {
      Int(ordinal >> 6) < bits.count && bits[Int(ordinal >> 6)] & (1 << UInt64(ordinal & 63)) != 0
    }

    /// The ordinals in the set, ascending.
    var ordinals: ContiguousArray<Int32> {
      var result: ContiguousArray<Int32> = []
      for ordinal in list.sorted() where ordinal != result.last && contains(ordinal) { result.append(ordinal) }
      return result
    }
  }

  var isEmpty: Bool { word == 0 && (more?.count ?? 0) == 0 }

  mutating func insert(_ ordinal: Int32) {
    if ordinal < 64 { word |= 1 << UInt64(ordinal) } else { insertFar(ordinal) }
  }

  private mutating func insertFar(_ ordinal: Int32) {
    let more = more ?? More()
    self.more = more
    let index = Int(ordinal >> 6)
    while more.bits.count <= index { more.bits.append(contentsOf: repeatElement(0, count: max(4, more.bits.count))) }
    let bit: UInt64 = 1 << UInt64(ordinal & 63)
    if more.bits[index] & bit == 0 {
      // Bounded, although removed ordinals stay in the list.
      if more.list.count >= max(64, 2 * more.count) { more.list = more.ordinals }
      more.bits[index] |= bit
      more.list.append(ordinal)
      more.count += 1
    }
  }

  func contains(_ ordinal: Int32) -> Bool {
    if ordinal < 64 { return word & (1 << UInt64(ordinal)) != 0 }
    return more?.contains(ordinal) ?? false
  }

  mutating func remove(_ ordinal: Int32) {
    if ordinal < 64 {
      word &= ~(1 << UInt64(ordinal))
    } else if contains(ordinal), let more {
      more.bits[Int(ordinal >> 6)] &= ~(1 << UInt64(ordinal & 63))
      more.count -= 1
      if more.count == 0 { self.more = nil }
    }
  }

  mutating func removeAll() {
    word = 0
    more = nil
  }

  /// Lists with one of the first 64 ordinals each.
  private static let alone = ContiguousArray((0..<64).map { ContiguousArray([Int32($0)]) })

  /// Returns all ordinals, ascending. A single one of the first 64 costs no allocation.
  func ordinals() -> ContiguousArray<Int32> {
    if more == nil, word != 0, word & (word - 1) == 0 { return Self.alone[word.trailingZeroBitCount] }
    var result: ContiguousArray<Int32> = []
    var rest = word
    result.reserveCapacity(word.nonzeroBitCount)
    while rest != 0 {
      result.append(Int32(rest.trailingZeroBitCount))
      rest &= rest - 1
    }
    if let more { result += more.ordinals }
    return result
  }
}
