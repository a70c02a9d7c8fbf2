import Concord
import ConcordPersistence
import Dispatch

/// Decides which action runs when: some generic ones at a time, and one for each type of entities.
final class ActionScheduler: Sendable {
  let notices: ActionNotices
  private let state = Locked(State())
  /// The running actions.
  private let running = DispatchGroup()
  private let executor = ActionExecutor.shared

  /// The line in which an action waits.
  enum Line: Hashable, Sendable {
    case generic
    case entity(EntityDescription)
  }

  /// A reason for which no action begins.
  enum Hold: Hashable, Sendable {
    case byUser
    case protectedData
  }

  private struct State {
    var isOpen = false
    var holds: Set<Hold> = []
    var lanes: [Line: ActionLane] = [.generic: ActionLane(limit: 5)]
  }

  private typealias Begun = (execution: ActionExecution, line: Line)

  init(notices: ActionNotices) { self.notices = notices }

  // MARK: Opening and closing

  func open() { state.withLock { $0.isOpen = true } }

  /// Takes no more work, and cancels all that there is.
  func close() {
    let all = state.withLock { state in
      state.isOpen = false
      return state.lanes.keys.flatMap { state.lanes[$0]?.takeAll() ?? [] }
    }
    for execution in all { execution.cancel() }
  }

  /// Returns when nothing runs. It blocks the thread, and is not for an action.
  func waitUntilIdle() { running.wait() }

  /// Returns when all that run now have ended, or the task is cancelled.
  func ended() async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    running.notify(queue: .global()) { continuation.finish() }
    for await _ in stream {}
  }

  /// Whether something runs, or waits to run and is not held.
  var isBusy: Bool {
    state.withLock { state in
      state.lanes.values.contains { state.holds.isEmpty ? $0.isBusy : !$0.running.isEmpty }
    }
  }

  // MARK: Holding

  var isHeld: Bool { state.withLock { !$0.holds.isEmpty } }

  func isHeld(_ hold: Hold) -> Bool { state.withLock { $0.holds.contains(hold) } }

  /// Lets nothing begin, for a reason, or ends that. What runs goes on.
  func set(_ hold: Hold, _ isOn: Bool) {
    start(
      state.withLock { state in
        if isOn {
          state.holds.insert(hold)
        } else {
          state.holds.remove(hold)
        }
        return state.lanes.keys.flatMap { begin($0, &state) }
      })
  }

  /// The maximum number of generic actions that run at a time.
  var limit: Int {
    get { state.withLock { $0.lanes[.generic]?.limit ?? 1 } }
    set {
      start(
        state.withLock { state in
          state.lanes[.generic]?.limit = max(1, newValue)
          return begin(.generic, &state)
        })
    }
  }

  // MARK: Running

  /// Enqueues an action; `false` if no work is taken.
  func enqueue(_ execution: ActionExecution, _ line: Line) -> Bool {
    let begun = state.withLock { state -> [Begun]? in
      guard state.isOpen else { return nil }
      execution.enqueue()
      state.lanes[line, default: ActionLane(limit: 1)].append(execution)
      return begin(line, &state)
    }
    guard let begun else { return false }
    start(begun)
    return true
  }

  /// Begins what may begin, while the lock is held: nothing begins after a hold was set.
  private func begin(_ line: Line, _ state: inout State) -> [Begun] {
    guard state.isOpen, state.holds.isEmpty else { return [] }
    var begun: [Begun] = []
    while let next = state.lanes[line]?.beginNext() {
      running.enter()
      notices.didStart(next)
      begun.append((next, line))
    }
    return begun
  }

  private func start(_ begun: [Begun]) {
    for (execution, line) in begun {
      executor.addThread()
      execution.run(on: executor) { [self] in
        executor.removeThread()
        start(
          state.withLock { state in
            state.lanes[line]?.didEnd(execution)
            return begin(line, &state)
          })
        running.leave()
      }
    }
  }
}
