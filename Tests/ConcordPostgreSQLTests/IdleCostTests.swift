#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("What those who wait cost a database", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct IdleCostTests {
    @Test("A store that nobody uses costs the server one statement in each poll interval, and no more")
    func idle() throws {
      let server = try LoggingServer()
      defer { try? server.server.stop() }
      let fleet = server.fleet
      let store = try fleet.store(pollInterval: 0.25)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { Issue.record("\($0)") }
      let list = try view.query(FetchDescriptor<Progress>())
      try store.write(origin: nil) { _ = try $0.insert(fleet.row(0, 0), for: fleet.key(0)) }
      for id in 1...3 {
        try fleet.sql("INSERT INTO \"Progress\" VALUES (\(id), 1, 1)")
        #expect(eventually { list.value.count == id + 1 })
      }
      // What the writing has left to do is done.
      Thread.sleep(forTimeInterval: 1)
      let before = try server.statements().count
      #expect(before > 0)
      let start = DispatchTime.now()
      Thread.sleep(forTimeInterval: 3)
      let statements = try server.statements().dropFirst(before)
      let polls = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 0.25e9
      #expect(statements.count >= 1)
      #expect(Double(statements.count) <= polls + 1, "\(statements.count) in \(polls) intervals")
      #expect(statements.allSatisfy { $0.contains("pg_current_snapshot()") }, "\(statements)")
      withExtendedLifetime((coordinator, view, list)) {}
    }

    @Test("One that waits until it may send asks once in each poll interval, on a connection that it has")
    func waiting() throws {
      let server = try LoggingServer()
      defer { try? server.server.stop() }
      let stores = try [server.fleet.store(), server.fleet.store(pollInterval: 0.25)]
      defer { for store in stores { try? store.close() } }
      var hold = try stores[0].holdOutbox()
      #expect(hold?.isHeld == true)
      let (before, connections) = (try questions(server), stores[1].pool.count)
      let start = DispatchTime.now()
      for _ in 0..<200 {
        #expect(try stores[1].holdOutbox() == nil)
        Thread.sleep(forTimeInterval: 0.005)
      }
      let intervals = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 0.25e9
      let count = try questions(server) - before
      #expect(count >= 2 && Double(count) <= intervals + 1, "\(count) in \(intervals) intervals")
      #expect(stores[1].pool.count == max(1, connections))
      hold = nil
      #expect(try stores[0].holdOutbox() != nil)
    }

    private func questions(_ server: LoggingServer) throws -> Int {
      try server.statements().count { $0.contains("pg_try_advisory_lock") }
    }
  }
#endif
