import Foundation
import Testing

@testable import Concord

@Suite("Interval trees")
struct IntervalTreeTests {
  private final class Member {
    let interval: ValueInterval<Int>
    init(_ interval: ValueInterval<Int>) { self.interval = interval }
  }

  private func bound(_ generator: inout SeededGenerator) -> ValueInterval<Int>.Bound? {
    generator.below(8) == 0 ? nil : .init(generator.below(30), isIncluded: generator.chance(50))
  }

  @Test("A tree finds what a search through all finds: also empty, equal and endless intervals", arguments: 0..<20)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var tree = IntervalTree<Int, Member>()
    var members: [Member] = []
    for _ in 0..<400 {
      if !members.isEmpty, generator.chance(45) {
        let member = members.remove(at: generator.below(members.count))
        tree.remove(member, member.interval)
      } else {
        let member = Member(ValueInterval(lower: bound(&generator), upper: bound(&generator)))
        members.append(member)
        tree.insert(member, member.interval)
      }
      #expect(tree.isEmpty == members.isEmpty)
      let (value, other) = (generator.below(31), generator.chance(50) ? generator.below(31) : nil)
      var found: [ObjectIdentifier] = []
      tree.forEach(around: value, butNot: other) { found.append(ObjectIdentifier($0)) }
      let wanted = members.filter { member in
        member.interval.contains(value) && !(other.map { member.interval.contains($0) } ?? false)
      }
      #expect(found.count == wanted.count && Set(found) == Set(wanted.map { ObjectIdentifier($0) }))
    }
    for member in members { tree.remove(member, member.interval) }
    #expect(tree.isEmpty)
  }

  @Test("Finding costs the logarithm of the number of intervals, for each that is found", arguments: [1_000, 20_000])
  func looks(count: Int) {
    var tree = IntervalTree<Int, Member>()
    // In order, by which a tree that is not balanced would become a list.
    let members = (0..<count).map {
      Member(ValueInterval(lower: .init($0, isIncluded: true), upper: .init($0 + 1, isIncluded: false)))
    }
    for member in members { tree.insert(member, member.interval) }
    let height = Int(log2(Double(count)))
    #expect(tree.depth <= 4 * height)
    for value in stride(from: 0, to: count, by: count / 100) {
      var found = 0
      #expect(tree.forEach(around: value) { _ in found += 1 } <= 8 * height)
      #expect(found == 1)
    }
    // One interval is around all: it makes no other one be looked at.
    let whole = Member(ValueInterval())
    tree.insert(whole, whole.interval)
    for value in [-1, count / 2, count + 1] {
      var found = 0
      #expect(tree.forEach(around: value) { _ in found += 1 } <= 8 * height)
      #expect(found == (value == count / 2 ? 2 : 1))
    }
  }

  @Test("Intervals are compared by their bounds")
  func bounds() {
    typealias Interval = ValueInterval<Int>
    let closed = Interval(lower: .init(1, isIncluded: true), upper: .init(3, isIncluded: true))
    let open = Interval(lower: .init(1, isIncluded: false), upper: .init(3, isIncluded: false))
    #expect([0, 1, 2, 3, 4].map(closed.contains) == [false, true, true, true, false])
    #expect([0, 1, 2, 3, 4].map(open.contains) == [false, false, true, false, false])
    #expect(closed.precedes(open) && !open.precedes(closed) && !closed.precedes(closed))
    for (a, b) in [(closed, open), (open, closed)] {
      #expect([0, 1, 2, 3, 4].map(a.intersection(b).contains) == [false, false, true, false, false])
    }
    #expect(Interval().precedes(closed) && !closed.precedes(Interval()))
    let half = Interval(upper: .init(2, isIncluded: true)).intersection(Interval(lower: .init(2, isIncluded: true)))
    #expect([1, 2, 3].map(half.contains) == [false, true, false])
  }
}
