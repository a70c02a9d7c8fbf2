import Testing

@testable import Concord

@Suite("The steps of a history, changed by several threads")
struct UndoStepsTests {
  private struct Change: UndoableChange { let number: Int }

  private func step(
    _ steps: UndoSteps, _ number: Int, named name: String = "Typing", joining group: String? = nil
  ) -> UndoStep {
    UndoStep(
      id: steps.nextID(), actionName: name, context: nil, group: group.map { UndoGroup($0) },
      parts: [[Change(number: number)]])
  }

  private func numbers(_ steps: UndoSteps) -> [[Int]] {
    steps.steps(isRedo: false).map { $0.parts.flatMap { $0 }.compactMap { ($0 as? Change)?.number } }
  }

  @Test("A group that ends while a step is about to join it gets no more")
  func endedGroup() {
    let steps = UndoSteps()
    steps.append(step(steps, 1, joining: "a")) { $0 + $1 }
    steps.append(step(steps, 2, joining: "a")) { $0 + $1 }
    #expect(numbers(steps) == [[1, 2]])
    steps.append(step(steps, 3, joining: "a")) { earlier, later in
      steps.endGroup()
      return earlier + later
    }
    #expect(numbers(steps) == [[1, 2], [3]])
    steps.append(step(steps, 4, joining: "a")) { $0 + $1 }
    #expect(numbers(steps) == [[1, 2], [3, 4]])
  }

  @Test("A step that is discarded while another one is about to join it does not come back")
  func discarded() {
    let steps = UndoSteps()
    steps.append(step(steps, 1, joining: "a")) { $0 + $1 }
    steps.append(step(steps, 2, joining: "a")) { earlier, later in
      steps.removeAll()
      return earlier + later
    }
    #expect(numbers(steps) == [[2]])
  }

  @Test("Nobody is told of an earlier status after a later one")
  func lastStatus() {
    let steps = UndoSteps()
    let told = Locked<[Int: [String?]]>([:])
    let isArmed = Locked(false)
    for follower in 0..<2 {
      _ = steps.follow { status in
        told.withLock { $0[follower, default: []].append(status.undoActionName) }
        // As another thread does that is faster.
        let isFirst = isArmed.withLock { isArmed in
          defer { isArmed = false }
          return isArmed
        }
        if !isFirst { return }
        steps.append(step(steps, 2, named: "later")) { $0 + $1 }
        steps.tell()
      }
    }
    isArmed.withLock { $0 = true }
    steps.append(step(steps, 1, named: "earlier")) { $0 + $1 }
    steps.tell()
    #expect(told.withLock { $0 } == [0: [nil, "earlier", "later"], 1: [nil, "earlier", "later"]])
  }
}
