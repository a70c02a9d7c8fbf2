import ConcordPersistence
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Which action is sent next")
struct OutboxLanesTests {
  /// The same by hand: all actions in one list, looked through each time.
  private struct Model {
    var actions: [(number: Int64, lane: Int, isBlocking: Bool)] = []
    var busy: [Int: Int64] = [:]
    var delayed: Set<Int> = []

    func head(_ lane: Int) -> (number: Int64, isBlocking: Bool)? {
      actions.filter { $0.lane == lane }.min { $0.number < $1.number }.map { ($0.number, $0.isBlocking) }
    }
    var ready: Set<Int64> {
      Set(
        (0..<5).filter { busy[$0] == nil && !delayed.contains($0) }.compactMap(head).filter { !$0.isBlocking }.map(
          \.number))
    }
    var isIdle: Bool { !(0..<5).compactMap(head).contains { !$0.isBlocking } }
  }

  private func id(_ number: Int64) -> OutboxID {
    OutboxID(attachment: StoreAttachment(number: 1), epoch: 1, number: number)
  }

  @Test("A wait that something else has ended ends no later one")
  func oldWait() {
    var lanes = OutboxLanes()
    let key = OutboxLanes.Key(entity: "Book", id: .integer(1))
    let one = id(1)
    lanes.set(one, in: key, isBlocking: false)
    #expect(lanes.next()?.action == one)
    let first = lanes.end(one, in: key, isDelayed: true)
    lanes.wakeAll()
    #expect(lanes.next()?.action == one)
    let second = lanes.end(one, in: key, isDelayed: true)
    #expect(first != nil && second != nil && first != second)
    lanes.wake(key, from: first)
    #expect(lanes.next() == nil)
    lanes.wake(key, from: second)
    #expect(lanes.next()?.action == one && lanes.end(one, in: key, isDelayed: false) == nil)
  }

  @Test("Whatever happens, lanes give what is at their heads, once")
  func random() {
    let first = UInt64.random(in: 0..<1_000_000)
    for seed in first..<first + 60 {
      var generator = SeededNumbers(seed: seed)
      var lanes = OutboxLanes()
      var model = Model()
      var next: Int64 = 0
      func key(_ lane: Int) -> OutboxLanes.Key { .init(entity: "Book", id: .integer(Int64(lane))) }
      for _ in 0..<120 {
        let lane = Int.random(in: 0..<5, using: &generator)
        switch Int.random(in: 0..<9, using: &generator) {
        case 0, 1:
          next += 1
          let isBlocking = Int.random(in: 0..<6, using: &generator) == 0
          lanes.set(id(next), in: key(lane), isBlocking: isBlocking)
          model.actions.append((next, lane, isBlocking))
        case 2:
          guard let index = model.actions.indices.randomElement(using: &generator) else { continue }
          model.actions[index].isBlocking.toggle()
          let action = model.actions[index]
          lanes.set(id(action.number), in: key(action.lane), isBlocking: action.isBlocking)
        case 3:
          guard let action = model.actions.randomElement(using: &generator) else { continue }
          model.actions.removeAll { $0.number == action.number }
          lanes.remove(id(action.number), in: key(action.lane))
        case 4, 5:
          let begun = lanes.next()
          let expected = model.ready
          #expect((begun == nil) == expected.isEmpty, "seed \(seed)")
          guard let begun else { continue }
          #expect(expected.contains(begun.action.number))
          guard let lane = (0..<5).first(where: { key($0) == begun.key }) else { continue }
          model.busy[lane] = begun.action.number
        case 6:
          guard let number = model.busy[lane] else { continue }
          let isDelayed = Bool.random(using: &generator)
          lanes.end(id(number), in: key(lane), isDelayed: isDelayed)
          model.busy[lane] = nil
          if isDelayed { model.delayed.insert(lane) } else { model.delayed.remove(lane) }
        case 7:
          // What may not be sent leaves the line, and comes back when all are lined up.
          while let begun = lanes.next(where: { _ in false }) { Issue.record("began \(begun), seed \(seed)") }
          lanes.lineUpAll()
        default:
          lanes.wake(key(lane))
          model.delayed.remove(lane)
        }
        for lane in 0..<5 where model.head(lane) == nil && model.busy[lane] == nil { model.delayed.remove(lane) }
        #expect(lanes.isIdle == model.isIdle, "seed \(seed)")
      }
    }
  }
}
