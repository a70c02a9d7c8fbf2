#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("A task that is cancelled ends what the server runs for it", .enabled(if: PostgreSQLServer.isInstalled))
  struct CancellingTests {
    private let fleet: Fleet
    private let store: PostgreSQLStore
    private let coordinator: PersistentStoreCoordinator

    init() throws {
      fleet = try Fleet()
      var options = PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema)
      options.poolSize = 1
      store = try PostgreSQLStore(name: "Shop", options, model: fleet.model, entities: fleet.model.entities)
      coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
    }

    /// The number of statements that wait for a lock.
    private func waiting() throws -> String {
      try fleet.server.sql(
        """
        SELECT count(*) FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%"Progress"%' AND pid <> pg_backend_pid()
          AND EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = pg_stat_activity.pid
            AND l.relation = '\(identifier(fleet.schema))."Progress"'::regclass)
        """)
    }

    /// Holds the table, so that whoever reads or writes it waits.
    private func holding<R>(_ body: () async throws -> R) async throws -> R {
      let holder = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try holder.run([.once("BEGIN"), .once("LOCK TABLE \"Progress\" IN ACCESS EXCLUSIVE MODE")])
      let result = try await body()
      try holder.run([.once("ROLLBACK")])
      return result
    }

    /// Cancels a task when a statement of its waits, and expects that it ends at once.
    private func cancelWhenItWaits<R: Sendable>(_ task: Task<R, any Error>) async throws {
      #expect(try eventually { try waiting() == "1" })
      let start = Date()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(-start.timeIntervalSinceNow < 5)
      #expect(try eventually { try waiting() == "0" })
    }

    @Test("Of a context and of a view, a fetch that waits is ended")
    func reading() async throws {
      let context = BackgroundContext(parent: coordinator)
      let view = ViewContext(parent: coordinator) { _ in }
      try await holding {
        try await cancelWhenItWaits(
          Task { try await context.perform { try $0.fetch(FetchDescriptor<ConcordTestShared.Progress>()).count } })
        try await cancelWhenItWaits(
          Task { try await view.perform { try $0.find(ConcordTestShared.Progress.self, id: 1)?.value.last } })
      }
      #expect(try await context.perform { try $0.fetch(FetchDescriptor<ConcordTestShared.Progress>()).count } == 0)
    }

    @Test("A save that waits is ended without effect, and its changes can be saved again")
    func saving() async throws {
      let context = BackgroundContext(parent: coordinator)
      try await holding {
        try await cancelWhenItWaits(
          Task {
            try await context.perform { context in
              context.insert(ConcordTestShared.Progress(id: 1, last: 7))
              try context.save()
            }
          })
      }
      #expect(try fleet.sql("SELECT count(*) FROM \"Progress\"") == "0")
      #expect(context.hasChanges)
      try context.save()
      #expect(try fleet.sql("SELECT last FROM \"Progress\"") == "7")
    }

    @Test("The block of a task that is cancelled already is run, and calls of the store throw")
    func cancelledBefore() async throws {
      let context = BackgroundContext(parent: coordinator)
      let wasRun = Locked(false)
      let task = Task {
        // Until it is cancelled.
        try? await Task.sleep(for: .seconds(60))
        try await context.perform { context in
          wasRun.withLock { $0 = true }
          _ = try context.fetch(FetchDescriptor<ConcordTestShared.Progress>())
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(wasRun.withLock { $0 })
    }

    @Test("A task that a block begins is not cancelled with the one that waits for the block")
    func ownTask() async throws {
      let context = BackgroundContext(parent: coordinator)
      let other = BackgroundContext(parent: coordinator)
      let isCancelled = DispatchSemaphore(value: 0)
      let begun = Locked<Task<Int, any Error>?>(nil)
      let task = Task {
        try await context.perform { _ in
          begun.withLock {
            $0 = Task {
              try await Task.sleep(for: .milliseconds(300))
              // Not within `perform`.
              return try other.fetch(FetchDescriptor<ConcordTestShared.Progress>()).count
            }
          }
          isCancelled.wait()
        }
      }
      while begun.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(5)) }
      task.cancel()
      isCancelled.signal()
      _ = try? await task.value
      #expect(try await begun.withLock { $0 }?.value == 0)
    }

    @Test("Whenever tasks are cancelled, what others run next on the same connection is not ended")
    func nobodyElse() async throws {
      let context = BackgroundContext(parent: coordinator)
      let other = BackgroundContext(parent: coordinator)
      var random = SeededNumbers(seed: TestOptions.seed(.random(in: 0..<1_000_000)))
      var cancelled = 0
      for round in 1...200 {
        let task = Task {
          try await context.perform { context in
            context.insert(ConcordTestShared.Progress(id: 1, last: round))
            try context.save()
          }
        }
        try await Task.sleep(for: .microseconds(.random(in: 0...800, using: &random)))
        task.cancel()
        // Without a task of its own.
        let before = try other.performAndWait { try $0.find(ConcordTestShared.Progress.self, id: 1)?.last } ?? 0
        #expect(before <= round)
        do { try await task.value } catch is CancellationError {
          cancelled += 1
          context.rollback()
          #expect(try other.performAndWait { try $0.find(ConcordTestShared.Progress.self, id: 1)?.last } != round)
          continue
        }
        #expect(try other.performAndWait { try $0.find(ConcordTestShared.Progress.self, id: 1)?.last } == round)
      }
      print("cancelled \(cancelled) of 200")
    }
  }
#endif
