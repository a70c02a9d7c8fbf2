#if Server
  import ConcordSync
  import Foundation

  /// A sum of keyed hashes of the keys that a subscription has, by which a server knows whether a device has the same ones. A key that enters is
  /// added, and one that leaves is subtracted, so that nobody has to go through all.
  ///
  /// Nobody can choose keys with an equal sum: the hash has the key of the store.
  struct KeySum: Equatable {
    private var high: UInt64 = 0
    private var low: UInt32 = 0
    private let seal: SyncSeal

    init(_ seal: SyncSeal) { self.seal = seal }

    /// The sum that a position has; `nil` if it has none.
    init?(_ text: String?, _ seal: SyncSeal) {
      guard let text, let data = Data(base64Encoded: text), data.count == 12 else { return nil }
      self.init(seal)
      high = data.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
      low = data.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The sum as a position has it.
    var text: String {
      let bytes =
        (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
        + (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * $0)) }
      return Data(bytes).base64EncodedString()
    }

    mutating func add(_ keys: some Sequence<StoredValue>) {
      for key in keys {
        let (first, second) = hash(key)
        high &+= first
        low &+= UInt32(truncatingIfNeeded: second)
      }
    }

    mutating func subtract(_ keys: some Sequence<StoredValue>) {
      for key in keys {
        let (first, second) = hash(key)
        high &-= first
        low &-= UInt32(truncatingIfNeeded: second)
      }
    }

    private func hash(_ key: StoredValue) -> (UInt64, UInt64) {
      var hash = seal.hash
      func add(_ kind: UInt8, _ bits: UInt64) {
        hash.add(kind)
        for shift in 0..<8 { hash.add(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(shift)))) }
      }
      switch key {
      case .null: hash.add(0)
      case .integer(let number): add(1, UInt64(bitPattern: number))
      case .real(let number): add(2, number.bitPattern)
      case .text(let text):
        hash.add(3)
        for byte in text.utf8 { hash.add(byte) }
      case .blob(let bytes):
        hash.add(4)
        for byte in bytes { hash.add(byte) }
      }
      return hash.value
    }

    static func == (left: KeySum, right: KeySum) -> Bool { left.high == right.high && left.low == right.low }
  }
#endif
