import ConcordTestHeap
import Testing

@testable import Concord

@Suite("The set of stale occurrences")
struct StaleSetTests {
  /// Where words end, in the first one and beyond.
  private let edges: [Int32] = [0, 1, 31, 62, 63, 64, 65, 127, 128, 191, 192, 319, 320, 4_095, 4_096]

  @Test("It is empty until something is put in, and again when that is out")
  func emptiness() {
    for ordinal in edges {
      var set = StaleSet()
      #expect(set.isEmpty && set.ordinals().isEmpty && !set.contains(ordinal))
      set.insert(ordinal)
      #expect(!set.isEmpty && set.contains(ordinal) && set.ordinals() == [ordinal])
      set.remove(ordinal)
      #expect(set.isEmpty && set.ordinals().isEmpty && !set.contains(ordinal))
      set.insert(ordinal)
      set.removeAll()
      #expect(set.isEmpty && !set.contains(ordinal))
    }
  }

  @Test("Each ordinal is one of its own: none stands for another")
  func distinct() {
    for ordinal in edges {
      var set = StaleSet()
      set.insert(ordinal)
      for other in edges { #expect(set.contains(other) == (other == ordinal), "\(other) beside \(ordinal)") }
      #expect(!set.contains(100_000))
      for other in edges where other != ordinal { set.remove(other) }
      #expect(set.ordinals() == [ordinal])
    }
  }

  @Test("Ordinals come ascending, each once, in whatever order they were put in")
  func ascending() {
    var set = StaleSet()
    for ordinal in edges.reversed() { set.insert(ordinal) }
    for ordinal in edges { set.insert(ordinal) }
    #expect(Array(set.ordinals()) == edges)
    // What is removed and comes back is still there once.
    for ordinal in edges where ordinal % 2 == 0 { set.remove(ordinal) }
    for ordinal in edges where ordinal % 2 == 0 { set.insert(ordinal) }
    #expect(Array(set.ordinals()) == edges)
  }

  @Test("What is not in it can be removed")
  func removingTheAbsent() {
    var set = StaleSet()
    set.remove(3)
    set.remove(64)
    set.remove(10_000)
    set.insert(64)
    set.remove(64)
    set.remove(64)
    set.remove(200)
    #expect(set.isEmpty)
    set.insert(70)
    #expect(Array(set.ordinals()) == [70])
  }

  @Test("Those that come and go while one stays leave nothing")
  func boundedBesideOneThatStays() async {
    await #expect(processExitsWith: .success) {
      var set = StaleSet()
      set.insert(64)
      let before = heapInUse()
      for _ in 0..<50_000 {
        set.insert(65)
        set.remove(65)
      }
      let more = heapInUse() - before
      #expect(more < 10_000, "\(more) bytes")
      #expect(Array(set.ordinals()) == [64])
    }
  }

  @Test("Random insertions and removals, as a set has them", arguments: 0..<4)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var set = StaleSet()
    var expected: Set<Int32> = []
    for step in 0..<500 {
      let ordinal = Int32(random.below(random.chance(50) ? 70 : 300))
      if random.chance(step / 100 % 2 == 0 ? 70 : 30) {
        set.insert(ordinal)
        expected.insert(ordinal)
      } else {
        set.remove(ordinal)
        expected.remove(ordinal)
      }
      if random.chance(1) {
        set.removeAll()
        expected = []
      }
      guard Array(set.ordinals()) == expected.sorted(), set.isEmpty == expected.isEmpty,
        (0..<320).allSatisfy({ set.contains($0) == expected.contains($0) })
      else {
        Issue.record("seed \(seed), step \(step)")
        return
      }
    }
  }
}
