#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("The pace of the feed", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct PaceTests {
    @Test("A commit by itself is followed by no pause, several by one that is bounded")
    func pauses() {
      func pause(_ commits: Int, _ duration: Double) -> Double? {
        var pace = FeedPace()
        pace.didFind(commits, in: duration)
        return pace.beginPause()
      }
      #expect(pause(0, 1) == nil && pause(1, 1) == nil)
      #expect(pause(2, 0.001) == 0.008)
      #expect(pause(500, 1) == FeedPace.longest)
      var pace = FeedPace()
      pace.didFind(2, in: 1)
      pace.didFail()
      let afterFailure = pace.beginPause()
      #expect(afterFailure == nil)
    }

    @Test("Others are notified at the end of a pause of what was committed in it, and of other commits at once")
    func owedNotices() {
      var pace = FeedPace()
      pace.didFind(2, in: 0.001)
      // It is being asked: the commit may be behind what is found.
      let whileAsking = pace.mayNotifyLater()
      #expect(!whileAsking)
      _ = pace.beginPause()
      let inPause = [pace.mayNotifyLater(), pace.mayNotifyLater()]
      #expect(pace.isPausing && inPause == [true, true])
      let owed = [pace.endPause(), pace.mayNotifyLater(), pace.endPause()]
      #expect(owed == [true, false, false])
      _ = pace.beginPause()
      let withoutCommit = pace.endPause()
      #expect(!withoutCommit && !pace.isPausing)
    }

    @Test("A commit in a pause wakes nobody, and its end wakes all, without a poll")
    func pause() throws {
      let fleet = try Fleet()
      let (writer, reader) = (try fleet.store(pollInterval: 600), try fleet.store(pollInterval: 600))
      defer { for store in [writer, reader] { try? store.close() } }
      let told = Locked(0)
      let observations = [
        writer.observeCommits { _ in }, reader.observeCommits { _ in told.withLock { $0 += 1 } },
      ]
      func write(_ id: Int) throws {
        try writer.write(origin: nil) { _ = try $0.insert(fleet.row(id, 0), for: fleet.key(id)) }
      }
      try write(0)
      #expect(eventually { told.withLock { $0 } == 1 })
      // The threads of the watches have come to rest.
      Thread.sleep(forTimeInterval: 0.3)
      let watch = writer.watch
      watch.state.withLock { state in
        state.pace.didFind(2, in: 1)
        _ = state.pace.beginPause()
      }
      for id in 1...3 { try write(id) }
      Thread.sleep(forTimeInterval: 0.2)
      #expect(told.withLock { $0 } == 1)
      try writer.pool.with { PostgreSQLWatch.endPause(watch.state, $0, watch.notification) }
      #expect(eventually { told.withLock { $0 } == 4 })
      withExtendedLifetime(observations) {}
    }

    @Test("Many stores that commit at the same time are told all of it, once, without a poll")
    func crowd() throws {
      let fleet = try Fleet()
      let stores = try (0..<6).map { _ in try fleet.store(pollInterval: 600) }
      let reader = try fleet.store(pollInterval: 600)
      defer { for store in stores + [reader] { try? store.close() } }
      let told = Locked<[EntityKey: Int]>([:])
      var observations = stores.map { $0.observeCommits { _ in } }
      observations.append(
        reader.observeCommits { commit in
          told.withLock { told in for key in commit.keys ?? [] { told[key, default: 0] += 1 } }
        })
      let count = 200
      for round in 0..<3 {
        DispatchQueue.concurrentPerform(iterations: stores.count) { number in
          for id in 0..<count {
            let id = (round * stores.count + number) * count + id
            try? stores[number].write(origin: nil) { _ = try $0.insert(fleet.row(id, 0), for: fleet.key(id)) }
          }
        }
        let sum = (round + 1) * stores.count * count
        #expect(eventually(30) { told.withLock { $0.count } == sum }, "\(told.withLock { $0.count }) of \(sum)")
      }
      #expect(told.withLock { $0.values.allSatisfy { $0 == 1 } })
      withExtendedLifetime(observations) {}
    }

    @Test("A commit that is followed by the end of its store is told without a poll")
    func closing() throws {
      let fleet = try Fleet()
      let (writer, other, reader) = (
        try fleet.store(pollInterval: 600), try fleet.store(pollInterval: 600), try fleet.store(pollInterval: 600)
      )
      defer { for store in [other, reader] { try? store.close() } }
      let told = Locked(Set<EntityKey>())
      let observations = [
        writer.observeCommits { _ in },
        reader.observeCommits { commit in told.withLock { $0.formUnion(commit.keys ?? []) } },
      ]
      // So that the writer pauses.
      let isDone = Locked(false)
      let thread = Thread {
        for id in 1..<1_000_000 where !isDone.withLock({ $0 }) {
          try? other.write(origin: nil) { _ = try $0.insert(fleet.row(id, 0), for: fleet.key(id)) }
        }
      }
      thread.start()
      defer { isDone.withLock { $0 = true } }
      for id in 1...200 {
        try writer.write(origin: nil) { _ = try $0.insert(fleet.row(-id, 0), for: fleet.key(-id)) }
      }
      try writer.close()
      isDone.withLock { $0 = true }
      #expect(
        try eventually { try told.withLock { told in try (1...200).allSatisfy { told.contains(try fleet.key(-$0)) } } })
      withExtendedLifetime(observations) {}
    }
  }
#endif
