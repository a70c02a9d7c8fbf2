import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Actions and threads")
struct ThreadTests {
  @Test("Synchronous bodies that block do not starve asynchronous ones, nor Swift's concurrency")
  func blocking() async throws {
    try await withConnect { connect in
      connect.maximumConcurrentActions = 40
      let semaphore = DispatchSemaphore(value: 0)
      let began = Log<Int>()
      let blocked = try (0..<39).map { index in
        try connect.execute(
          BlockingWork {
            began.add(index)
            semaphore.wait()
          })
      }
      let blockedBook = try connect.execute(AuthorWork { _ in semaphore.wait() })
      #expect(try await eventually { began.entries.count == 39 })
      // All but one of the places are held by threads that sleep.
      let proxy = try connect.execute(
        Work {
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await Task.sleep(for: .milliseconds(1)) } }
            try await group.waitForAll()
          }
        })
      #expect(await proxy.finished() == .successful)
      let value = await Task { 1 }.value
      #expect(value == 1)
      for _ in 0..<40 { semaphore.signal() }
      for proxy in blocked + [blockedBook] { #expect(await proxy.finished() == .successful) }
    }
  }

  @Test("A synchronous body does not run on a thread of Swift's concurrency")
  func offThePool() async throws {
    try await withConnect { connect in
      let found = Log<Bool>()
      let body = BlockingWork { found.add(ActionExecutor.isCurrent) }
      await (try connect.execute(body)).finished()
      await (try connect.execute(AuthorWork { _ in found.add(ActionExecutor.isCurrent) })).finished()
      #expect(found.entries == [true, true])
    }
  }

  @Test("10,000 actions that wait hold no thread each, and all are executed once")
  func tenThousand() async throws {
    try await withConnect { connect in
      connect.suspended = true
      let sum = Log<Int>()
      let threads = ActionExecutor.shared.threadCount
      let generic = try (0..<5000).map { index in try connect.execute(Work { sum.add(index) }) }
      let books = try (5000..<10000).map { index in try connect.execute(BookWork { _ in sum.add(index) }) }
      #expect(ActionExecutor.shared.threadCount <= threads)
      connect.suspended = false
      for proxy in generic + books { await proxy.finished() }
      #expect(ActionExecutor.shared.threadCount <= max(threads, 32))
      #expect(sum.entries.sorted() == Array(0..<10000))
    }
  }

  @Test("10,000 actions that run and sleep hold no thread each")
  func tenThousandAsleep() async throws {
    try await withConnect { connect in
      connect.maximumConcurrentActions = 10000
      let (gate, began) = (Gate(), Log<Int>())
      let proxies = try (0..<10000).map { index in
        try connect.execute(
          Work {
            began.add(index)
            await gate.passed()
          })
      }
      #expect(try await eventually { began.entries.count == 10000 })
      #expect(proxies.allSatisfy { $0.state == .executing })
      #expect(ActionExecutor.shared.threadCount < 2000)
      gate.open()
      for proxy in proxies { #expect(await proxy.finished() == .successful) }
    }
  }

  @Test("Threads that have nothing to do end")
  func threadsEnd() async throws {
    try await withConnect { connect in
      await (try connect.execute(Work {})).finished()
      #expect(try await eventually { ActionExecutor.shared.threadCount == 0 })
      #expect(await (try connect.execute(Work {})).finished() == .successful)
    }
  }
}
