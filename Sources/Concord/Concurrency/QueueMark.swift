package import Dispatch
import Foundation

// Which queue is it, and does this code run on it? The objects do not say: on Linux `DispatchQueue.main` is another one each
// time. Nor does the thread: there the main thread ends in an `async` program, and others run the main queue. The queue itself
// keeps a mark, whatever object stands for it.

private final class QueueMark: Sendable {}

private let key = DispatchSpecificKey<QueueMark>()
private let marking = Lock()

extension DispatchQueue {
  /// Makes it possible to recognise the queue.
  package func mark() {
    marking.withLock { if getSpecific(key: key) == nil { setSpecific(key: key, value: QueueMark()) } }
  }

  /// Whether this code runs on the queue, which was marked. The main thread counts as the main queue also before that is served.
  package var isCurrent: Bool {
    guard let mark = getSpecific(key: key) else { return false }
    return DispatchQueue.getSpecific(key: key) === mark
      || (Thread.isMainThread && DispatchQueue.main.getSpecific(key: key) === mark)
  }

  /// Whether two objects stand for one queue, of which one at least was marked.
  package func isSame(as other: DispatchQueue) -> Bool {
    getSpecific(key: key).map { $0 === other.getSpecific(key: key) } ?? (self === other)
  }
}
