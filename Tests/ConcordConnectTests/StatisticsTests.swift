import Foundation
import Testing

@testable import ConcordConnect

@Suite("Statistics count what happened")
struct StatisticsTests {
  /// What a body did in its context.
  private func counts(
    _ kind: StoreKind, _ before: [Book] = [], _ body: @escaping @Sendable (ActionContext) async throws -> Void
  ) async throws -> [Int] {
    try await withConnect(kind) { connect in
      try connect.store(before)
      let proxy = try connect.execute(BookWork(body))
      await proxy.finished()
      let found = try #require(proxy.statistics.contextStatistics)
      return [found.inserts, found.updates, found.deletes, found.fetches]
    }
  }

  private let three = (1...3).map { Book(id: $0, title: "Book \($0)") }

  @Test("Proxies and statistics print as people read them")
  func descriptions() async throws {
    try await withConnect { connect in
      let proxy = try connect.execute(
        BookWork { context in
          context.insert(Book(id: 1, title: "Emma"))
          try context.save()
        })
      await proxy.finished()
      let time = /\d+\.\d{3} s/
      let text = "\(proxy)".replacing(time, with: "T")
      #expect(
        text == "BookWork: successful, T; 1 inserted, 0 updated, 0 deleted, 0 read, in T (T reading, T saving)")
      #expect("\(proxy.statistics)".replacing(time, with: "T").hasPrefix("T; 1 inserted"))
      let failing = try connect.execute(Work { throw Failure() })
      await failing.finished()
      #expect("\(failing)".replacing(time, with: "T") == "Work: failed (Failure(text: \"failed on purpose\")), T")
      connect.suspended = true
      #expect("\(try connect.execute(Work {}))" == "Work: pending")
      connect.suspended = false
    }
  }

  @Test("Inserts, updates, deletes and fetches", arguments: StoreKind.allCases)
  func all(_ kind: StoreKind) async throws {
    let found = try await counts(kind, three) { context in
      _ = try context.fetch(FetchDescriptor<Book>())
      _ = try context.find(Book.self, id: 1)
      _ = try context.find(Book.self, id: 99)
      context.insert(Book(id: 4, title: "new"))
      context.insert(Book(id: 5, title: "new"))
      try context.update(Book.self, id: 1) { $0.title = "other" }
      try context.delete(Book.self, id: 2)
      try context.save()
    }
    #expect(found == [2, 1, 1, 4])
  }

  @Test("An insert of what is stored is an update", arguments: StoreKind.allCases)
  func insertOfStored(_ kind: StoreKind) async throws {
    let found = try await counts(kind, three) { context in
      context.insert(Book(id: 1, title: "again"))
      context.insert(Book(id: 9, title: "new"))
      try context.save()
    }
    #expect(found == [1, 1, 0, 0])
  }

  @Test(
    "What is not saved does not count, nor does a save of nothing, nor what was taken back",
    arguments: StoreKind.allCases)
  func unsaved(_ kind: StoreKind) async throws {
    let found = try await counts(kind, three) { context in
      try context.save()
      context.insert(Book(id: 4, title: "new"))
      try context.delete(Book.self, id: 4)
      try context.save()
      context.insert(Book(id: 5, title: "new"))
      context.rollback()
      try context.save()
      try context.update(Book.self, id: 1) { $0.title = "Book 1" }
      try context.save()
      context.insert(Book(id: 6, title: "new"))
    }
    #expect(found == [0, 0, 0, 0])
  }

  @Test("Several saves add up", arguments: StoreKind.allCases)
  func several(_ kind: StoreKind) async throws {
    let found = try await counts(kind) { context in
      for id in 0..<10 {
        context.insert(Book(id: id, title: "new"))
        try context.save()
      }
      for id in 0..<10 where id % 2 == 0 { try context.delete(Book.self, id: id) }
      try context.save()
    }
    #expect(found == [10, 0, 5, 0])
  }

  @Test("A merge counts what it compared, inserted, updated and deleted", arguments: StoreKind.allCases)
  func merge(_ kind: StoreKind) async throws {
    let found = try await counts(kind, three) { context in
      try context.merge(
        objects: [Book(id: 1, title: "Book 1"), Book(id: 2, title: "other"), Book(id: 7, title: "new")], for: Book.self)
    }
    #expect(found == [1, 1, 1, 3])
  }

  @Test("A generic action has no context statistics; a waiting entity action has zeros")
  func without() async throws {
    try await withConnect { connect in
      connect.suspended = true
      let generic = try connect.execute(Work {})
      let entity = try connect.execute(BookWork { _ in })
      #expect(generic.statistics.contextStatistics == nil)
      #expect(entity.statistics.contextStatistics?.inserts == 0)
      connect.suspended = false
      await entity.finished()
    }
  }

  @Test("Times: of the action without its completion block, of blocks, and of reading and saving within them")
  func times() async throws {
    try await withConnect { connect in
      let before = Date()
      let completed = Log<Date>()
      let proxy = try connect.execute(
        BookWork { context in
          try await context.perform { context in
            Thread.sleep(forTimeInterval: 0.05)
            // Nested calls count once.
            try context.performAndWait { _ = try context.fetch(FetchDescriptor<Book>()) }
            context.insert(Book(id: 1, title: "new"))
            try context.save()
          }
          _ = try context.find(Book.self, id: 1)
          try await Task.sleep(for: .milliseconds(30))
        }
      ) { _ in
        completed.add(Date())
        Thread.sleep(forTimeInterval: 0.2)
      }
      await proxy.finished()
      let completion = try #require(completed.entries.first)
      let statistics = proxy.statistics
      let start = try #require(statistics.startTime)
      let finish = try #require(statistics.finishTime)
      let context = try #require(statistics.contextStatistics)
      #expect(start >= before && finish > start)
      // The clock of dates may differ a little from the one of durations.
      #expect(
        statistics.executionTime >= 0.08 && statistics.executionTime < completion.timeIntervalSince(before) + 0.1)
      #expect(finish <= completion)
      #expect(context.contextBlockTime >= 0.05 && context.contextBlockTime <= statistics.executionTime - 0.03)
      #expect(context.fetchTime > 0 && context.saveTime > 0)
      #expect(context.otherTime >= 0.05)
      #expect(abs(context.fetchTime + context.saveTime + context.otherTime - context.contextBlockTime) < 1e-9)
    }
  }

  @Test("While it runs, the time so far is shown")
  func soFar() async throws {
    try await withConnect { connect in
      let (began, gate) = (Gate(), Gate())
      let proxy = try connect.execute(
        Work {
          began.open()
          await gate.passed()
        })
      await began.passed()
      let first = proxy.statistics.executionTime
      try await Task.sleep(for: .milliseconds(5))
      #expect(proxy.statistics.executionTime > first && proxy.statistics.finishTime == nil)
      gate.open()
      await proxy.finished()
      let last = proxy.statistics.executionTime
      #expect(proxy.statistics.executionTime == last)
    }
  }
}
