import Concord
import Dispatch

/// The queues of environments that merge asynchronously, registered or not.
///
/// A queue exists as long as it has work. So no reference to the environment is needed, which may belong to an actor.
final class EnvironmentQueues: Sendable {
  static let shared = EnvironmentQueues()

  private struct Entry {
    let queue: DispatchQueue
    /// The number of enqueued merges that are not done.
    var pending = 0
  }

  private let entries = Locked<[ObjectIdentifier: Entry]>([:])

  /// The number of environments that are merging.
  var count: Int { entries.withLock { $0.count } }

  /// Runs `work` on the queue of the environment, then `completion` with its result on the main actor.
  func run<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result, for environment: AnyObject,
    thenOnMain completion: @escaping @MainActor (Result) -> Void
  ) {
    let key = ObjectIdentifier(environment)
    begin(key).async {
      let result = work()
      DispatchQueue.main.async { completion(result) }
      self.end(key)
    }
  }

  private func begin(_ key: ObjectIdentifier) -> DispatchQueue {
    entries.withLock { entries in
      var entry =
        entries[key] ?? Entry(queue: DispatchQueue(label: "concord.consistency.environment", qos: .userInitiated))
      entry.pending += 1
      entries[key] = entry
      return entry.queue
    }
  }

  private func end(_ key: ObjectIdentifier) {
    entries.withLock { entries in
      guard let entry = entries[key] else { return }
      entries[key] = entry.pending == 1 ? nil : Entry(queue: entry.queue, pending: entry.pending - 1)
    }
  }
}
