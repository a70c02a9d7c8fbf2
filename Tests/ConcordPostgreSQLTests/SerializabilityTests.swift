#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPostgreSQL

  @Suite("Serialisable transactions", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct SerializabilityTests {
    @Test("What processes append and read at random could have happened one transaction after the other")
    func history() throws {
      let (clients, count) = TestOptions.isLong ? (8, 2000) : (4, 120)
      let fleet = try Fleet()
      try fleet.store().close()
      let processes = try (1...clients).map {
        try ChildProcess(["append", fleet.place, "\($0)", "\(count)"])
      }
      defer { for process in processes { process.kill() } }
      #expect(eventually(60) { processes.allSatisfy { $0.lines.contains("ready") } })
      for process in processes { process.say("go") }
      #expect(eventually(TestOptions.isLong ? 1200 : 60) { processes.allSatisfy { $0.lines.last == "done" } })
      let history = History(processes.flatMap(\.lines).compactMap { History.Transaction($0) })
      #expect(history.transactions.count == clients * count)
      var last: [Int: [Int]] = [:]
      for line in try fleet.sql("SELECT id || ':' || text FROM \"Entry\"").split(separator: "\n") {
        let parts = line.split(separator: ":")
        last[Int(parts[0]) ?? -1] = parts[1].split(separator: ",").compactMap { Int($0) }
      }
      #expect(HistoryChecker.anomalies(in: history, last: last) == [])
      let committed = history.transactions.count { $0.outcome != .aborted }
      // Each retries by itself, so that few fail.
      #expect(committed > history.transactions.count * 9 / 10, "\(committed) of \(history.transactions.count)")
    }
  }
#endif
