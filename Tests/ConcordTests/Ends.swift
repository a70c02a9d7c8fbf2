import Dispatch
import Foundation

/// Runs on a thread of its own, which no pool whose threads are all asleep can hold up, and says whether it came to an end.
///
/// Where it did not, the store may be stuck: `try #require(ends { … })`, so that nothing that follows waits for it.
func ends(_ body: @escaping @Sendable () -> Void) -> Bool {
  let done = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    body()
    done.signal()
  }
  return done.wait(timeout: .now() + 60) == .success
}
