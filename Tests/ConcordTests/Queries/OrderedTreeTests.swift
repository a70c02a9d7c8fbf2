import Foundation
import Testing

@testable import Concord

@Suite("Ordered trees and exact sums")
struct OrderedTreeTests {
  @Test("A tree keeps its order and invariants, and the difference of two is what one of them has", arguments: 0..<20)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    func precedes(_ a: AnyEntry, _ b: AnyEntry) -> Bool { a.number < b.number }
    let bound = generator.pick([20, 300, 5_000])
    var numbers = Set((0..<generator.below(bound)).map { _ in UInt64(generator.below(bound)) })
    var tree = OrderedTree<AnyEntry>(sorted: ContiguousArray(numbers.sorted().map { AnyEntry(number: $0) }))
    for _ in 0..<40 {
      let old = tree
      for _ in 0..<generator.below(generator.pick([3, 60])) {
        let number = UInt64(generator.below(bound))
        if numbers.contains(number), generator.below(3) == 0 {
          let found = tree.first { $0.number < number }
          if let found { tree.replace(at: found.position, by: AnyEntry(number: number)) }
          #expect(found?.element.number == number)
        } else if numbers.remove(number) != nil {
          #expect(
            tree.remove {
              $0.number == number
            } notBefore: {
              $0.number < number
            } != nil)
        } else {
          numbers.insert(number)
          tree.insert(AnyEntry(number: number), precedes)
        }
      }
      #expect(tree.map(\.number) == numbers.sorted())
      #expect(tree.root._checkInvariants() == [])
      let start = generator.below(bound)
      for window in [0..<Int.max, start..<start + 1 + generator.below(50)] {
        let (before, after) = (
          Array(old.dropFirst(window.lowerBound).prefix(window.count)),
          Array(tree.dropFirst(window.lowerBound).prefix(window.count))
        )
        let changes = tree.changes(from: old, in: window) {
          $0.number == $1.number ? .same : $0.number < $1.number ? .before : .after
        }
        let (known, present) = (Set(before.map(ObjectIdentifier.init)), Set(after.map(ObjectIdentifier.init)))
        #expect(
          changes.removed.map(\.offset) == before.indices.filter { !present.contains(ObjectIdentifier(before[$0])) })
        #expect(changes.inserted.map(\.offset) == after.indices.filter { !known.contains(ObjectIdentifier(after[$0])) })
        #expect(changes.removed.allSatisfy { before[$0.offset] === $0.element })
        #expect(changes.inserted.allSatisfy { after[$0.offset] === $0.element })
      }
    }
  }

  @Test(
    "The difference of two trees looks at what surrounds what differs, and not at the rest",
    arguments: [1_000, 100_000])
  func looks(count: Int) {
    func precedes(_ a: AnyEntry, _ b: AnyEntry) -> Bool { a.number < b.number }
    func compare(_ a: AnyEntry, _ b: AnyEntry) -> Precedence {
      a.number == b.number ? .same : precedes(a, b) ? .before : .after
    }
    let old = OrderedTree<AnyEntry>(sorted: ContiguousArray((0..<UInt64(count)).map { AnyEntry(number: $0 * 2) }))
    for (from, to) in [(0.01, 0.99), (0.99, 0.01), (0.5, 0.501), (0.2, 0.8)] {
      let (gone, come) = (UInt64(from * Double(count)) * 2, UInt64(to * Double(count)) * 2 + 1)
      var tree = old
      tree.remove {
        $0.number == gone
      } notBefore: {
        $0.number < gone
      }
      tree.insert(AnyEntry(number: come), precedes)
      let changes = tree.changes(from: old, in: 0..<Int.max, compare)
      #expect(changes.removed.map(\.element.number) == [gone] && changes.inserted.map(\.element.number) == [come])
      // Two paths of four nodes, with their neighbours.
      #expect(changes.looks <= 2 * 4 * (TreeNode.most + 4))
      // What comes into a window, or leaves it, is as much.
      let window = 100..<150
      #expect(tree.changes(from: old, in: window, compare).looks <= 2 * 4 * (TreeNode.most + 4))
      #expect(tree.changes(from: old, in: 0..<Int.max, any: true, compare).looks <= changes.looks)
    }
  }

  @Test("A sum is exact whatever the order, and does not remember what was taken away", arguments: 0..<50)
  func sums(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var sum = ExactSum()
    // Multiples of a power of two, whose sums a wide integer has exactly.
    var (whole, numbers) = (Int128(0), [Double]())
    let scale = generator.pick([0x1p-1074, 0x1p-40, 1, 0x1p900])
    for _ in 0..<200 {
      let units = Int64(truncatingIfNeeded: generator.next()) >> Int64(11 + generator.below(53))
      numbers.append(Double(units) * scale)
      whole += Int128(units)
      sum.add(Double(units) * scale)
      #expect(sum.value == Double(whole) * scale)
    }
    for number in [Double.infinity, .nan, -.infinity, 1e308, -.leastNonzeroMagnitude] {
      let before = sum.value
      sum.add(number)
      if !number.isFinite { #expect(!sum.value.isFinite) }
      sum.remove(number)
      #expect(sum.value == before)
    }
    for number in numbers { sum.remove(number) }
    #expect(sum.value == 0)
  }
}
