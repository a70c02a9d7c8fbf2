import Concord
import Dispatch
import Foundation
import Testing

@testable import ConcordPersistence

/// A task that is begun while a thread has a task-local value inherits it, and may run later on a thread of the same name.
@Suite("Values of a thread that a task has inherited")
struct InheritedValueTests {
  @Test("A delivery that has ended takes nothing: what is told later is delivered by the queue")
  func delivery() throws {
    let feed = Feed<Int>(label: "inherited")
    let told = Locked<[Int]>([])
    let observation = feed.observe { event in told.withLock { $0.append(event) } }
    var inherited: DirectDelivery?
    DirectDelivery.run {
      inherited = DirectDelivery.entered
      feed.tell(1)
    }
    #expect(told.withLock { $0 } == [1])
    let ended = try #require(inherited)
    DirectDelivery.$entered.withValue(ended) {
      #expect(DirectDelivery.current == nil)
      feed.tell(2)
      // A new one is begun within it.
      DirectDelivery.run { #expect(DirectDelivery.current != nil && DirectDelivery.current !== ended) }
    }
    feed.settle()
    #expect(told.withLock { $0 } == [1, 2])
    withExtendedLifetime(observation) {}
  }

  @Test("The cancellation of a block that has ended ends nothing")
  func cancellation() async throws {
    let inherited = Locked<TaskCancellation.Entered?>(nil)
    let isGone = Locked(true)
    let queue = DispatchQueue(label: "inherited")
    let task = Task {
      try await TaskCancellation.perform(on: queue) {
        inherited.withLock { $0 = TaskCancellation.entered }
        isGone.withLock { $0 = TaskCancellation.current == nil }
      }
    }
    _ = try await task.value
    #expect(!isGone.withLock { $0 })
    let ended = try #require(inherited.withLock { $0 })
    // On a thread of the same name, if it is still there.
    let found = queue.sync { TaskCancellation.$entered.withValue(ended) { TaskCancellation.current != nil } }
    #expect(!found && ended.state.isEnded)
  }
}
