import Concord
import Dispatch
import Foundation

/// An executor that runs the tasks of actions on its own threads, so that blocking bodies do not occupy the threads of
/// Swift's concurrency.
///
/// There are at most as many threads as running actions and processors together, so that further work of the tasks goes
/// on even if all actions block. Some threads are made at once. More are made while jobs wait and all threads are
/// blocked; jobs that only suspend need few. An idle thread ends after a while.
final class ActionExecutor: TaskExecutor {
  static let shared = ActionExecutor()

  private let state = Locked(State())
  /// The semaphore of sleeping threads. Each signal is for a thread that was taken out of `idle`.
  private let wake = DispatchSemaphore(value: 0)
  private static let processors = ProcessInfo.processInfo.activeProcessorCount
  private static let lifetime = DispatchTimeInterval.seconds(5)
  /// The number of threads made at once, and the interval of checks for blocked threads.
  private static let promptThreads = 16
  private static let growthInterval = DispatchTimeInterval.milliseconds(10)

  private struct State {
    var jobs: [UnownedJob] = []
    var first = 0
    var limit = ActionExecutor.processors
    var threads = 0
    var idle = 0
    /// The number of jobs taken since the last check for blocked threads.
    var taken = 0
    var isWatched = false
  }

  private enum Step { case wake, spawn, watch, none }

  /// The number of threads.
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
      if state.threads < Self.promptThreads {
        state.threads += 1
        return .spawn
      }
      if state.isWatched { return .none }
      state.isWatched = true
      state.taken = 0
      return .watch
    }
    switch step {
    case .wake: wake.signal()
    case .spawn: spawn()
    case .watch: watch()
    case .none: break
    }
  }

  /// Looks after a while whether threads block, and makes half as many again if they do.
  private func watch() {
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.growthInterval) { [self] in
      let (new, goesOn) = state.withLock { state in
        defer { state.taken = 0 }
        let waiting = state.jobs.count - state.first
        let isBlocked = waiting > 0 && state.taken == 0
        let room = max(0, state.limit - state.threads)
        let new = isBlocked ? min(waiting, room, state.threads / 2) : 0
        state.threads += new
        state.isWatched = waiting > new
        return (new, state.isWatched)
      }
      for _ in 0..<new { spawn() }
      if goesOn { watch() }
    }
  }

  private func spawn() {
    Thread.detachNewThread {
      // For debuggers. On Linux the name is lost if the thread is faster than the one that made it.
      Thread.current.name = Self.threadName
      Thread.current.threadDictionary[Self.threadName] = true
      self.work()
    }
  }

  private static let threadName = "concord.action"

  /// Whether the calling thread belongs to an executor.
  static var isCurrent: Bool { Thread.current.threadDictionary[threadName] != nil }

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
      state.taken += 1
      return job
    }
  }

  /// Returns whether a thread that has slept may end: not if a sleeping thread is about to be woken.
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
