import ConcordTestHeap
import Testing

@testable import Concord

@Suite("What waits to be told")
struct NoticeBufferTests {
  @Test("Of what waits, so many of the newest stay, and the others come back one by one", arguments: [1, 2, 16, .max])
  func limit(_ limit: Int) {
    var box = NoticeBuffer<Int>(limit: limit)
    for i in 0..<300 {
      let dropped = box.append(i)
      #expect(dropped == (i >= limit ? i - limit : nil))
      #expect(box.count == min(limit, i + 1))
    }
    let first = max(0, limit < 300 ? 300 - limit : 0)
    #expect(box.takeAll() == Array(first..<300))
    #expect(box.count == 0 && box.takeAll().isEmpty)
  }

  @Test("An empty box gives nothing, before and after")
  func empty() {
    var box = NoticeBuffer<Int>(limit: 1)
    #expect(box.takeFirst() == nil && box.takeAll().isEmpty && box.count == 0)
    _ = box.append(1)
    #expect(box.takeFirst() == 1 && box.takeFirst() == nil && box.count == 0)
    _ = box.append(2)
    #expect(box.takeAll() == [2] && box.takeFirst() == nil)
  }

  @Test(
    "What is taken is in order, also when more than 64 wait and more come", arguments: [63, 64, 65, 127, 128, 1_000])
  func order(count: Int) {
    var box = NoticeBuffer<Int>(limit: .max)
    for i in 0..<count { _ = box.append(i) }
    for i in 0..<count {
      #expect(box.takeFirst() == i)
      _ = box.append(count + i)
      #expect(box.count == count)
    }
    for i in 0..<count / 2 { #expect(box.takeFirst() == count + i) }
    #expect(box.takeAll() == Array(count + count / 2..<2 * count))
  }

  @Test("A value that was taken, dropped or cleared out is held no longer")
  func releases() {
    final class Token {}
    var box = NoticeBuffer<Token>(limit: 2)
    weak var (dropped, taken, cleared): (Token?, Token?, Token?)
    do {
      let tokens = [Token(), Token(), Token()]
      (dropped, taken, cleared) = (tokens[0], tokens[1], tokens[2])
      for token in tokens { _ = box.append(token) }
    }
    #expect(dropped == nil && taken != nil && cleared != nil)
    _ = box.takeFirst()
    #expect(taken == nil && cleared != nil)
    _ = box.takeAll()
    #expect(cleared == nil)
  }

  @Test("After a peak the box gives its room back")
  func givesBack() async {
    await #expect(processExitsWith: .success) {
      var box = NoticeBuffer<Int>(limit: .max)
      let before = heapInUse()
      for i in 0..<100_000 { _ = box.append(i) }
      while box.count > 1 { _ = box.takeFirst() }
      let more = heapInUse() - before
      #expect(more < 50_000 && box.takeFirst() == 99_999, "\(more) bytes")
    }
  }

  @Test("Random use, as an array has it", arguments: [1, 2, 16, 100, .max])
  func random(limit: Int) {
    var random = SeededGenerator(seed: 5)
    var box = NoticeBuffer<Int>(limit: limit)
    var expected: [Int] = []
    for i in 0..<2_000 {
      switch random.below(1_000) {
      case 0..<2:
        #expect(box.takeAll() == expected)
        expected = []
      case 2..<(i / 500 % 2 == 0 ? 300 : 600):
        #expect(box.takeFirst() == (expected.isEmpty ? nil : expected.removeFirst()))
      default:
        expected.append(i)
        #expect(box.append(i) == (expected.count > limit ? expected.removeFirst() : nil))
      }
      #expect(box.count == expected.count)
    }
    #expect(box.takeAll() == expected)
  }
}
