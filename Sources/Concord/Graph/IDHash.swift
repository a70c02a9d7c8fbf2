// Invariant: equal metatypes are of the same type, so that a value of the one is a value of the other.

/// The hash of an id, by which a table finds its node.
///
/// For an `Int`, the most frequent id, `Hasher` takes as long as the rest of the search. So it is multiplied and folded
/// twice, as wyhash does (Wang Yi, 2019), with random secrets for each process: without them nobody can choose ids that
/// collide.
@usableFromInline struct IDHash: Sendable {
  @usableFromInline static let ofProcess = IDHash(
    UInt64(bitPattern: Int64("first".hashValue)), UInt64(bitPattern: Int64("second".hashValue)))

  @usableFromInline let first: UInt64
  @usableFromInline let second: UInt64

  init(_ first: UInt64, _ second: UInt64) { (self.first, self.second) = (first, second) }

  /// Returns the hash of an id, which is never 0, since that marks a free slot of an index.
  @inlinable @inline(__always) static func hash<ID: Hashable>(_ id: ID) -> UInt32 {
    let isInt = ID.self == Int.self
    let hash = isInt ? ofProcess.hash(unsafeBitCast(id, to: Int.self)) : UInt64(bitPattern: Int64(id.hashValue))
    return (UInt32(truncatingIfNeeded: hash) ^ UInt32(truncatingIfNeeded: hash >> 32)) | 1 << 31
  }

  // The factors are odd, and have as many ones as zeros: those of the golden section, and of SplitMix64 (Steele et al., 2014).
  @inlinable @inline(__always) func hash(_ number: Int) -> UInt64 {
    let folded = Self.fold(UInt64(bitPattern: Int64(number)) ^ first, 0x9E37_79B9_7F4A_7C15)
    return Self.fold(folded ^ second, 0xBF58_476D_1CE4_E5B9)
  }

  @inlinable @inline(__always) static func fold(_ number: UInt64, _ factor: UInt64) -> UInt64 {
    let product = number.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }
}
