package import Dispatch
import Foundation

// Identifies queues, and the queue that code runs on. The objects cannot: on Linux `DispatchQueue.main` is a new object each
// time. The thread cannot either: in an `async` program the main thread exits there, and other threads run the main queue. So
// the queue itself gets a mark, by which it is recognised.

private final class QueueMark: Sendable {}

private let key = DispatchSpecificKey<QueueMark>()
private let marking = Lock()

extension DispatchQueue {
  /// Marks the queue, so that it can be recognised.
  package func mark() {
    marking.withLock { if getSpecific(key: key) == nil { setSpecific(key: key, value: QueueMark()) } }
  }

  /// Whether the calling code runs on the queue, which must be marked. The main thread counts as the main queue also before
  /// that runs.
  package var isCurrent: Bool {
    guard let mark = getSpecific(key: key) else { return false }
    return DispatchQueue.getSpecific(key: key) === mark
      || (Thread.isMainThread && DispatchQueue.main.getSpecific(key: key) === mark)
  }

  /// Whether two objects represent the same queue. At least one of them must be marked.
  package func isSame(as other: DispatchQueue) -> Bool {
    getSpecific(key: key).map { $0 === other.getSpecific(key: key) } ?? (self === other)
  }
}
