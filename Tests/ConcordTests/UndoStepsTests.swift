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

  @Test("A step that is discarded while it is undone or redone does not come back, and neither does what takes it back")
  func discardedMeanwhile() throws {
    struct Failed: Error {}
    for isRedo in [false, true] {
      for fails in [false, true] {
        for discard in [{ $0.removeAll() }, { _ = $0.remove { $0.actionName == "Typing" } }] as [(UndoSteps) -> Void] {
          let steps = UndoSteps()
          steps.append(step(steps, 1, named: "Other")) { $0 + $1 }
          steps.append(step(steps, 2)) { $0 + $1 }
          if isRedo { _ = steps.revert(isRedo: false) { ((), $0) } }
          let body = { (step: UndoStep) throws -> (Void, UndoStep) in
            #expect(step.actionName == "Typing")
            discard(steps)
            if fails { throw Failed() }
            return ((), step)
          }
          if fails {
            #expect(throws: Failed.self) { try steps.revert(isRedo: isRedo, body) }
          } else {
            #expect(try steps.revert(isRedo: isRedo, body) != nil)
          }
          #expect(steps.steps(isRedo: true).isEmpty)
          #expect(!steps.steps(isRedo: false).contains { $0.actionName == "Typing" })
        }
      }
    }
  }

  @Test("What takes a step back goes to the other side; a step stays where its closure throws")
  func reverted() throws {
    struct Failed: Error {}
    let steps = UndoSteps()
    #expect(steps.revert(isRedo: false) { ((), $0) } == nil)
    steps.append(step(steps, 1)) { $0 + $1 }
    #expect(throws: Failed.self) { try steps.revert(isRedo: false) { _ -> (Void, UndoStep) in throw Failed() } }
    #expect(numbers(steps) == [[1]])
    _ = steps.revert(isRedo: false) { ((), $0) }
    #expect(numbers(steps) == [] && steps.steps(isRedo: true).count == 1)
    #expect(throws: Failed.self) { try steps.revert(isRedo: true) { _ -> (Void, UndoStep) in throw Failed() } }
    #expect(steps.steps(isRedo: true).count == 1)
    _ = steps.revert(isRedo: true) { ((), $0) }
    #expect(numbers(steps) == [[1]] && steps.steps(isRedo: true).isEmpty)
    _ = steps.revert(isRedo: false) { step -> (Void, UndoStep) in
      var step = step
      step.parts = []
      return ((), step)
    }
    #expect(numbers(steps) == [] && steps.steps(isRedo: true).isEmpty)
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
