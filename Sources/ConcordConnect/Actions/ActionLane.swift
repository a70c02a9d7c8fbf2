import Concord

/// A queue of actions, of which some run at a time. It has no lock; who uses it holds the scheduler's.
struct ActionLane {
  /// The maximum number of concurrent executions.
  var limit: Int
  private(set) var running: [ObjectIdentifier: ActionExecution] = [:]
  /// The waiting executions, from `first` on. Cancelled ones stay until their turn, without their action.
  private var waiting: [ActionExecution] = []
  private var first = 0

  init(limit: Int) { self.limit = limit }

  mutating func append(_ execution: ActionExecution) { waiting.append(execution) }

  /// Begins the next one, if there is room.
  mutating func beginNext() -> ActionExecution? {
    while running.count < limit, let next = waiting.popFirst(from: &first) {
      guard next.begin() else { continue }
      running[ObjectIdentifier(next)] = next
      return next
    }
    return nil
  }

  /// Whether one runs, or waits to run.
  var isBusy: Bool { !running.isEmpty || waiting[first...].contains { $0.state == .pending } }

  mutating func didEnd(_ execution: ActionExecution) { running[ObjectIdentifier(execution)] = nil }

  /// Returns all running and waiting executions, and removes the waiting ones.
  mutating func takeAll() -> [ActionExecution] {
    defer { (waiting, first) = ([], 0) }
    return Array(waiting[first...]) + running.values
  }
}
