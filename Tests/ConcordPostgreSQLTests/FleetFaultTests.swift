#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Processes and servers that fail", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct FleetFaultTests {
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
      try store.startFeed()
      try insert(1)
      let count = "SELECT count(*) FROM \(identifier(fleet.schema)).\"Progress\""
      #expect(try eventually { try standby.sql(count) == "1" })
      // It follows no longer.
      try standby.sql("ALTER SYSTEM SET primary_conninfo TO ''")
      try standby.sql("SELECT pg_reload_conf()")
      #expect(try eventually { try standby.sql("SELECT count(*) FROM pg_stat_wal_receiver") == "0" })
      for id in 2...4 { try insert(id) }
      #expect(eventually { list.value.map(\.id) == [1, 2, 3, 4] })
      let lost = try store.read { try $0.position() }
      try primary.stop("immediate")
      try standby.promote()
      #expect(eventually(30) { list.value.map(\.id) == [1] }, "\(list.value.map(\.id))")
      // Their transactions have ids that were given before.
      for id in 5...6 { try insert(id) }
      try standby.sql("INSERT INTO \(identifier(fleet.schema)).\"Progress\" VALUES (7, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1, 5, 6, 7] }, "\(list.value.map(\.id))")
      // Synchronisation: devices whose position has what was lost read all again, and go on.
      #expect(try store.read { try $0.changes(since: lost) } == nil)
      let found = try store.read { try $0.position() }
      try insert(8)
      #expect(try store.read { try $0.changes(since: found) }?.rows.map(\.key) == [fleet.key(8)])
    }

    @Test("A standby does not say how a transaction has ended, which it may not have yet, and does when it is promoted")
    func standby() throws {
      let primary = try PostgreSQLServer(isFast: false)
      defer { try? primary.stop("immediate") }
      let fleet = try Fleet(primary)
      let store = try fleet.store()
      defer { try? store.close() }
      let standby = try PostgreSQLServer(following: primary)
      defer { try? standby.stop("immediate") }
      try standby.sql("SELECT pg_wal_replay_pause()")
      #expect(try eventually { try standby.sql("SELECT pg_get_wal_replay_pause_state()") == "paused" })
      let connection = try store.pool.connect()
      let number = try connection.run([
        .once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (1, 0, 1)"), .once("SELECT pg_current_xact_id()"),
        .once("COMMIT"),
      ])[2].bits(0, 0)
      let proxy = try CuttingProxy(to: standby.port)
      defer { proxy.stop() }
      let pool = PostgreSQLPool(
        PostgreSQLOptions(connection: primary.url(port: proxy.port), schema: fleet.schema), store: "Shop")
      let (session, epoch) = (connection.session, store.watch.lastEpoch)
      let answers = Locked<[String]>([])
      let ended = DispatchGroup()
      for isIDKnown in [true, false] {
        ended.enter()
        Thread.detachNewThread {
          let outcome = PostgreSQLOutcome(pool, store: "Shop", .changes(store.watch.tables.values), epoch: epoch)
          let found = Result {
            isIDKnown
              ? try outcome.isCommitted(TransactionID(number: number, session: session))
              : try outcome.committed(by: session, after: 0, from: number) == number
          }
          answers.withLock { $0.append("\(found)") }
          ended.leave()
        }
      }
      // It is asked some times.
      #expect(eventually { proxy.counted.answers > 10_000 || answers.withLock { $0.count } == 2 })
      #expect(answers.withLock { $0 } == [])
      try standby.sql("SELECT pg_wal_replay_resume()")
      let count = "SELECT count(*) FROM \(identifier(fleet.schema)).\"Progress\""
      #expect(try eventually { try standby.sql(count) == "1" })
      try standby.promote()
      #expect(ended.wait(timeout: .now() + 90) == .success)
      #expect(answers.withLock { $0 } == ["success(true)", "success(true)"])
    }

    /// How a database is replaced by a copy of it.
    enum Replacing: CaseIterable {
      /// As a whole, as fast as it goes.
      case atOnce
      /// Table by table, with pauses, and the rows of the entities after those of the feed: no trigger tells of them yet.
      case slowly
      /// In the same database, in one transaction: no connection is lost.
      case inPlace
      /// By a copy as a template, which has the identities of all tables.
      case asTemplate
      /// In another cluster, which has given fewer ids of transactions.
      case inYoungerCluster, slowlyInYoungerCluster

      var isSlow: Bool { self == .slowly || self == .slowlyInYoungerCluster }
      var isElsewhere: Bool { self == .inYoungerCluster || self == .slowlyInYoungerCluster }
    }

    /// A position that was given out, and the ids that were there.
    private struct Given: Sendable {
      let position: StorePosition
      let ids: Set<EntityKey>
    }

    @Test(
      "A database is replaced by a copy of it: all is read again, and what comes then is told",
      arguments: Replacing.allCases)
    func copies(_ replacing: Replacing) throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      let store = try fleet.store(timeout: 10, pollInterval: 0.1)
      defer { try? store.close() }
      let coordinator = PersistentStoreCoordinator(model: fleet.model)
      try coordinator.attach(store, configuration: "")
      let view = ViewContext(parent: coordinator, delivery: .immediate) { _ in }
      let list = try view.query(FetchDescriptor<Progress>(sortBy: [SortDescriptor(\.id)]))
      let unknown = Locked(0)
      let observation = store.observeCommits { commit in if commit.keys == nil { unknown.withLock { $0 += 1 } } }
      defer { withExtendedLifetime(observation) {} }
      try store.startFeed()
      if replacing.isElsewhere {
        try server.sql("DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
      }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1] })
      let copy = server.folder.appending(path: "copy.sql")
      if replacing == .asTemplate {
        // There must be no connection to what is copied.
        try server.sql(
          "ALTER DATABASE shop ALLOW_CONNECTIONS false; "
            + "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'shop'; "
            + "CREATE DATABASE copy TEMPLATE shop OWNER shop; ALTER DATABASE shop ALLOW_CONNECTIONS true",
          database: "postgres")
      } else {
        try server.dump(to: copy, replacing == .inPlace ? ["--clean"] : [])
        var commands = try String(contentsOf: copy, encoding: .utf8)
        if replacing.isSlow { commands = Self.slowed(commands) }
        if replacing == .inPlace { commands = "BEGIN;\n\(commands)\nCOMMIT;\n" }
        try Data(commands.utf8).write(to: copy)
      }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (2, 0, 1)")
      #expect(eventually { list.value.map(\.id) == [1, 2] })
      // What devices would have been told meanwhile.
      let given = Locked<[Given]>([])
      let entity = try fleet.model.entity(Progress.self)
      @Sendable func look() -> Given? {
        try? store.read { reading in
          var ids: Set<EntityKey> = []
          try reading.rows(RowQuery(entity)) { key, _ in
            ids.insert(EntityKey(entity, key))
            return true
          }
          return Given(position: try reading.position(), ids: ids)
        }
      }
      let isOver = Locked(false)
      let looking = Thread {
        while !isOver.withLock({ $0 }) {
          if let found = look() { given.withLock { $0.append(found) } }
          Thread.sleep(forTimeInterval: 0.02)
        }
      }
      looking.start()
      defer { isOver.withLock { $0 = true } }
      let restored: PostgreSQLServer
      if replacing.isElsewhere {
        let port = server.port
        let other = try PostgreSQLServer(isFast: true)
        try server.stop("immediate")
        try other.move(to: port)
        restored = other
      } else {
        switch replacing {
        case .inPlace: break
        case .asTemplate:
          try server.sql(
            "DROP DATABASE shop WITH (FORCE); ALTER DATABASE copy RENAME TO shop; "
              + "ALTER DATABASE shop ALLOW_CONNECTIONS true", database: "postgres")
        default:
          try server.sql("DROP DATABASE shop WITH (FORCE); CREATE DATABASE shop OWNER shop", database: "postgres")
        }
        restored = server
      }
      defer { if restored !== server { try? restored.stop("immediate") } }
      if replacing != .asTemplate { try restored.restore(copy) }
      #expect(eventually(30) { list.value.map(\.id) == [1] }, "\(list.value.map(\.id))")
      func insert(_ id: Int) throws {
        try restored.sql("INSERT INTO \(identifier(fleet.schema)).\"Progress\" VALUES (\(id), 0, 1)")
      }
      try insert(3)
      #expect(eventually { list.value.map(\.id) == [1, 3] }, "\(list.value.map(\.id))")
      // Synchronisation goes on.
      #expect(eventually(30) { look() != nil })
      let now = try #require(look())
      try insert(4)
      #expect(try store.read { try $0.changes(since: now.position) }?.rows.map(\.key) == [fleet.key(4)])
      isOver.withLock { $0 = true }
      let ids = try #require(look()).ids
      for given in given.withLock({ $0 }) {
        guard let changes = try store.read({ try $0.changes(since: given.position) }) else { continue }
        let missing = given.ids.symmetricDifference(ids).subtracting(changes.rows.map(\.key))
        #expect(missing.isEmpty, "\(given.position) shows no change of \(missing)")
      }
      // Nothing is read again and again.
      #expect(eventually { list.value.map(\.id) == [1, 3, 4] })
      let count = unknown.withLock { $0 }
      Thread.sleep(forTimeInterval: 1)
      #expect(unknown.withLock { $0 } == count)
    }

    /// What `pg_dump` says, with a pause before each object, and the rows of the entities as the last ones, after a longer pause.
    private static func slowed(_ dump: String) -> String {
      var objects = dump.components(separatedBy: "\n--\n-- ")
      let data = objects.indices.filter { objects[$0].hasPrefix("Data for Name: ") }
      if let rows = data.first(where: { objects[$0].hasPrefix("Data for Name: Progress;") }), let last = data.last {
        objects.insert("\nSELECT pg_sleep(5);\n--\n-- \(objects.remove(at: rows))", at: last)
      }
      return objects.joined(separator: "\nSELECT pg_sleep(0.1);\n--\n-- ")
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
