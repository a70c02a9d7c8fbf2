import ConcordTestHeap
import Testing

@testable import Concord

@Suite("The line of notices")
struct LineTests {
  @Test("Notices are taken in the order in which they came", arguments: [1, 1_023, 1_024, 1_025, 2_048, 3_000])
  func order(count: Int) {
    var line = Line<Int>()
    for i in 0..<count { line.enqueue(i) }
    // While half of them are worked off, as many come.
    for i in 0..<count {
      #expect(line.next == i && line.count == count)
      #expect(line.takeFirst() == i)
      line.enqueue(count + i)
    }
    for i in 0..<count { #expect(line.takeFirst() == count + i) }
    #expect(line.isEmpty && line.count == 0 && line.next == nil && line.takeFirst() == nil)
    line.enqueue(7)
    #expect(line.next == 7 && line.count == 1 && !line.isEmpty)
  }

  @Test("A line is served by one at a time, and only if something waits")
  func serving() {
    var line = Line<Int>()
    #expect(!line.serve() && !line.isServed)
    line.enqueue(1)
    #expect(line.serve() && line.isServed)
    #expect(line.serve() == false)
    line.enqueue(2)
    #expect(line.serve() == false)
    #expect(line.takeFirst() == 1 && line.takeFirst() == 2)
    // Nothing waits, but who serves has not said that it is done.
    #expect(line.isServed && !line.serve())
    line.enqueue(3)
    #expect(line.serve() == false)
    #expect(line.goOn() && line.isServed)
    #expect(line.takeFirst() == 3)
    #expect(!line.goOn() && !line.isServed)
    // From now on somebody else may serve.
    #expect(line.serve() == false)
    line.enqueue(4)
    #expect(line.serve() == true)
  }

  @Test("Nobody who does not serve is told to go on")
  func goingOnUnserved() {
    var line = Line<Int>()
    #expect(line.goOn() == false)
    line.enqueue(1)
    #expect(!line.goOn() && !line.isServed)
    #expect(line.serve() == true)
  }

  @Test("Looking at the next takes nothing, and a notice that was taken is held no longer")
  func releases() {
    final class Token {}
    var line = Line<Token>()
    weak var token: Token?
    do {
      let made = Token()
      token = made
      line.enqueue(made)
      line.enqueue(Token())
    }
    #expect(line.next === token && line.count == 2)
    _ = line.takeFirst()
    #expect(token == nil && line.count == 1)
  }

  @Test("A line that never gets empty does not grow by what was taken")
  func bounded() async {
    await #expect(processExitsWith: .success) {
      var line = Line<Int>()
      line.enqueue(-1)
      let before = heapInUse()
      for i in 0..<100_000 {
        line.enqueue(i)
        _ = line.takeFirst()
      }
      let more = heapInUse() - before
      #expect(more < 200_000 && line.count == 1, "\(more) bytes")
    }
  }

  @Test("After a peak the line gives its room back")
  func givesBack() async {
    await #expect(processExitsWith: .success) {
      var line = Line<Int>()
      let before = heapInUse()
      for i in 0..<100_000 { line.enqueue(i) }
      while line.takeFirst() != nil {}
      let more = heapInUse() - before
      #expect(more < 50_000 && line.isEmpty, "\(more) bytes")
    }
  }

  @Test("Random use, as an array has it", arguments: 0..<4)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var line = Line<Int>()
    var expected: [Int] = []
    for i in 0..<8_000 {
      if random.chance(i / 2_500 % 2 == 0 ? 90 : 10) {
        line.enqueue(i)
        expected.append(i)
      } else {
        #expect(line.takeFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
      }
      #expect(line.count == expected.count && line.next == expected.first)
    }
  }
}
