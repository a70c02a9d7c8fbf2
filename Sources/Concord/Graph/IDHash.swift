// Relies on: two metatypes that are equal are of the same type, so that a value of the one is a value of the other.

/// The hash of an id, by which a table finds its node.
///
/// For an `Int`, the most frequent id, `Hasher` takes as long as all the rest of finding. So it is multiplied and folded, as wyhash
/// does (Wang Yi, 2019), with factors that are drawn for each process: who does not know them cannot choose ids that collide.
@usableFromInline struct IDHash: Sendable {
  @usableFromInline static let factors = IDHash()

  @usableFromInline let first = UInt64(bitPattern: Int64("first factor".hashValue))
  @usableFromInline let second = UInt64(bitPattern: Int64("second factor".hashValue)) | 1

  /// Not 0, which marks what is free in an index.
  @inlinable @inline(__always) static func hash<ID: Hashable>(_ id: ID) -> UInt32 {
    let isInt = ID.self == Int.self
    let hash = isInt ? factors.fold(unsafeBitCast(id, to: Int.self)) : UInt64(bitPattern: Int64(id.hashValue))
    return (UInt32(truncatingIfNeeded: hash) ^ UInt32(truncatingIfNeeded: hash >> 32)) | 1 << 31
  }

  @inlinable @inline(__always) func fold(_ number: Int) -> UInt64 {
    let product = (UInt64(bitPattern: Int64(number)) ^ first).multipliedFullWidth(by: second)
    return product.high ^ product.low
  }
}
