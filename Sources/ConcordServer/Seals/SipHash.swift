#if Server
  /// SipHash-2-4 with 128 bits: a pseudo-random function for short inputs (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).
  struct SipHash {
    private var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)
    /// The bytes of the word that is not complete.
    private var word: UInt64 = 0
    private var count: UInt64 = 0

    /// - Parameter key: its first 16 bytes count.
    init(key: [UInt8]) {
      func word(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
      let (k0, k1) = (word(key.prefix(8)), word(key.dropFirst(8).prefix(8)))
      (v0, v1) = (k0 ^ 0x736F_6D65_7073_6575, k1 ^ 0x646F_7261_6E64_6F6D ^ 0xEE)
      (v2, v3) = (k0 ^ 0x6C79_6765_6E65_7261, k1 ^ 0x7465_6462_7974_6573)
    }

    mutating func add(_ byte: UInt8) {
      word |= UInt64(byte) << (8 * (count & 7))
      count &+= 1
      guard count & 7 == 0 else { return }
      compress(word)
      word = 0
    }

    private mutating func compress(_ word: UInt64) {
      v3 ^= word
      mix()
      mix()
      v0 ^= word
    }

    private mutating func mix() {
      v0 &+= v1
      v2 &+= v3
      v1 = v1 << 13 | v1 >> 51
      v3 = v3 << 16 | v3 >> 48
      v1 ^= v0
      v3 ^= v2
      v0 = v0 << 32 | v0 >> 32
      v2 &+= v1
      v0 &+= v3
      v1 = v1 << 17 | v1 >> 47
      v3 = v3 << 21 | v3 >> 43
      v1 ^= v2
      v3 ^= v0
      v2 = v2 << 32 | v2 >> 32
    }

    /// The hash of what was added.
    var value: (UInt64, UInt64) {
      var end = self
      end.compress(word | count << 56)
      end.v2 ^= 0xEE
      for _ in 0..<4 { end.mix() }
      let first = end.v0 ^ end.v1 ^ end.v2 ^ end.v3
      end.v1 ^= 0xDD
      for _ in 0..<4 { end.mix() }
      return (first, end.v0 ^ end.v1 ^ end.v2 ^ end.v3)
    }
  }
#endif
