import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("Lists in blocks")
struct BlockListTests {
  @Test("A list in blocks is the array that the same steps make, and says which blocks have changed")
  func random() {
    let seed = TestOptions.seed()
    var random = SeededGenerator(seed: seed)
    let list = BlockList<Int>()
    var array: [Int] = []
    var blocks: [Int: [Int]] = [:]
    for step in 0..<400 {
      let comment: Comment = "CONCORD_RANDOM_SEED=\(seed): step \(step)"
      let count = random.pick([1, 1, 3, 200])
      switch Int.random(in: 0..<(array.count > 6_000 ? 3 : 7), using: &random) {
      case 0..<2:
        let start = Int.random(in: 0...array.count, using: &random)
        for _ in 0..<min(count * 10, array.count - start) {
          #expect(list.remove(at: start) == array.remove(at: start), comment)
        }
      case 2:
        for _ in 0..<min(count, array.count) {
          let position = Int.random(in: array.indices, using: &random)
          list.replace(at: position, with: -step)
          array[position] = -step
        }
      case 3 where step % 8 == 0:
        array = (0..<Int.random(in: 0...9_000, using: &random)).map { $0 * 2 }
        list.replaceAll(with: array)
      default:
        var position = Int.random(in: 0...array.count, using: &random)
        for number in 0..<count {
          if count < 50 { position = Int.random(in: 0...array.count, using: &random) }
          list.insert(number, at: position)
          array.insert(number, at: position)
        }
      }
      #expect(list.elements == array && list.count == array.count, comment)
      #expect(list._checkInvariants().isEmpty, comment)
      if let position = array.indices.randomElement(using: &random) { #expect(list[position] == array[position]) }
      // What it does not name is as it was.
      let touched = list.takeTouched()
      var present: [Int: [Int]] = [:]
      for branch in list.branches {
        present[branch.id] = branch.leaves.map(\.id)
        for leaf in branch.leaves { present[leaf.id] = leaf.elements }
      }
      for (id, block) in present where !touched.contains(id) { #expect(blocks[id] == block, comment) }
      for id in blocks.keys where present[id] == nil { #expect(touched.contains(id), comment) }
      blocks = present
    }
  }

  @Test("A position is found by order, also of what is not there")
  func order() {
    for count in [0, 1, 63, 64, 65, 5_000] {
      let list = BlockList<Int>()
      for number in 0..<count { list.insert(number * 2, at: list.count) }
      for number in [-1, 0, 1, count, count * 2 - 1, count * 2, count * 2 + 5] {
        #expect(list.position { $0 < number } == (0..<count).count { $0 * 2 < number })
      }
    }
  }

  @Test("What is left of a long list after removals lies in few blocks")
  func shrinks() {
    let list = BlockList<Int>()
    list.replaceAll(with: Array(0..<50_000))
    for position in 0..<1_000 { for _ in 0..<49 { list.remove(at: position) } }
    #expect(list.count == 1_000 && list._checkInvariants().isEmpty)
    #expect(list.branches.count <= 4 && list.branches.reduce(0) { $0 + $1.leaves.count } <= 130)
  }
}
