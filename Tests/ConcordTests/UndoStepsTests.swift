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

  @Test("The last step is kept, however many changes it has, and ends what was before it")
  func largeStep() {
    let steps = UndoSteps()
    func large(_ count: Int) -> UndoStep {
      UndoStep(
        id: steps.nextID(), actionName: "\(count)", context: nil, group: nil,
        parts: [Array(repeating: Change(number: 0), count: count)])
    }
    func sizes() -> [Int] { steps.steps(isRedo: false).map(\.size) }
    for count in [1, 50_000, 50_000] { steps.append(large(count)) { $0 + $1 } }
    #expect(sizes() == [50_000, 50_000])
    steps.append(large(100_001)) { $0 + $1 }
    #expect(sizes() == [100_001])
    steps.append(large(1)) { $0 + $1 }
    #expect(sizes() == [1])
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
          if isRedo { _ = steps.revert(isRedo: false) { ([], $0) } }
          let body = { (step: UndoStep) throws -> ([UndoConflict], UndoStep) in
            #expect(step.actionName == "Typing")
            discard(steps)
            if fails { throw Failed() }
            return ([], step)
          }
          if fails {
            #expect(throws: Failed.self) { try steps.revert(isRedo: isRedo, body) }
          } else {
            #expect(try steps.revert(isRedo: isRedo, body).get().step.actionName == "Typing")
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
    let fail = { (_: UndoStep) throws -> ([UndoConflict], UndoStep) in throw Failed() }
    let steps = UndoSteps()
    #expect(throws: UndoError.self) { try steps.revert(isRedo: false) { ([], $0) }.get() }
    steps.append(step(steps, 1)) { $0 + $1 }
    #expect(throws: Failed.self) { try steps.revert(isRedo: false, fail) }
    #expect(numbers(steps) == [[1]])
    _ = steps.revert(isRedo: false) { ([], $0) }
    #expect(numbers(steps) == [] && steps.steps(isRedo: true).count == 1)
    #expect(throws: Failed.self) { try steps.revert(isRedo: true, fail) }
    #expect(steps.steps(isRedo: true).count == 1)
    _ = steps.revert(isRedo: true) { ([], $0) }
    #expect(numbers(steps) == [[1]] && steps.steps(isRedo: true).isEmpty)
  }

  @Test("A step of which nothing was done is gone, and is overtaken if something was left as it is", arguments: [0, 1])
  func nothingDone(_ count: Int) throws {
    let steps = UndoSteps()
    steps.append(step(steps, 1)) { $0 + $1 }
    let conflict = UndoConflict(type: Int.self, id: 1, property: nil, reason: .changedSince)
    let result = steps.revert(isRedo: false) { step in
      var step = step
      step.parts = []
      return (Array(repeating: conflict, count: count), step)
    }
    switch result {
    case .success(let result): #expect(count == 0 && result.conflicts.isEmpty)
    case .failure(.overtaken(let step, let conflicts)): #expect(count == conflicts.count && step.actionName == "Typing")
    case .failure(let error): Issue.record(error)
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
