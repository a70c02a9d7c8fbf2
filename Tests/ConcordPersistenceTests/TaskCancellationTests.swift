import Concord
import Dispatch
import Foundation
import Testing

@testable import ConcordPersistence

@Suite("The cancellation of a task that waits for a block")
struct TaskCancellationTests {
  @Test("What has ended by itself does not wait until its turn to be ended comes, and is not ended then")
  func late() throws {
    // As when all threads are busy ending others.
    let endings = DispatchQueue(label: "endings")
    endings.suspend()
    let cancellation = TaskCancellation(endings: endings)
    let (ended, returned) = (Locked(0), DispatchSemaphore(value: 0))
    Thread {
      cancellation.during(end: { ended.withLock { $0 += 1 } }) { cancellation.cancel() }
      returned.signal()
    }.start()
    #expect(returned.wait(timeout: .now() + 20) == .success)
    endings.resume()
    endings.sync {}
    #expect(ended.withLock { $0 } == 0)
  }

  @Test("What is being ended returns when that is done")
  func during() throws {
    let cancellation = TaskCancellation()
    let (begun, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let order = Locked<[String]>([])
    let returned = DispatchSemaphore(value: 0)
    Thread {
      cancellation.during(end: {
        begun.signal()
        goOn.wait()
        order.withLock { $0.append("ended") }
      }) {
        cancellation.cancel()
        begun.wait()
      }
      order.withLock { $0.append("returned") }
      returned.signal()
    }.start()
    #expect(returned.wait(timeout: .now() + 0.05) == .timedOut)
    goOn.signal()
    #expect(returned.wait(timeout: .now() + 20) == .success)
    #expect(order.withLock { $0 } == ["ended", "returned"])
  }
}
