import Dispatch
import Synchronization
import Testing

@testable import Concord

@Suite("The count of holders")
struct HolderCountTests {
  @Test("It counts those that came and went; the last needs the lock to go")
  func counting() {
    let holders = HolderCount()
    #expect(holders.count == 0 && !holders.removeUnlessLast())
    holders.add()
    #expect(holders.count == 1 && !holders.removeUnlessLast() && holders.count == 1)
    holders.add()
    #expect(holders.count == 2 && holders.removeUnlessLast() && holders.count == 1)
    #expect(holders.removeUnlessLast() == false)
    holders.remove()
    #expect(holders.count == 0)
  }

  @Test("It goes on where its numbers wrap around", arguments: [Int32.max - 2, .max, .min, -2, 0])
  func wrapping(start: Int32) {
    let holders = HolderCount(startingAt: start)
    #expect(holders.count == 0)
    for expected in 1...5 as ClosedRange<Int32> {
      holders.add()
      #expect(holders.count == expected)
    }
    for expected in (1...4 as ClosedRange<Int32>).reversed() {
      #expect(holders.removeUnlessLast() && holders.count == expected)
    }
    #expect(holders.removeUnlessLast() == false)
    holders.remove()
    #expect(holders.count == 0)
  }

  @Test("Of holders that leave at once on many threads, exactly one is the last")
  func threads() {
    final class Shared: @unchecked Sendable { let holders = HolderCount() }
    for _ in 0..<20 {
      let shared = Shared()
      let last = Atomic<Int>(0)
      for _ in 0..<64 { shared.holders.add() }
      DispatchQueue.concurrentPerform(iterations: 64) { _ in
        if !shared.holders.removeUnlessLast() { last.add(1, ordering: .relaxed) }
      }
      #expect(last.load(ordering: .relaxed) == 1 && shared.holders.count == 1)
    }
  }
}
