import ConcordPersistence
import Dispatch

extension Outbox {
  /// Reads the outbox of the stores that are attached now, and shows what is in it.
  func storesDidChange() {
    let home = coordinator.outboxHome
    let mustHold = state.withLock { state in
      if state.heldHome == home { return false }
      (state.hold, state.heldHome) = (nil, nil)
      return state.isStarted
    }
    view.showOverlay()
    readChanges()
    if mustHold { beginHolding() }
  }

  /// Sends from now on.
  func start(_ reachability: any Reachability) {
    // Nothing is sent until it is known whether it can be.
    state.withLock { ($0.isStarted, $0.isReachable) = (true, false) }
    readChanges()
    let states = reachability.states
    begin { [weak self] in
      var isKnown = false
      for await isReachable in states {
        isKnown = true
        self?.setReachable(isReachable)
      }
      // Who knows nothing holds nothing up.
      if !isKnown, !Task.isCancelled { self?.setReachable(true) }
    }
    beginHolding()
  }

  /// Becomes the one that sends, as soon as no other process is.
  private func beginHolding() {
    begin { [weak self] in
      var wasReported = false
      // That may end at any time. It is waited for with the system's clock, which is the only one that it has, too.
      while !Task.isCancelled, let isDone = self?.takeHold(&wasReported), !isDone {
        try? await Task.sleep(for: Self.holdInterval)
      }
    }
  }

  private static var holdInterval: Duration { .milliseconds(250) }

  /// - Parameter wasReported: whether a failure was, so that it is told once, however often it is tried.
  /// - Returns: whether there is nothing to be waited for.
  private func takeHold(_ wasReported: inout Bool) -> Bool {
    do {
      guard let home = coordinator.outboxHome, state.withLock({ $0.heldHome != home }) else { return true }
      guard let hold = try home.rows.holdOutbox() else { return false }
      let isTaken = state.withLock { state in
        guard state.isStarted, state.hold == nil else { return false }
        (state.hold, state.heldHome) = (hold, home)
        return true
      }
      // What another process has sent, and could not note any longer, is sent again.
      if isTaken {
        readChanges()
        sendNext()
      }
      return true
    } catch {
      if !wasReported { report(error) }
      wasReported = true
      return false
    }
  }

  /// Cancels what is being sent, and returns when nothing is. What was not answered stays.
  func stop() {
    let tasks = state.withLock { state in
      state.isStarted = false
      return Array(state.waits.values) + Array(state.running.values)
    }
    for task in tasks { task?.cancel() }
    running.wait()
    state.withLock { state in
      (state.hold, state.heldHome) = (nil, nil)
      state.lanes.wakeAll()
    }
  }

  /// Ends it, when its connect is released.
  func end() {
    let (tasks, streams) = state.withLock { state in
      state.isStarted = false
      state.hold = nil
      return (Array(state.waits.values) + Array(state.running.values), state.streams)
    }
    for task in tasks { task?.cancel() }
    for stream in streams.values { stream.finish() }
  }

  func set(_ hold: ActionScheduler.Hold, _ isOn: Bool) {
    state.withLock { state in if isOn { state.holds.insert(hold) } else { state.holds.remove(hold) } }
    sendNext()
  }

  private func setReachable(_ isReachable: Bool) {
    state.withLock { state in
      if isReachable, !state.isReachable { state.lanes.wakeAll() }
      state.isReachable = isReachable
    }
    sendNext()
  }
}
