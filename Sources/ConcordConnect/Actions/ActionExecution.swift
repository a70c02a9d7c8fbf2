import Concord
import ConcordPersistence
import Foundation

/// The execution of one action, which its proxy shows.
///
/// Its lock may be taken while the scheduler's is held, and never the other way round.
final class ActionExecution: ActionProxy {
  typealias Completion = @Sendable (any ActionProxy) -> Void

  let actionType: any Action.Type
  /// The delivery of the action's events.
  let notices: ActionNotices
  private let isEntityAction: Bool
  private let locked: Locked<State>

  private struct State {
    var phase = ActionState.created
    var status = ActionCompletionStatus.unknown
    var error: (any Error)?
    var isCancelled = false
    /// The action itself, until it has finished.
    var work: Work?
    var completion: Completion?
    var task: Task<Void, Never>?
    /// The tasks that wait for the end, and whether the completion block and the notices have run.
    var waiting: [CheckedContinuation<ActionCompletionStatus, Never>] = []
    var isTold = false
    var snapshot = ActionSnapshot()
    var start: ContinuousClock.Instant?
    var meter: ContextMeter?

    /// Releases the action.
    ///
    /// - Returns: the completion to be called.
    mutating func finish(_ status: ActionCompletionStatus) -> Completion? {
      phase = .finished
      self.status = status
      (work, task) = (nil, nil)
      defer { completion = nil }
      return completion
    }
  }

  struct Work: Sendable {
    let execute: @Sendable (ActionExecution) async throws -> Void
    let cancel: @Sendable () -> Void
  }

  /// The action whose code runs.
  @TaskLocal static var current: ActionExecution?

  init(
    _ actionType: any Action.Type, isEntityAction: Bool, notices: ActionNotices, work: Work, completion: Completion?
  ) {
    self.actionType = actionType
    self.notices = notices
    self.isEntityAction = isEntityAction
    locked = Locked(State(work: work, completion: completion))
  }

  // MARK: Status

  var state: ActionState { locked.withLock { $0.phase } }
  var completionStatus: ActionCompletionStatus { locked.withLock { $0.status } }
  var error: (any Error)? { locked.withLock { $0.error } }

  var statistics: any ActionStatistics {
    locked.withLock { state in
      var snapshot = state.snapshot
      if state.phase == .executing, let start = state.start {
        snapshot.executionTime = (ContinuousClock.now - start).seconds
      }
      if isEntityAction { snapshot.contextStatistics = state.meter?.snapshot ?? ContextSnapshot() }
      return snapshot
    }
  }

  func use(_ meter: ContextMeter) { locked.withLock { $0.meter = meter } }

  // MARK: Its way

  func enqueue() { locked.withLock { $0.phase = .pending } }

  /// Begins; `false` if it was cancelled before.
  func begin() -> Bool {
    locked.withLock { state in
      guard state.phase == .pending else { return false }
      state.phase = .executing
      state.snapshot.startTime = Date()
      state.start = ContinuousClock.now
      return true
    }
  }

  /// Runs the action, which has begun, in a new task.
  func run(on executor: ActionExecutor, whenEnded: @escaping @Sendable () -> Void) {
    guard let work = locked.withLock({ $0.work }) else { return }
    let task = Task(executorPreference: executor) {
      do {
        try await Self.$current.withValue(self) { try await work.execute(self) }
        self.end(nil)
      } catch {
        self.end(error)
      }
      whenEnded()
    }
    let isLate = locked.withLock { state in
      guard state.phase == .executing else { return false }
      state.task = task
      return state.isCancelled
    }
    if isLate { task.cancel() }
  }

  private func end(_ error: (any Error)?) {
    let completion = locked.withLock { state in
      if let start = state.start { state.snapshot.executionTime = (ContinuousClock.now - start).seconds }
      state.snapshot.finishTime = Date()
      let isCancellation = error is CancellationError
      if !isCancellation { state.error = error }
      let isCancelled = state.isCancelled || isCancellation
      return state.finish(isCancelled ? .canceled : error == nil ? .successful : .failed)
    }
    notices.didFinish(self, completion)
  }

  func cancel() {
    let step = locked.withLock {
      state -> (work: Work?, task: Task<Void, Never>?, completion: Completion?, ends: Bool)? in
      guard state.phase != .finished, !state.isCancelled else { return nil }
      state.isCancelled = true
      let (work, task) = (state.work, state.task)
      if state.phase == .executing { return (work, task, nil, false) }
      return (work, nil, state.finish(.canceled), true)
    }
    guard let step else { return }
    step.task?.cancel()
    step.work?.cancel()
    if step.ends { notices.didFinish(self, step.completion) }
  }

  // MARK: Waiting for the end

  func finished() async -> ActionCompletionStatus {
    await withCheckedContinuation { continuation in
      let status = locked.withLock { state -> ActionCompletionStatus? in
        if state.isTold { return state.status }
        state.waiting.append(continuation)
        return nil
      }
      if let status { continuation.resume(returning: status) }
    }
  }

  /// Resumes the tasks that wait for the end.
  func didTell() {
    let (waiting, status) = locked.withLock { state in
      state.isTold = true
      defer { state.waiting = [] }
      return (state.waiting, state.status)
    }
    for continuation in waiting { continuation.resume(returning: status) }
  }
}
