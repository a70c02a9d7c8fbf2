import Concord
import Dispatch
import Foundation

/// Runs the tasks of actions on threads of its own, so that bodies that block do not hold those of Swift's concurrency.
///
/// There are as many threads as there is work for, and at most one for each action that runs and one for each processor: also
/// if all actions block, what else their tasks have begun goes on. A thread that has had nothing to do for a while ends.
final class ActionExecutor: TaskExecutor {
  static let shared = ActionExecutor()

  private let state = Locked(State())
  /// Where threads sleep. Each signal is for one that was taken out of `idle`.
  private let wake = DispatchSemaphore(value: 0)
  private static let lifetime = DispatchTimeInterval.seconds(5)

  private struct State {
    var jobs: [UnownedJob] = []
    var first = 0
    var limit = ProcessInfo.processInfo.activeProcessorCount
    var threads = 0
    var idle = 0
  }

  private enum Step { case wake, spawn, none }

  /// How many threads there are.
  var threadCount: Int { state.withLock { $0.threads } }

  /// Lets one thread more be made.
  func addThread() { state.withLock { $0.limit += 1 } }
  func removeThread() { state.withLock { $0.limit -= 1 } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let step = state.withLock { state -> Step in
      state.jobs.append(job)
      if state.idle > 0 {
        state.idle -= 1
        return .wake
      }
      guard state.threads < state.limit else { return .none }
      state.threads += 1
      return .spawn
    }
    switch step {
    case .wake: wake.signal()
    case .spawn: spawn()
    case .none: break
    }
  }

  private func spawn() {
    let thread = Thread { self.work() }
    thread.name = "concord.action"
    thread.start()
  }

  private func work() {
    while true {
      while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
      if wake.wait(timeout: .now() + Self.lifetime) == .timedOut, ends() { return }
    }
  }

  private func next() -> UnownedJob? {
    state.withLock { state in
      guard let job = state.jobs.popFirst(from: &state.first) else {
        state.idle += 1
        return nil
      }
      return job
    }
  }

  /// Whether a thread that has slept may end: not if a signal is on its way to one of those that sleep.
  private func ends() -> Bool {
    let ends = state.withLock { state in
      guard state.idle > 0 else { return false }
      state.idle -= 1
      state.threads -= 1
      return true
    }
    if !ends { wake.wait() }
    return ends
  }
}
