#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  /// What the article *A fleet* says and no other suite tests.
  @Suite("The article on fleets", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct FleetClaimsTests {
    @Test("Options have the defaults that the article lists")
    func defaults() {
      let options = PostgreSQLOptions([:])
      #expect(options.schema == "concord" && options.poolSize == 8 && options.connection.isEmpty)
      #expect(options.idleTime == 60 && options.timeout == 30 && options.pollInterval == 1)
      #expect(options.feedRetention == 24 * 60 * 60)
      let given = PostgreSQLOptions([
        ConcordPostgreSQLOption: "host=a", ConcordPostgreSQLSchemaOption: "s", ConcordPostgreSQLPoolSizeOption: 2,
        ConcordPostgreSQLIdleTimeOption: 3, ConcordPostgreSQLTimeoutOption: 4.5, ConcordPostgreSQLPollIntervalOption: 5,
        ConcordPostgreSQLFeedRetentionOption: 6.5,
      ])
      #expect(given.schema == "s" && given.poolSize == 2 && given.connection == "host=a")
      #expect(given.idleTime == 3 && given.timeout == 4.5 && given.pollInterval == 5 && given.feedRetention == 6.5)
    }

    @Test("Changes and connections are kept for as long as is asked for; waits have the limit that the server sets")
    func longTimes() {
      let (season, century) = (90 * 86_400.0, 3_155_760_000.0)
      func options(_ time: Double) -> PostgreSQLOptions {
        PostgreSQLOptions([
          ConcordPostgreSQLFeedRetentionOption: time, ConcordPostgreSQLIdleTimeOption: time,
          ConcordPostgreSQLTimeoutOption: time, ConcordPostgreSQLPollIntervalOption: time,
        ])
      }
      #expect(options(season).feedRetention == season && options(season).idleTime == season)
      #expect(options(.infinity).feedRetention == century && options(.infinity).idleTime == century)
      for time in [season, .infinity] {
        #expect(options(time).timeout == 2_000_000 && options(time).pollInterval == 2_000_000)
      }
    }

    @Test(
      "What an empty connection string leaves out is taken from the environment: host, port, user, password file, service"
    )
    func environment() throws {
      let server = try PostgreSQLServer.shared.get()
      let folder = server.folder
      let passwords = folder.appending(path: "pgpass-\(UUID().uuidString)")
      try "127.0.0.1:\(server.port):shop:shop:se\\:cr/et@1\n".write(to: passwords, atomically: true, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: passwords.path)
      let services = folder.appending(path: "services-\(UUID().uuidString)")
      try "[till]\nhost=127.0.0.1\nport=\(server.port)\nuser=shop\ndbname=shop\n".write(
        to: services, atomically: true, encoding: .utf8)
      func with(_ variables: [String: String], _ connection: String) throws -> String {
        for (name, value) in variables { setenv(name, value, 1) }
        defer { for name in variables.keys { unsetenv(name) } }
        return try PostgreSQLConnection(PostgreSQLOptions(connection: connection)).query("SELECT current_user::text")
          .text(0, 0)
      }
      let place = ["PGHOST": "127.0.0.1", "PGPORT": "\(server.port)", "PGUSER": "shop", "PGDATABASE": "shop"]
      #expect(try with(place.merging(["PGPASSWORD": PostgreSQLServer.password]) { $1 }, "") == "shop")
      #expect(try with(place.merging(["PGPASSFILE": passwords.path]) { $1 }, "") == "shop")
      #expect(try with(["PGPASSFILE": passwords.path, "PGSERVICEFILE": services.path], "service=till") == "shop")
      #expect(throws: PostgreSQLFailure.self) { try with(place, "") }
    }

    @Test("A lookup costs a round trip, and a save a few, whatever the number of its rows")
    func roundTrips() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      func trips(_ body: () throws -> Void) throws -> Int {
        let before = try store.pool.with { $0.batches }
        try body()
        return try store.pool.with { $0.batches } - before
      }
      func save(_ ids: Range<Int>) throws -> Int {
        try trips {
          try store.write(origin: nil) { writing in
            _ = try writing.insertNewest(ids.map { (try fleet.key($0), try fleet.row($0, 0)) })
          }
        }
      }
      _ = try save(0..<1)
      let (one, many) = (try save(1..<2), try save(2..<2002))
      #expect(one <= 6 && many <= one + 2, "\(one), \(many)")
      #expect(try trips { _ = try store.read { try $0.row(of: fleet.key(7)) } } <= 2)
    }

    @Test("Columns have the types that the article lists")
    func types() throws {
      let server = try PostgreSQLServer.shared.get()
      let schema = "types-\(UUID().uuidString.prefix(8))"
      let model = try Model("Types", entities: [Typed.self, Other.self])
      try PostgreSQLStore(
        name: "Types", PostgreSQLOptions(connection: server.url, schema: schema), model: model,
        entities: model.entities
      ).close()
      let columns = try server.sql(
        """
        SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation <> 0 \
        THEN ' ' || (SELECT collname FROM pg_collation WHERE oid = a.attcollation) ELSE '' END \
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = '\(schema)' AND c.relname = 'Typed' AND a.attnum > 0
        """)
      let found = Set(columns.split(separator: "\n").map(String.init))
      for column in [
        "id uuid", "int bigint", "small bigint", "unsigned numeric", "bool boolean", "double double precision",
        "float double precision", "date double precision", "string text C", "data bytea", "list text C",
        "other text C",
      ] { #expect(found.contains(column), "\(column), not \(found)") }
      let foreign = try server.sql(
        "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = '\(identifier(schema)).\"Typed\"'::regclass"
      )
      #expect(foreign == "1")
      // Dates are seconds since 2001.
      let entity = try model.entity(Typed.self)
      let row = try entity.row(of: Typed(date: Date(timeIntervalSinceReferenceDate: 12.5)), stamp: 1)
      #expect(row.values.contains(.real(12.5)))
    }

    @Test("A conflict is retried a bounded number of times, and is a typed error then")
    func boundedRetries() throws {
      let fleet = try Fleet()
      let store = try fleet.store(timeout: 5)
      defer { try? store.close() }
      try fleet.sql(
        """
        CREATE FUNCTION always() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001'', MESSAGE = ''always''; END'; \
        CREATE TRIGGER always BEFORE INSERT ON "Progress" FOR EACH ROW EXECUTE FUNCTION always()
        """)
      var attempts = 0
      #expect {
        try store.write(origin: nil) { writing in
          attempts += 1
          _ = try writing.insert(fleet.row(1, 0), for: fleet.key(1))
        }
      } throws: { error in
        if case StoreError.locked = error { true } else { false }
      }
      #expect((2...65).contains(attempts), "\(attempts)")
    }

    @Test(
      "Attaching that meets another transaction in a deadlock begins again, where it is the one that is ended, however long it has waited"
    )
    func deadlocksWhileAttaching() throws {
      let fleet = try SearchFleet(Note.self, Progress.self)
      try fleet.store().close()
      // In the order in which their triggers are enabled.
      let tables = fleet.model.entities.map(\.name)
      for isOtherEnded in [false, true] {
        for table in tables { try fleet.sql("ALTER TABLE \(identifier(table)) DISABLE TRIGGER concord_insert") }
        // Whoever looks for the circle first is ended.
        let other = try locker(fleet, "SET LOCAL deadlock_timeout TO '\(isOtherEnded ? "10ms" : "20s")'")
        func lock(_ table: String) -> PostgreSQLConnection.Command {
          .once("LOCK \(identifier(table)) IN ROW EXCLUSIVE MODE")
        }
        try other.run([lock(tables[1])])
        let ended = DispatchSemaphore(value: 0)
        let problem = Locked<String?>(nil)
        Thread.detachNewThread {
          defer { ended.signal() }
          // The server looks for the circle when it has waited for a second.
          do { try fleet.store(timeout: 0.9).close() } catch { problem.withLock { $0 = "\(error)" } }
        }
        // It has the first table, and waits for the second one.
        #expect(try eventually { try waiting(fleet) })
        var code: String?
        do { try other.run([lock(tables[0]), .once("COMMIT")]) } catch let failure as PostgreSQLFailure {
          code = failure.code
          _ = other.rollBack()
        }
        #expect(code == (isOtherEnded ? "40P01" : nil))
        ended.wait()
        #expect(problem.withLock { $0 } == nil)
        #expect(try fleet.server.disabledTriggers(fleet.schema) == "0")
      }
    }

    @Test("A reading that is ended by a deadlock with who changes tables begins again")
    func deadlocksWhileReading() throws {
      let fleet = try SearchFleet(Note.self, Progress.self)
      let store = try fleet.store()
      defer { try? store.close() }
      let context = try store.context(fleet.model)
      context.insert(Note(1, "pony"))
      context.insert(Progress(id: 1, last: 2))
      try context.save()
      let keys = try [fleet.model.entity(Note.self), fleet.model.entity(Progress.self)].map {
        EntityKey($0, .integer(1))
      }
      let other = try locker(fleet, "SET LOCAL deadlock_timeout TO '20s'")
      func lock(_ key: EntityKey) -> PostgreSQLConnection.Command {
        .once("LOCK \(identifier(key.entity.name)) IN ACCESS EXCLUSIVE MODE")
      }
      try other.run([lock(keys[1])])
      let ended = DispatchSemaphore(value: 0)
      let problem = Locked<String?>(nil)
      let first = lock(keys[0])
      var attempts = 0
      let found = try store.read { reading in
        reading.mayReadAgain()
        attempts += 1
        let row = try reading.row(of: keys[0])
        if attempts == 1 {
          Thread.detachNewThread {
            defer { ended.signal() }
            do { try other.run([first, .once("COMMIT")]) } catch { problem.withLock { $0 = "\(error)" } }
          }
          #expect(try eventually { try waiting(fleet) })
        }
        return [row, try reading.row(of: keys[1])]
      }
      ended.wait()
      #expect(problem.withLock { $0 } == nil)
      #expect(attempts == 2 && found.allSatisfy { $0 != nil })
    }

    /// Begins a transaction of another program.
    private func locker(_ fleet: SearchFleet, _ setting: String) throws -> PostgreSQLConnection {
      let connection = try PostgreSQLConnection(
        PostgreSQLOptions(
          connection: fleet.server.url(ports: [fleet.server.port], role: "owner"), schema: fleet.schema))
      try connection.run([.once("BEGIN"), .once(setting)])
      return connection
    }

    /// Whether somebody waits for a table of a schema.
    private func waiting(_ fleet: SearchFleet) throws -> Bool {
      try fleet.sql(
        """
        SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE NOT l.granted AND n.nspname = \(literal(fleet.schema))
        """) != "0"
    }

    @Test("Of writers that lock rows in opposite orders none fails, although the server ends one of them now and then")
    func deadlocks() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      defer { try? store.close() }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (1, 1, 1), (2, 1, 1)")
      @Sendable func locks(_ id: Int) -> String { "SELECT 1 FROM \"Progress\" WHERE \"id\" = \(id) FOR UPDATE" }
      var attempts = 0
      let thread = Locked<[String]>([])
      for round in 1...3 {
        // Somebody else has the second row, and wants the first one when this has it.
        let (isHeld, isWanted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchSemaphore(value: 0)
        let other = try PostgreSQLConnection(
          PostgreSQLOptions(
            connection: fleet.server.url(ports: [fleet.server.port], role: "owner"), schema: fleet.schema))
        var isFirst = true
        Thread.detachNewThread {
          defer { ended.signal() }
          do {
            // It looks for the circle later than the other one, so that it is not the one that is ended.
            try other.run([.once("BEGIN"), .once("SET deadlock_timeout TO '20s'"), .once(locks(2))])
          } catch { thread.withLock { $0.append("\(error)") } }
          isHeld.signal()
          isWanted.wait()
          do { try other.run([.once(locks(1)), .once("COMMIT")]) } catch { thread.withLock { $0.append("\(error)") } }
        }
        isHeld.wait()
        try store.write(origin: nil) { writing in
          attempts += 1
          func update(_ id: Int) throws {
            guard let old = try writing.row(of: fleet.key(id)) else { return }
            try writing.update(fleet.row(id, round, stamp: Stamp(round + 1)), replacing: old, for: fleet.key(id))
            // So that it is sent.
            _ = try writing.row(of: fleet.key(id))
          }
          try update(1)
          if isFirst {
            isFirst = false
            isWanted.signal()
            Thread.sleep(forTimeInterval: 0.2)
          }
          try update(2)
        }
        ended.wait()
      }
      #expect(thread.withLock { $0 } == [])
      // The one that is ended may have the first row again before the other one wakes up, and meet it once more.
      #expect((6...15).contains(attempts), "\(attempts)")
      #expect(try fleet.sql("SELECT string_agg(last::text, ',') FROM \"Progress\"") == "3,3")
    }

    @Test("pg_dump of the schema holds all, and processes see what another epoch means")
    func backup() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      let store = try fleet.store(pollInterval: 0.05)
      defer { try? store.close() }
      try store.write(origin: nil) { writing in
        for id in 1...3 { _ = try writing.insert(fleet.row(id, id), for: fleet.key(id)) }
      }
      let copy = server.folder.appending(path: "copy.sql")
      try server.dump(to: copy, schema: fleet.schema)
      let told = Locked(0)
      let observation = store.observeCommits { commit in if commit.keys == nil { told.withLock { $0 += 1 } } }
      try server.sql("DROP SCHEMA \(identifier(fleet.schema)) CASCADE")
      try server.restore(copy)
      try fleet.sql("UPDATE concord_state SET epoch = gen_random_uuid()")
      #expect(eventually { told.withLock { $0 > 0 } })
      #expect(try store.read { try $0.row(of: fleet.key(2)) } == fleet.row(2, 2))
      // The copy is attached, and its triggers tell.
      let other = try fleet.store()
      try other.write(origin: nil) { _ = try $0.insert(fleet.row(4, 4), for: fleet.key(4)) }
      try other.close()
      let keys = Locked<Set<EntityKey>>([])
      let following = store.observeCommits { commit in keys.withLock { $0.formUnion(commit.keys ?? []) } }
      try fleet.sql("INSERT INTO \"Progress\" VALUES (5, 5, 1)")
      #expect(try eventually { try keys.withLock { $0.contains(try fleet.key(5)) } })
      withExtendedLifetime((observation, following)) {}
    }

    @Test("The feed takes about 100 bytes for each statement, and is removed in batches of 1,000")
    func retention() throws {
      let fleet = try Fleet()
      let store = try fleet.store()
      let before = try fleet.sql("SELECT pg_total_relation_size('concord_changes')")
      try fleet.sql(
        "DO $$ BEGIN FOR i IN 1..5000 LOOP INSERT INTO \"Progress\" VALUES (i, 0, 1); END LOOP; END $$")
      let after = try fleet.sql("SELECT pg_total_relation_size('concord_changes')")
      let each = ((Int(after) ?? 0) - (Int(before) ?? 0)) / 5000
      print("feed: \(each) bytes for each statement")
      #expect((50...200).contains(each))
      try store.close()
      // One that is asked with long intervals removes one batch each time that it looks.
      let trimming = try fleet.store(pollInterval: 0.3, retention: 0.1)
      defer { try? trimming.close() }
      let observation = trimming.observeCommits { _ in }
      var counts: Set<Int> = []
      _ = try eventually(20) {
        counts.insert(Int(try fleet.sql("SELECT count(*) FROM concord_changes")) ?? -1)
        return counts.contains(0)
      }
      #expect(counts.isSubset(of: [5000, 4000, 3000, 2000, 1000, 0]) && counts.count > 2, "\(counts.sorted())")
      withExtendedLifetime(observation) {}
    }

    @Test("A transaction that stays open delays nobody, however much is committed since")
    func longTransactions() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 600)
      defer { try? store.close() }
      let told = Locked(0)
      let observation = store.observeCommits { _ in told.withLock { $0 += 1 } }
      let open = try PostgreSQLConnection(PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema))
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Progress\" VALUES (0, 1, 1)")])
      func poll() -> Double {
        let start = Date()
        store.settle()
        return -start.timeIntervalSinceNow * 1000
      }
      let first = (0..<10).map { _ in poll() }.min() ?? 0
      for batch in 0..<10 {
        try fleet.sql(
          (1...1000).map { "INSERT INTO \"Progress\" VALUES (\(batch * 1000 + $0), 1, 1)" }.joined(separator: "; "))
      }
      store.settle()
      #expect(told.withLock { $0 } == 10_000)
      let last = (0..<10).map { _ in poll() }.min() ?? 0
      print("long transactions: a poll takes \(first) ms, and \(last) ms behind 10,000 commits")
      #expect(told.withLock { $0 } == 10_000)
      try open.run([.once("COMMIT")])
      store.settle()
      #expect(told.withLock { $0 } == 10_001)
      withExtendedLifetime(observation) {}
    }

    @Test("An idle process costs one query in each interval, and one connection")
    func idle() throws {
      let fleet = try Fleet()
      let store = try fleet.store(pollInterval: 0.2)
      defer { try? store.close() }
      let observation = store.observeCommits { _ in }
      let ids =
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_visible_in_snapshot%' AND pid <> pg_backend_pid()"
      var seen: Set<String> = []
      // Each poll is a transaction, and so is nothing else.
      func polls() throws -> Int {
        seen.formUnion(try fleet.server.sql(ids).split(separator: "\n").map(String.init))
        return Int(try fleet.server.sql("SELECT xact_commit FROM pg_stat_database WHERE datname = 'shop'")) ?? 0
      }
      _ = try polls()
      Thread.sleep(forTimeInterval: 1.5)
      // Twenty of the store's, and those of this test. The server counts late what connections of earlier tests did: that is over after a while.
      var count = 0
      for _ in 0..<4 {
        let before = try polls()
        Thread.sleep(forTimeInterval: 4)
        count = try polls() - before
        if count <= 40 { break }
      }
      #expect((5...40).contains(count), "\(count)")
      withExtendedLifetime(observation) {}
    }
  }

  private struct Other: PersistentEntity, Equatable {
    let id: String
    static let persistentProperties: [PersistentProperty<Other>] = [.init("id", \.id)]
    init(from row: inout RowReader) throws { id = try row.read() }
    func write(to row: inout RowWriter) throws { try row.write(id) }
    init(id: String) { self.id = id }
  }

  private struct Typed: PersistentEntity, Aggregate, Equatable {
    let id: UUID
    var int = 1
    var small: Int8 = 1
    var unsigned: UInt64 = 1
    var bool = true
    var double = 1.0
    var float: Float = 1
    var date: Date
    var string = ""
    var data = Data()
    var list: [String: Int] = [:]
    var other = Other(id: "o")

    static let persistentProperties: [PersistentProperty<Typed>] = [
      .init("id", \.id), .init("int", \.int), .init("small", \.small), .init("unsigned", \.unsigned),
      .init("bool", \.bool), .init("double", \.double), .init("float", \.float), .init("date", \.date),
      .init("string", \.string), .init("data", \.data), .init("list", \.list), .init("other", \.other),
    ]
    init(from row: inout RowReader) throws {
      (id, int, small, unsigned) = (try row.read(), try row.read(), try row.read(), try row.read())
      (bool, double, float, date) = (try row.read(), try row.read(), try row.read(), try row.read())
      (string, data, list, other) = (try row.read(), try row.read(), try row.read(), try row.read())
    }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(int)
      try row.write(small)
      try row.write(unsigned)
      try row.write(bool)
      try row.write(double)
      try row.write(float)
      try row.write(date)
      try row.write(string)
      try row.write(data)
      try row.write(list)
      try row.write(other)
    }
    init(date: Date) { (id, self.date) = (UUID(), date) }
  }
#endif
