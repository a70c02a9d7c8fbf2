import Concord
import Dispatch
import Foundation

/// Questions to registrations on other queues, with answers up to a point in time.
final class Questions: Sendable {
  private let limit: Date
  private let answers = Locked<[Int: [any ConsistentObject]]>([:])
  private let group = DispatchGroup()

  init(until limit: Date) {
    self.limit = limit
  }

  /// Asks what the environment of `registration` owns.
  func ask(_ registration: Registration, on queue: DispatchQueue, number: Int) {
    queue.async(group: group) {
      // Nobody waits for the answer any more.
      if self.limit < Date() { return }
      let objects = registration.objects(until: self.limit)
      self.answers.withLock { $0[number] = objects }
    }
  }

  /// What was answered, by number. Waiting for good could be a deadlock, since the queue may be waiting for this thread.
  func wait() -> [Int: [any ConsistentObject]] {
    _ = group.wait(timeout: .now() + limit.timeIntervalSinceNow)
    return answers.withLock { $0 }
  }
}
