import Dispatch

/// A queue for each environment that merges asynchronously, registered or not.
final class EnvironmentQueues: Sendable {
  static let shared = EnvironmentQueues()

  // Unchecked because of the weak reference, which is only compared.
  struct Entry: @unchecked Sendable {
    weak var environment: (any ConsistentEnvironment)?
    let queue: DispatchQueue
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of entries at which those of environments that have gone are removed.
    var limit = 16
  }

  private let state = Locked(State())

  func queue(for environment: any ConsistentEnvironment) -> DispatchQueue {
    let key = ObjectIdentifier(environment)
    return state.withLock { state in
      // An address is used again after its object has gone.
      if let entry = state.entries[key], entry.environment != nil { return entry.queue }
      if state.entries.count >= state.limit {
        state.entries = state.entries.filter { $0.value.environment != nil }
        state.limit = max(16, state.entries.count * 2)
      }
      let queue = DispatchQueue(label: "concord.consistency.environment", qos: .userInitiated)
      state.entries[key] = Entry(environment: environment, queue: queue)
      return queue
    }
  }

  /// Runs `work` on the queue of the environment, then `completion` with its result on the main queue.
  func run<Result>(
    _ work: @escaping () -> Result, for environment: any ConsistentEnvironment,
    thenOnMain completion: @escaping (Result) -> Void
  ) {
    let work = Unchecked(work)
    let completion = Unchecked(completion)
    queue(for: environment).async {
      let result = Unchecked(work.value())
      DispatchQueue.main.async { completion.value(result.value) }
    }
  }
}
