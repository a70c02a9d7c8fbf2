import Foundation

/// The cancellation of a task that waits for a block: a store learns it while a server works for the block.
// Unchecked, because the compiler cannot see that `changed` guards `state`.
package final class TaskCancellation: @unchecked Sendable {
  @TaskLocal static var entered: Entered?

  // Unchecked, because the compiler does not know that the name of a thread may be compared anywhere.
  struct Entered: @unchecked Sendable {
    let cancellation: TaskCancellation
    let thread: pthread_t
    let state = ThreadValueState()
  }

  /// The cancellation of the block that this thread runs. A task that a block begins inherits the value, but not the thread.
  package static var current: TaskCancellation? {
    guard let entered, pthread_equal(entered.thread, pthread_self()) != 0, !entered.state.isEnded else { return nil }
    return entered.cancellation
  }

  private let changed = NSCondition()
  private var state = State()
  /// The queue that ends what is run: whoever cancels does not wait for a server.
  private let endings: DispatchQueue

  init(endings: DispatchQueue = .global()) { self.endings = endings }

  private struct State {
    var isCancelled = false
    /// Ends what is run at the moment.
    var end: (@Sendable () -> Void)?
    /// Whether that is being done.
    var isEnding = false
  }

  private func locked<R>(_ body: (inout State) -> R) -> R {
    changed.lock()
    defer { changed.unlock() }
    return body(&state)
  }

  package var isCancelled: Bool { locked { $0.isCancelled } }

  /// Throws if the task that waits for the block of this thread was cancelled.
  ///
  /// - Throws: `CancellationError`.
  package static func check() throws { if current?.isCancelled == true { throw CancellationError() } }

  /// Runs a block on a queue.
  static func perform<R: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> R
  ) async throws -> R {
    let cancellation = TaskCancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async {
          let entered = Entered(cancellation: cancellation, thread: pthread_self())
          let result = Result { try $entered.withValue(entered, operation: body) }
          entered.state.isEnded = true
          continuation.resume(with: result)
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Runs a closure that another one ends, on another thread, if the task is cancelled meanwhile.
  ///
  /// It returns when the other one has returned, too, which therefore ends nothing that comes later.
  package func during<R>(end: @escaping @Sendable () -> Void, _ body: () throws -> R) rethrows -> R {
    locked { if !$0.isCancelled { $0.end = end } }
    defer {
      changed.lock()
      state.end = nil
      while state.isEnding { changed.wait() }
      changed.unlock()
    }
    return try body()
  }

  func cancel() {
    let end = locked { state in
      state.isCancelled = true
      return state.end
    }
    guard let end else { return }
    endings.async {
      // What has ended by itself meanwhile did not wait for this, which may begin late: other work may have to be ended first.
      let isRunning = self.locked { state in
        state.isEnding = state.end != nil
        return state.isEnding
      }
      guard isRunning else { return }
      end()
      self.changed.lock()
      self.state.isEnding = false
      self.changed.broadcast()
      self.changed.unlock()
    }
  }
}
