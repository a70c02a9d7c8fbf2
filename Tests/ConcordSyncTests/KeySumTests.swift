#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordServer

  /// What a position has of the keys of a subscription.
  @Suite struct KeySumTests {
    @Test("The hash is SipHash-2-4 with 128 bits, as its authors compute it")
    func hash() {
      func text(_ count: UInt8) -> String {
        var hash = SipHash(key: Array(0..<16))
        for byte in 0..<count { hash.add(byte) }
        let (first, second) = hash.value
        return [first, second].map { word in
          (0..<8).map { String(format: "%02x", UInt8(truncatingIfNeeded: word >> (8 * $0))) }.joined()
        }.joined()
      }
      // The vectors of the reference implementation.
      #expect(text(0) == "a3817f04ba25a8e66df67214c7550293")
      #expect(text(1) == "da87c1d86b99af44347659119b22fc45")
    }

    @Test(
      "Keys that come and go leave the sum of those that are there, in any order, and another one for each other set")
    func sums() throws {
      let seed = UInt64.random(in: 1...1_000_000)
      var numbers = SplitMix(seed)
      let seal = SyncSeal(key: [1, 2, 3], isHiding: true)
      let values: [StoredValue] =
        (0..<40).map { .integer($0) } + (0..<40).map { .real(Double($0)) } + (0..<40).map { .text("\($0)") }
        + (0..<40).map { .blob(Data("\($0)".utf8)) } + [.text(""), .blob(Data()), .null]
      var there: Set<StoredValue> = []
      var sum = KeySum(seal)
      var sets: [String: Set<StoredValue>] = [:]
      for _ in 0..<2000 {
        let key = try #require(values.randomElement(using: &numbers))
        if there.insert(key).inserted {
          sum.add([key])
        } else {
          there.remove(key)
          sum.subtract([key])
        }
        var anew = KeySum(seal)
        anew.add(there.shuffled(using: &numbers))
        #expect(anew == sum && anew.text == sum.text && sum.text.utf8.count == 16, "seed \(seed)")
        #expect(sets.updateValue(there, forKey: sum.text).map { $0 == there } ?? true, "seed \(seed)")
        #expect(KeySum(sum.text, seal) == sum, "seed \(seed)")
      }
      var other = KeySum(SyncSeal(key: [3, 2, 1], isHiding: true))
      other.add(there)
      #expect(there.isEmpty || other != sum, "seed \(seed)")
      #expect(KeySum(nil, seal) == nil && KeySum("", seal) == nil && KeySum("AAAA", seal) == nil)
    }
  }
#endif
