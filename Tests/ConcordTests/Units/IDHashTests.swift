import Testing

@testable import Concord

@Suite("The hash of an id")
struct IDHashTests {
  @Test("A hash is never 0, which marks what is free")
  func neverZero() {
    for id in -500..<500 { #expect(IDHash.hash(id) >= 1 << 31) }
    for id in [Int.min, Int.max, .max - 1] { #expect(IDHash.hash(id) >= 1 << 31) }
    for id in ["", "a", "ACK"] { #expect(IDHash.hash(id) >= 1 << 31) }
  }

  @Test("Code that is not specialised for the type finds the same hash")
  func sameForAll() {
    let hash: (any Hashable) -> UInt32 = { IDHash.hash($0) }
    for id in [0, 1, -1, 4711, .max] { #expect(hash(id) == IDHash.hash(id)) }
    for id in ["", "ACK"] { #expect(hash(id) == IDHash.hash(id)) }
  }

  @Test("Equal ids of a type that takes different numbers have one hash")
  func anyHashable() {
    #expect(IDHash.hash(AnyHashable(7)) == IDHash.hash(AnyHashable(Int8(7))))
    #expect(IDHash.hash(AnyHashable(7)) == IDHash.hash(AnyHashable(UInt64(7))))
  }

  /// What ids look like: one after the other, in steps, as pointers, with the same low bits, as dates in milliseconds.
  @Test(
    "Numbers in a row, or in steps, are spread evenly",
    arguments: [1, 2, 3, 10, 64, 1_000, 1_024, 86_400_000, 1 << 20, 1 << 32, (1 << 40) + 1, 1 << 47])
  func isEven(step: Int) {
    let count = 1 << 14
    var random = SeededGenerator(seed: UInt64(step))
    // Whatever the secrets of the process are.
    for _ in 0..<20 {
      let hash = IDHash(random.next(), random.next())
      var found = [Int](repeating: 0, count: count)
      for i in 0..<count {
        let bits = hash.hash(i &* step)
        found[Int((bits ^ (bits >> 32)) & UInt64(count - 1))] += 1
      }
      // Of so many thrown at random into as many places, 7 or 8 meet in one at the most, and a share of 1/e stays free.
      #expect(found.max() ?? 0 <= 12)
      let free = Double(found.count { $0 == 0 }) / Double(count)
      #expect((0.34...0.40).contains(free), "a share of \(free) is free")
    }
  }
}
