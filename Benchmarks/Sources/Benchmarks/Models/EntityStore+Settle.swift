import Concord
import Dispatch

extension EntityStore {
  /// Returns when all notices enqueued so far have been given.
  func settle() {
    let isSettled = DispatchSemaphore(value: 0)
    Task.detached {
      await self.settled()
      isSettled.signal()
    }
    isSettled.wait()
  }
}
