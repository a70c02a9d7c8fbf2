import Dispatch
import Foundation
import Synchronization
import Testing

@testable import ConcordConnect

@Suite("Cancelling actions")
struct CancelTests {
  /// Counts what is called of it.
  final class Counting: GenericAction {
    let (executed, cancelled, began) = (Log<Void>(), Log<Void>(), Gate())
    let body: @Sendable () async throws -> Void
    init(_ body: @escaping @Sendable () async throws -> Void = {}) { self.body = body }
    func execute() async throws {
      executed.add(())
      began.open()
      try await body()
    }
    func cancel() { cancelled.add(()) }
  }

  @Test("An action that is cancelled before it begins never runs, and finishes at once")
  func before() async throws {
    try await withConnect { connect in
      connect.suspended = true
      let action = Counting()
      let (executed, cancelled) = (action.executed, action.cancelled)
      let proxy = try connect.execute(action)
      proxy.cancel()
      #expect(proxy.state == .finished && proxy.completionStatus == .canceled && proxy.error == nil)
      await proxy.finished()
      proxy.cancel()
      connect.suspended = false
      await (try connect.execute(Work {})).finished()
      #expect(executed.entries.isEmpty && cancelled.entries.count == 1)
      #expect(proxy.statistics.startTime == nil && proxy.statistics.executionTime == 0)
    }
  }

  @Test("Cancelling one that runs cancels its task, and calls its `cancel()` once")
  func during() async throws {
    try await withConnect { connect in
      let action = Counting { try await Task.sleep(for: .seconds(60)) }
      let (cancelled, began) = (action.cancelled, action.began)
      let proxy = try connect.execute(action)
      await began.passed()
      proxy.cancel()
      proxy.cancel()
      #expect(await proxy.finished() == .canceled)
      #expect(cancelled.entries.count == 1 && proxy.error == nil)
      #expect(proxy.statistics.executionTime < 30)
    }
  }

  @Test("One that is cancelled while it runs and returns all the same was cancelled")
  func returnsAllTheSame() async throws {
    try await withConnect { connect in
      let gate = Gate()
      let action = Counting { await gate.passed() }
      let began = action.began
      let proxy = try connect.execute(action)
      await began.passed()
      proxy.cancel()
      #expect(proxy.state == .executing && proxy.completionStatus == .unknown)
      gate.open()
      #expect(await proxy.finished() == .canceled)
    }
  }

  @Test("One that is cancelled while it runs and throws was cancelled, and has its error")
  func throwsAfterwards() async throws {
    try await withConnect { connect in
      let action = Counting {
        try? await Task.sleep(for: .seconds(60))
        throw Failure()
      }
      let began = action.began
      let proxy = try connect.execute(action)
      await began.passed()
      proxy.cancel()
      #expect(await proxy.finished() == .canceled)
      #expect(proxy.error as? Failure == Failure())
    }
  }

  @Test("Cancelling one that has finished changes nothing")
  func after() async throws {
    try await withConnect { connect in
      let action = Counting()
      let cancelled = action.cancelled
      let proxy = try connect.execute(action)
      await proxy.finished()
      proxy.cancel()
      let failed = try connect.execute(Work { throw Failure() })
      await failed.finished()
      failed.cancel()
      #expect(proxy.completionStatus == .successful && cancelled.entries.isEmpty)
      #expect(failed.completionStatus == .failed)
    }
  }

  @Test("An action that throws `CancellationError` was cancelled, by itself")
  func byThrowing() async throws {
    try await withConnect { connect in
      let proxy = try connect.execute(Work { throw CancellationError() })
      #expect(await proxy.finished() == .canceled)
      #expect(proxy.error == nil)
    }
  }

  /// As the earlier system's documentation writes it, with a lock around what both threads use.
  final class Polling: EntityAction {
    typealias ManagedObjectType = Book
    private let canceled = Atomic(false)
    let began: DispatchSemaphore
    init(began: DispatchSemaphore) { self.began = began }
    func execute(context: ActionContext) throws {
      began.signal()
      while !canceled.load(ordering: .acquiring) { Thread.sleep(forTimeInterval: 0.001) }
    }
    func cancel() { canceled.store(true, ordering: .releasing) }
  }

  @Test("A body that blocks hears of it by its `cancel()`")
  func blocking() async throws {
    try await withConnect { connect in
      let began = DispatchSemaphore(value: 0)
      let proxy = try connect.execute(Polling(began: began))
      #expect(try await eventually { proxy.state == .executing })
      proxy.cancel()
      #expect(await proxy.finished() == .canceled)
    }
  }

  @Test("A body that blocks hears of it by its task")
  func blockingTask() async throws {
    try await withConnect { connect in
      let proxy = try connect.execute(
        BlockingWork { while !Task.isCancelled { Thread.sleep(forTimeInterval: 0.001) } })
      #expect(try await eventually { proxy.state == .executing })
      proxy.cancel()
      #expect(await proxy.finished() == .canceled)
    }
  }

  @Test("Cancelling those that wait leaves the others as they are, in order")
  func someOfMany() async throws {
    try await withConnect { connect in
      connect.suspended = true
      let log = Log<Int>()
      let proxies = try (0..<1000).map { index in try connect.execute(BookWork { _ in log.add(index) }) }
      for index in stride(from: 0, to: 1000, by: 3) { proxies[index].cancel() }
      connect.suspended = false
      for (index, proxy) in proxies.enumerated() {
        #expect(await proxy.finished() == (index % 3 == 0 ? .canceled : .successful))
      }
      #expect(log.entries == (0..<1000).filter { $0 % 3 != 0 })
    }
  }

  @Test("Cancelling from other threads at any moment ends each action once, one way or another")
  func racing() async throws {
    try await withConnect { connect in
      let (runs, ends) = (Log<Int>(), Log<Int>())
      let proxies = try (0..<2000).map { index in
        try connect.execute(
          Work {
            runs.add(index)
            await Task.yield()
          }
        ) { _ in ends.add(index) }
      }
      await withTaskGroup(of: Void.self) { group in
        for part in 0..<4 {
          group.addTask {
            for index in stride(from: part, to: 2000, by: 4) where index % 5 != 0 { proxies[index].cancel() }
          }
        }
      }
      for (index, proxy) in proxies.enumerated() {
        let status = await proxy.finished()
        #expect(status == .successful || status == .canceled && index % 5 != 0)
        if status == .successful { #expect(proxy.statistics.startTime != nil) }
      }
      #expect(ends.entries.sorted() == Array(0..<2000))
      #expect(Set(runs.entries).count == runs.entries.count)
    }
  }
}
