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

  /// Asks for the objects of a registered environment.
  func ask(_ registration: Registration, on queue: DispatchQueue, number: Int) {
    queue.async(group: group) {
      // The answer is not awaited any longer.
      if self.limit < Date() { return }
      let objects = registration.objects(until: self.limit)
      self.answers.withLock { $0[number] = objects }
    }
  }

  /// Waits for the answers, and returns them by number. Waiting without a limit could be a deadlock, since the queue may be
  /// waiting for this thread.
  func wait() -> [Int: [any ConsistentObject]] {
    _ = group.wait(timeout: .now() + limit.timeIntervalSinceNow)
    return answers.withLock { $0 }
  }
}
