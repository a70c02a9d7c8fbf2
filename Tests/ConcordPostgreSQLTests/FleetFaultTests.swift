#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Processes and servers that fail", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct FleetFaultTests {
    private static let isLong = ProcessInfo.processInfo.environment["CONCORD_LONG"] == "1"

    private enum Fault: CaseIterable {
      case client, crash, cut, terminate, pause, move
    }

    /// A process that counts up, and what it has acknowledged in all its lives.
    private final class Client {
      let id: Int
      private let place: String
      private(set) var process: ChildProcess
      private(set) var lines: [String] = []
      var acknowledged: Int {
        (lines + process.lines).last { $0.hasPrefix("saved ") }.flatMap { Int($0.dropFirst(6)) } ?? 0
      }
      var all: [String] { lines + process.lines }

      init(_ id: Int, _ place: String) throws {
        (self.id, self.place) = (id, place)
        process = try ChildProcess(["fleet", place, "\(id)"])
      }

      func kill() {
        process.kill()
        lines += process.lines
      }

      func start() throws { process = try ChildProcess(["fleet", place, "\(id)"]) }
    }

    @Test(
      "Whatever fails, no acknowledged save is lost or doubled, all live queries agree with the table, and no connection is left"
    )
    func faults() throws {
      let server = try PostgreSQLServer(isFast: false)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      try fleet.store().close()
      let ports = [server.port, try PostgreSQLServer.freePort()]
      let proxy = try CuttingProxy(to: ports[0])
      defer { proxy.stop() }
      let place = "\(server.url(ports: [proxy.port, ports[1]]))#\(fleet.schema)"
      let clients = try (1...3).map { try Client($0, place) }
      defer { for client in clients { client.kill() } }
      #expect(eventually(30) { clients.allSatisfy { $0.acknowledged > 3 } })
      var random = SystemRandomNumberGenerator()
      let rounds = Self.isLong ? 200 : Fault.allCases.count
      for round in 0..<rounds {
        let fault = Self.isLong ? Fault.allCases.randomElement(using: &random) ?? .crash : Fault.allCases[round]
        let before = clients.map(\.acknowledged)
        switch fault {
        case .client:
          let client = clients[Int.random(in: 0..<clients.count, using: &random)]
          client.kill()
          let stored = try stored(fleet)[client.id] ?? 0
          // The last one may have been committed before it was said.
          #expect([client.acknowledged, client.acknowledged + 1].contains(stored), "round \(round)")
          try client.start()
        case .crash: try server.restart("immediate")
        case .cut: proxy.cut(after: Int.random(in: 0...200, using: &random), ofAnswers: Bool.random(using: &random))
        case .terminate:
          try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
        case .pause:
          server.pause()
          Thread.sleep(forTimeInterval: Self.isLong ? 10 : 1)
          server.goOn()
        case .move:
          // libpq goes on to the next place only where nobody listens.
          let isThere = server.port == ports[0]
          if isThere { proxy.refuse() }
          try server.move(to: ports[isThere ? 1 : 0])
          if !isThere { try proxy.goOn() }
        }
        let goesOn = eventually(60) { zip(clients, before).allSatisfy { $0.acknowledged > $1 + 2 } }
        try #require(goesOn, "round \(round): \(fault), \(clients.map { $0.all.suffix(2) })")
      }
      for client in clients { client.process.say("stop") }
      #expect(eventually(60) { clients.allSatisfy { $0.process.lines.contains { $0.hasPrefix("stopped") } } })
      let table = try stored(fleet)
      for client in clients {
        #expect(table[client.id] == client.acknowledged, "\(client.id)")
        #expect(
          !client.all.contains { $0.hasPrefix("wrong") || $0.hasPrefix("slow") },
          "\(client.all.filter { $0.hasPrefix("wrong") })")
        // Each number once, one after the other in each life.
        let saved = client.all.filter { $0.hasPrefix("saved ") }
        #expect(Set(saved).count == saved.count, "\(client.id)")
      }
      let shown = "shows " + table.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      for client in clients {
        let agrees = eventually(30) {
          client.process.say("show")
          Thread.sleep(forTimeInterval: 0.05)
          return client.process.lines.last == shown
        }
        #expect(agrees, "\(client.process.lines.suffix(3)), not \(shown)")
      }
      #expect(clients.contains { $0.all.contains("async") })
      let open = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop'"
      #expect(try Int(server.sql(open)) ?? 99 <= clients.count * 9)
      for client in clients { client.kill() }
      #expect(try eventually { try server.sql(open) == "0" })
    }

    private func stored(_ fleet: Fleet) throws -> [Int: Int] {
      var found: [Int: Int] = [:]
      for line in try fleet.sql("SELECT id || ' ' || last FROM \"Progress\"").split(separator: "\n") {
        let parts = line.split(separator: " ").compactMap { Int($0) }
        if parts.count == 2 { found[parts[0]] = parts[1] }
      }
      return found
    }

    @Test("A standby is promoted without the last commits: all is read again, and what comes then is told")
    func promotion() throws {
      let primary = try PostgreSQLServer(isFast: false)
      defer { try? primary.stop("immediate") }
      let fleet = try Fleet(primary)
      try fleet.store().close()
      let standby = try PostgreSQLServer(following: primary)
      defer { try? standby.stop("immediate") }
      let store = try fleet.store(
        url: primary.url(ports: [primary.port, standby.port]), timeout: 10, pollInterval: 0.1)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
      func insert(_ id: Int) throws {
        try store.write(origin: nil) { _ = try $0.insert(fleet.row(id, 0), for: fleet.key(id)) }
      }
      try insert(1)
      let count = "SELECT count(*) FROM \(identifier(fleet.schema)).\"Progress\""
      #expect(try eventually { try standby.sql(count) == "1" })
      // It follows no longer.
      try standby.sql("ALTER SYSTEM SET primary_conninfo TO ''")
      try standby.sql("SELECT pg_reload_conf()")
      #expect(try eventually { try standby.sql("SELECT count(*) FROM pg_stat_wal_receiver") == "0" })
      for id in 2...4 { try insert(id) }
      #expect(eventually { list.value.map(\.id) == [1, 2, 3, 4] })
      try primary.stop("immediate")
      try standby.promote()
      #expect(eventually(30) { list.value.map(\.id) == [1] }, "\(list.value.map(\.id))")
      // Their transactions have ids that were given before.
      for id in 5...6 { try insert(id) }
      try standby.sql("INSERT INTO \(identifier(fleet.schema)).\"Progress\" VALUES (7, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1, 5, 6, 7] }, "\(list.value.map(\.id))")
    }

    @Test("A database is replaced by a copy of it: all is read again, and what comes then is told")
    func copies() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      let store = try fleet.store(timeout: 10, pollInterval: 0.1)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1] })
      let copy = server.folder.appending(path: "copy.sql")
      try server.dump(to: copy)
      try fleet.sql("INSERT INTO \"Progress\" VALUES (2, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1, 2] })
      try server.sql("DROP DATABASE shop WITH (FORCE); CREATE DATABASE shop OWNER shop", database: "postgres")
      try server.restore(copy)
      #expect(eventually(30) { list.value.map(\.id) == [1] }, "\(list.value.map(\.id))")
      try fleet.sql("INSERT INTO \"Progress\" VALUES (3, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1, 3] }, "\(list.value.map(\.id))")
    }

    @Test("A server that is not there: attaching throws at once, and names the host and the port, and no secret")
    func absence() throws {
      let port = try PostgreSQLServer.freePort()
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: try processModel())
      let start = Date()
      do {
        try container.attachPersistentStore(
          for: StoreConfiguration(
            type: .postgreSQL,
            options: [ConcordPostgreSQLOption: "postgresql://shop:hush%2Fhush@127.0.0.1:\(port)/shop"]))
        Issue.record("it is attached")
      } catch let error as StoreError {
        #expect("\(error)".contains("127.0.0.1") && "\(error)".contains("\(port)"), "\(error)")
        #expect(!"\(error)".contains("hush"), "\(error)")
      }
      #expect(-start.timeIntervalSinceNow < 5)
    }

    @Test("Twenty processes that attach with a later model at once migrate once")
    func migrating() throws {
      let fleet = try Fleet()
      try fleet.store().close()
      try fleet.sql("INSERT INTO \"Entry\" VALUES (1, 'a', 1)")
      let processes = try (0..<20).map { _ in try ChildProcess(["attach", fleet.place]) }
      defer { for process in processes { process.kill() } }
      #expect(eventually(60) { processes.allSatisfy { $0.lines.contains("ready") } })
      for process in processes { process.say("go") }
      #expect(eventually(60) { processes.allSatisfy { $0.lines.count > 1 } })
      #expect(processes.map { $0.lines.last ?? "" } == Array(repeating: "attached 1", count: 20))
      let shapes = "SELECT count(*) FROM concord_schema WHERE \"table\" = 'Entry'"
      #expect(try fleet.sql(shapes) == "2")
      #expect(try fleet.sql("SELECT note FROM \"Entry\"") == "none")
    }
  }
#endif
