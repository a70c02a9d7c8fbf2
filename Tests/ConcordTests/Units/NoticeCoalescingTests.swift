import Testing

@testable import Concord

@Suite("The state of an observer's notices")
struct NoticeCoalescingTests {
  private func started() -> NoticeCoalescing {
    var state = NoticeCoalescing()
    _ = state.start()
    return state
  }

  @Test("What does not change in the first call needs no notice after it")
  func quietStart() {
    var state = NoticeCoalescing()
    #expect(state.phase == .starting && !state.hasMissed && !state.isPending)
    #expect(state.start() == false)
    #expect(state.phase == .active && !state.isPending)
    // A second start is none.
    #expect(!state.start() && state.phase == .active)
  }

  @Test("What changes in the first call is one notice after it", arguments: [false, true])
  func changeWhileStarting(isBuffered: Bool) {
    var state = NoticeCoalescing()
    #expect(!state.change(isBuffered: isBuffered) && !state.change(isBuffered: isBuffered))
    #expect(state.hasMissed && !state.isPending)
    #expect(state.start() == true)
    #expect(state.phase == .active && state.isPending && !state.hasMissed && !state.tellsLast)
    #expect(state.take() && !state.isPending)
  }

  @Test("While a notice waits, another change needs none; where each counts, it does")
  func coalescing() {
    var state = started()
    #expect(state.change(isBuffered: false) && state.isPending)
    #expect(!state.change(isBuffered: false) && state.isPending)
    #expect(state.take() && !state.isPending)
    #expect(state.change(isBuffered: false) == true)
    var buffered = started()
    for _ in 0..<3 { #expect(buffered.change(isBuffered: true) && buffered.isPending) }
    for _ in 0..<3 { #expect(buffered.take() == true) }
    #expect(!buffered.isPending)
  }

  @Test("Paused in the first call, nothing comes until resuming, and then only if something was missed")
  func pausedInFirstCall() {
    var quiet = NoticeCoalescing()
    quiet.pause()
    #expect(quiet.phase == .starting)
    #expect(!quiet.start() && quiet.phase == .paused)
    #expect(!quiet.resume(isBuffered: false) && quiet.phase == .active && !quiet.tellsLast)
    for changesBefore in [true, false] {
      var state = NoticeCoalescing()
      if changesBefore { _ = state.change(isBuffered: false) }
      state.pause()
      if !changesBefore { #expect(state.change(isBuffered: false) == false) }
      #expect(!state.start() && state.phase == .paused && state.hasMissed && !state.isPending)
      #expect(state.change(isBuffered: false) == false)
      #expect(
        state.resume(isBuffered: false) && state.phase == .active && state.isPending && state.tellsLast
          && !state.hasMissed)
      #expect(state.take() == true)
    }
  }

  @Test("Paused and resumed in the first call is as if neither had been")
  func resumedInFirstCall() {
    var state = NoticeCoalescing()
    state.pause()
    #expect(!state.resume(isBuffered: false) && state.phase == .starting)
    #expect(state.change(isBuffered: false) == false)
    #expect(state.start() && state.phase == .active && !state.tellsLast)
    var pausedAgain = NoticeCoalescing()
    pausedAgain.pause()
    _ = pausedAgain.resume(isBuffered: false)
    pausedAgain.pause()
    #expect(!pausedAgain.start() && pausedAgain.phase == .paused)
  }

  @Test("What is missed while paused is one notice, which tells the last value even of what is gone")
  func missedWhilePaused() {
    var state = started()
    state.pause()
    #expect(state.phase == .paused)
    state.pause()
    #expect(!state.change(isBuffered: false) && !state.change(isBuffered: false) && state.hasMissed)
    #expect(state.resume(isBuffered: false) && state.isPending && state.tellsLast && !state.hasMissed)
    // A second one resumes nothing.
    #expect(state.resume(isBuffered: false) == false)
    #expect(state.change(isBuffered: false) == false)
    #expect(state.take() && state.tellsLast)
    state.didTake()
    let isTold = state.tell()
    #expect(!state.tellsLast && isTold)
    #expect(state.change(isBuffered: false) == true)
  }

  @Test("Pausing without a change in between costs no notice")
  func pausedInVain() {
    var state = started()
    state.pause()
    #expect(!state.resume(isBuffered: false) && state.phase == .active && !state.isPending && !state.tellsLast)
    // What waited before the pause still waits, and is told if its turn comes after it.
    _ = state.change(isBuffered: false)
    state.pause()
    #expect(!state.resume(isBuffered: false) && state.isPending)
    #expect(state.change(isBuffered: false) == false)
    #expect(state.take() == true)
  }

  @Test("A notice whose turn comes during a pause is missed, not lost")
  func turnDuringPause() {
    var state = started()
    _ = state.change(isBuffered: false)
    state.pause()
    #expect(!state.take() && state.hasMissed && !state.isPending)
    #expect(state.resume(isBuffered: false) && state.isPending)
    #expect(state.take() == true)
  }

  @Test("A notice that waits since before a pause stands for what was missed in it, too")
  func waitingSinceBeforePause() {
    var state = started()
    #expect(state.change(isBuffered: false) == true)
    for _ in 0..<3 {
      state.pause()
      #expect(state.change(isBuffered: false) == false)
      #expect(state.resume(isBuffered: false) == false, "one waits already")
      #expect(state.isPending && state.tellsLast && !state.hasMissed)
    }
    #expect(state.take() == true)
    #expect(!state.isPending)
  }

  @Test("What was taken, and is then paused before it is told, is missed, not lost")
  func pausedWhenTaken() {
    var state = started()
    _ = state.change(isBuffered: false)
    #expect(state.take() == true)
    state.didTake()
    state.pause()
    #expect(state.tell() == false)
    #expect(state.hasMissed)
    #expect(state.resume(isBuffered: false) && state.tellsLast)
    #expect(state.take() == true)
    #expect(state.tell() == true)
    #expect(!state.hasMissed)
    #expect(state.end() == true)
    #expect(state.tell() == false)
    #expect(!state.hasMissed)
  }

  @Test("A first call that is put off is told in turn, whatever became of the entity, unless all is removed")
  func putOffFirst() {
    for isDropped in [false, true] {
      var state = NoticeCoalescing()
      state.putOffFirst()
      if isDropped { state.drop() }
      #expect(state.start() == true)
      #expect(state.take() == true)
      #expect(state.tellsLast == !isDropped)
      // Only while it starts.
      state.didTake()
      state.putOffFirst()
      #expect(!state.tellsLast && !state.hasMissed)
    }
  }

  @Test("What was missed before all was removed is not told after a pause, what comes later is", arguments: 0..<4)
  func droppedWhilePaused(order: Int) {
    var state = started()
    switch order {
    case 0:
      state.pause()
      _ = state.change(isBuffered: false)
      state.drop()
    case 1:
      // A notice waits, and has its turn during the pause.
      _ = state.change(isBuffered: false)
      state.pause()
      state.drop()
      let isTaken = state.take()
      #expect(!isTaken)
    case 2:
      _ = state.change(isBuffered: false)
      state.drop()
      state.pause()
      let isTaken = state.take()
      #expect(!isTaken)
    default:
      state = NoticeCoalescing()
      state.putOffFirst()
      state.pause()
      state.drop()
      let isStarted = state.start()
      #expect(!isStarted)
    }
    #expect(!state.hasMissed)
    #expect(state.resume(isBuffered: false) == false)
    #expect(!state.tellsLast)
    state.pause()
    #expect(state.change(isBuffered: false) == false)
    #expect(state.resume(isBuffered: false) == true)
    #expect(state.tellsLast)
  }

  @Test("A turn that comes while the first call lasts is missed, not lost")
  func turnWhileStarting() {
    var state = NoticeCoalescing()
    #expect(!state.take() && state.hasMissed)
    #expect(state.start() == true)
  }

  @Test("What has ended ends once, and nothing brings it back")
  func ended() {
    for phase in 0..<3 {
      var state = NoticeCoalescing()
      if phase > 0 { _ = state.start() }
      if phase == 1 { _ = state.change(isBuffered: false) }
      if phase == 2 {
        state.pause()
        _ = state.change(isBuffered: false)
      }
      #expect(state.end() && state.phase == .ended)
      #expect(state.end() == false)
      #expect(!state.change(isBuffered: false) && !state.change(isBuffered: true))
      #expect(!state.take() && !state.start() && !state.resume(isBuffered: false))
      state.pause()
      #expect(!state.resume(isBuffered: false) && state.phase == .ended)
    }
  }

  @Test(
    "However it is driven, the newest is told once its turn has come, and one notice waits at most", arguments: 0..<40)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var state = NoticeCoalescing()
    var waiting = 0
    // What the first call told.
    var (newest, told) = (0, 0)
    var (isStarted, isPaused) = (false, false)
    for step in 0..<200 {
      switch random.below(isStarted ? 9 : 10) {
      case 0..<4:
        newest += 1
        if state.change(isBuffered: false) { waiting += 1 }
      case 4:
        state.pause()
        isPaused = true
      case 5, 6:
        if state.resume(isBuffered: false) { waiting += 1 }
        isPaused = false
      case 7, 8:
        while waiting > 0 {
          waiting -= 1
          guard state.take() else { continue }
          #expect(isStarted && !isPaused && told < newest, "seed \(seed), step \(step)")
          let taken = newest
          state.didTake()
          // Other callbacks of the same turn come first, and other threads write.
          if random.chance(20) {
            state.pause()
            isPaused = true
          }
          if random.chance(20) {
            newest += 1
            if state.change(isBuffered: false) { waiting += 1 }
          }
          if state.tell() { told = taken }
        }
        if isStarted, !isPaused { #expect(told == newest, "seed \(seed), step \(step)") }
      default:
        if state.start() { waiting += 1 }
        isStarted = true
      }
      #expect(waiting <= 1 && state.isPending == (waiting == 1), "seed \(seed), step \(step)")
      if isStarted, !isPaused, told < newest { #expect(waiting == 1, "seed \(seed), step \(step)") }
    }
  }

  @Test("Where each counts, values are told in order, and after a pause the newest first", arguments: 0..<40)
  func randomBuffered(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var state = started()
    var box = NoticeBuffer<Int>(limit: .max)
    var (waiting, newest) = (0, 0)
    var told: [Int] = []
    var (isPaused, wasPaused) = (false, false)
    func turn() {
      while waiting > 0 {
        waiting -= 1
        let value = box.takeFirst()
        if state.take(), let value { told.append(value) }
      }
    }
    func resume() {
      isPaused = false
      guard state.resume(isBuffered: true) else { return }
      _ = box.takeAll()
      _ = box.append(newest)
      waiting += 1
    }
    for _ in 0..<200 {
      switch random.below(10) {
      case 0..<5:
        newest += 1
        if state.change(isBuffered: true) {
          _ = box.append(newest)
          waiting += 1
        }
      case 5:
        state.pause()
        (isPaused, wasPaused) = (true, true)
      case 6, 7: resume()
      default:
        turn()
        if isPaused { #expect(box.count == 0) } else if newest > 0 { #expect(told.last == newest) }
      }
      if !wasPaused { #expect(waiting == box.count) }
    }
    resume()
    turn()
    #expect(told.last == newest && zip(told, told.dropFirst()).allSatisfy { $0 < $1 }, "seed \(seed): \(told)")
  }
}
