#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Connections to PostgreSQL", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct ConnectionTests {
    private func connect() throws -> PostgreSQLConnection {
      try PostgreSQLConnection(PostgreSQLOptions(connection: PostgreSQLServer.shared.get().url))
    }

    @Test("Values of all types go there and come back to the bit")
    func values() throws {
      let connection = try connect()
      let cases: [(ColumnForm, [StoredValue])] = [
        (.integer, [.integer(.min), .integer(-1), .integer(0), .integer(.max), .null]),
        (.boolean, [.integer(0), .integer(1)]),
        (
          .real,
          [-0.0, 0, 1.5, .infinity, -.infinity, .nan, Double(nan: 77, signaling: false), Double.leastNonzeroMagnitude]
            .map {
              $0.storedValue
            }
        ),
        (
          .float,
          [Float(-0.0), 0, 1.5, .infinity, .nan, Float(nan: 77, signaling: true), .leastNonzeroMagnitude].map {
            $0.storedValue
          }
        ),
        (.unsigned, [UInt64(0), 1, 9999, 10000, 100_000_000, 1 << 63, .max].map { $0.storedValue }),
        (.text, ["", "a", "\0", "a\0\u{1}\u{2}b", "\u{1}", "é", "e\u{301}", "😀", "\u{10FFFF}"].map { .text($0) }),
        (.uuid, [.text(UUID().uuidString)]),
        (.bytes, [.blob(Data()), .blob(Data([0, 1, 255]))]),
        (
          .any,
          [
            .integer(7), .real(7), .real(-.infinity), .text("7"), .text("x'00'"), .text("'"), .text(""), .text("\0"),
            .blob(Data()), .blob(Data([0, 17, 255])),
          ]
        ),
      ]
      for (form, values) in cases {
        for value in values {
          var parameters = PostgreSQLParameters()
          #expect(form.append(value, to: &parameters), "\(form) \(value)")
          let result = try connection.query("SELECT $1", parameters)
          let back = result.isNull(0, 0) ? .null : form.read(result, 0, 0)
          #expect(back == value, "\(form)")
        }
      }
    }

    @Test("Texts are ordered by their bytes with U+0000 in them, too")
    func nulls() throws {
      let connection = try connect()
      let texts = [
        "", "\0", "\0a", "\0\0", "\u{1}", "\u{1}\0", "\u{1}\u{1}", "\u{2}", "a", "a\0", "a\0b", "a\u{1}", "a\u{2}",
        "ab",
      ]
      let sorted = texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      try connection.run([.once("CREATE TEMPORARY TABLE texts (t text COLLATE \"C\" PRIMARY KEY)")])
      for text in texts {
        var parameters = PostgreSQLParameters()
        _ = ColumnForm.text.append(.text(text), to: &parameters)
        _ = try connection.query("INSERT INTO texts VALUES ($1)", parameters)
      }
      let result = try connection.query("SELECT t FROM texts ORDER BY t")
      #expect((0..<result.count).map { ColumnForm.text.read(result, $0, 0) } == sorted.map { .text($0) })
    }

    @Test("The server and this program agree on which texts are plain")
    func plain() throws {
      let connection = try connect()
      for scalar in (1...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).filter({
        $0.value < 0x3100 || $0.value % 13 == 0
          || PlainScalars.contains($0.value) != PlainScalars.contains($0.value - 1)
          || PlainScalars.contains($0.value) != PlainScalars.contains($0.value + 1)
      }).chunked(2000) {
        // An array would need another format: one text for each.
        let list = scalar.filter { $0.value >= 0x80 }
        if list.isEmpty { continue }
        let values = list.map {
          "(U&'\\+\(String(repeating: "0", count: 6 - String($0.value, radix: 16).count))\(String($0.value, radix: 16))')"
        }
        let result = try connection.run([
          .once("SELECT \(PostgreSQLOrder.isNotPlain("t.c")) FROM (VALUES \(values.joined(separator: ", "))) AS t(c)")
        ])[0]
        for (row, scalar) in list.enumerated() {
          #expect(result.bool(row, 0) == !PlainScalars.contains(scalar.value), "U+\(String(scalar.value, radix: 16))")
        }
      }
    }

    @Test("Of a batch that fails, the commands behind the failure are not run, and the connection goes on")
    func batches() throws {
      let connection = try connect()
      try connection.run([.once("CREATE TEMPORARY TABLE t (n int PRIMARY KEY)")])
      #expect(throws: PostgreSQLFailure.self) {
        try connection.run([
          .init(sql: "BEGIN"), .init(sql: "INSERT INTO t VALUES (1)"), .init(sql: "INSERT INTO t VALUES (1)"),
          .init(sql: "INSERT INTO t VALUES (2)"),
        ])
      }
      #expect(connection.isInTransaction)
      #expect(connection.rollBack())
      #expect(try connection.query("SELECT count(*) FROM t").integer(0, 0) == 0)
      for number in 0..<600 { _ = try connection.query("SELECT \(number)::bigint") }
      connection.later(.init(sql: "BEGIN"))
      _ = try connection.query("INSERT INTO t VALUES (3)")
      try connection.finish(.end)
      #expect(!connection.isInTransaction)
      #expect(try connection.query("SELECT count(*) FROM t").integer(0, 0) == 1)
    }

    @Test(
      "A wrong password, a server that is not there, and a malformed URL: errors that name the place, and no secret")
    func failures() throws {
      let server = try PostgreSQLServer.shared.get()
      let port = try PostgreSQLServer.freePort()
      let cases = [
        (server.url.replacing("%3A", with: "x"), "127.0.0.1\", port \(server.port)"),
        (server.url(port: port), "port \(port)"),
        (server.url.replacing("%3A", with: "%ZZsecret"), "cannot be read"),
      ]
      for (url, expected) in cases {
        do {
          _ = try PostgreSQLPool(PostgreSQLOptions(connection: url), store: "Shop").with { _ in }
          Issue.record("it is connected")
        } catch let failure as PostgreSQLFailure {
          let text = "\(StoreError(failure, store: "Shop"))"
          #expect(text.contains("no connection") && text.contains(expected), "\(text)")
          #expect(!text.contains("et@1") && !text.contains("et%401") && !text.contains("secret"), "\(text)")
        }
      }
    }

    @Test("A connection that is cut while it is made is a failure, whenever that is")
    func cutWhileConnecting() throws {
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      defer { proxy.stop() }
      let options = PostgreSQLOptions(connection: try PostgreSQLServer.shared.get().url(port: proxy.port))
      proxy.count()
      _ = try PostgreSQLConnection(options)
      let total = proxy.counted
      var failures = 0
      for (cutsAnswers, bytes) in [(false, total.requests), (true, total.answers)] {
        for byte in stride(from: 0, to: bytes, by: 7) {
          // What the connection before says when it ends may count, too: then this one is whole.
          proxy.cut(after: byte, ofAnswers: cutsAnswers)
          do { _ = try PostgreSQLConnection(options) } catch let failure as PostgreSQLFailure {
            #expect(failure.isConnectionLost, "\(byte) of \(bytes)")
            failures += 1
          }
          proxy.cutNoMore()
        }
      }
      #expect(failures > 20)
    }

    @Test("A server that says nothing is given up, five seconds after it should have ended the statement")
    func silence() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      var options = PostgreSQLOptions(connection: server.url)
      options.timeout = 0.5
      let connection = try PostgreSQLConnection(options)
      server.pause()
      defer { server.goOn() }
      let start = Date()
      let failure = #expect(throws: PostgreSQLFailure.self) { try connection.query("SELECT 1") }
      #expect(failure?.isConnectionLost == true && failure?.message.contains("has not answered") == true)
      #expect((5...8).contains(-start.timeIntervalSinceNow))
    }

    @Test(
      "Who waits without a limit for a server that says nothing gives it up, also where another one of the URL answers")
    func silentHost() throws {
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop("immediate") }
      let other = try PostgreSQLServer.shared.get()
      let holding = try PostgreSQLConnection(PostgreSQLOptions(connection: server.url))
      try holding.changingSchema("concord") {}
      var options = PostgreSQLOptions(connection: server.url(ports: [server.port, other.port]))
      options.timeout = 0.5
      let connection = try PostgreSQLConnection(options)
      let ended = DispatchSemaphore(value: 0)
      let reason = Locked("")
      Thread.detachNewThread {
        do { try connection.changingSchema("concord") {} } catch { reason.withLock { $0 = "\(error)" } }
        ended.signal()
      }
      let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
      #expect(try eventually { try server.sql(waiting) == "1" })
      server.pause()
      let isGivenUp = ended.wait(timeout: .now() + 30) == .success
      server.goOn()
      #expect(isGivenUp)
      _ = holding.rollBack()
      if !isGivenUp { ended.wait() }
      #expect(reason.withLock { $0 }.contains("has not answered"))
    }

    @Test("Who finds all connections in use waits for one, and after the time-out is told so")
    func poolTimeout() throws {
      var options = PostgreSQLOptions(connection: try PostgreSQLServer.shared.get().url)
      (options.poolSize, options.timeout) = (2, 0.3)
      let pool = PostgreSQLPool(options, store: "Shop")
      let error = try pool.with { _ in
        try pool.with { _ in #expect(throws: StoreError.self) { try pool.with { _ in () } } }
      }
      #expect(error?.description.contains("all 2 connections were in use") == true)
      try pool.with { _ in () }
    }

    @Test("A connection beyond the limit is closed when it is given back")
    func nested() throws {
      var options = PostgreSQLOptions(connection: try PostgreSQLServer.shared.get().url)
      options.poolSize = 2
      let pool = PostgreSQLPool(options, store: "Shop")
      defer { pool.close() }
      try pool.with { _ in
        try pool.with { _ in
          try pool.with(isNested: true) { _ in try pool.with(isNested: true) { _ in #expect(pool.count == 4) } }
        }
      }
      #expect(pool.count == 2)
    }

    @Test("The connection beyond the size of the pool is for who reads within its own, and not for who waits")
    func surplus() throws {
      var options = PostgreSQLOptions(connection: try PostgreSQLServer.shared.get().url)
      (options.poolSize, options.timeout) = (1, 0.2)
      let pool = PostgreSQLPool(options, store: "Shop")
      defer { pool.close() }
      try pool.with { _ in
        try pool.with(isNested: true) { _ in }
        #expect(pool.count == 2)
        #expect(throws: StoreError.self) { try pool.with { _ in } }
        try pool.with(isNested: true) { _ in #expect(pool.count == 2) }
      }
      #expect(pool.count == 1)
    }

    @Test("A connection that nobody has used for its time is closed, and another one is made when it is needed")
    func idle() throws {
      let fleet = try Fleet()
      var options = PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema)
      (options.idleTime, options.pollInterval) = (0.3, 0.1)
      let store = try PostgreSQLStore(name: "Shop", options, model: fleet.model, entities: fleet.model.entities)
      defer { try? store.close() }
      let observation = store.observeCommits { _ in }
      #expect(store.pool.count >= 1)
      #expect(eventually { store.pool.count == 0 })
      #expect(try store.read { try $0.row(of: fleet.key(1)) } == nil)
      withExtendedLifetime(observation) {}
    }

    @Test("A statement that takes too long is ended by the server")
    func timeouts() throws {
      var options = PostgreSQLOptions(connection: try PostgreSQLServer.shared.get().url)
      options.timeout = 0.3
      let connection = try PostgreSQLConnection(options)
      let start = Date()
      do {
        _ = try connection.query("SELECT pg_sleep(10)")
        Issue.record("it has slept")
      } catch let failure as PostgreSQLFailure { #expect(failure.code == "57014") }
      #expect(-start.timeIntervalSinceNow < 3)
      #expect(try connection.query("SELECT 1::bigint").integer(0, 0) == 1)
    }

    @Test("What another thread cancels, the server ends, and the connection goes on")
    func cancelling() throws {
      let server = try PostgreSQLServer.shared.get()
      let connection = try PostgreSQLConnection(PostgreSQLOptions(connection: server.url))
      let cancellation = try #require(connection.cancellation)
      let isRunning = "SELECT count(*) FROM pg_stat_activity WHERE pid = \(connection.processID) AND state = 'active'"
      let thread = Thread {
        guard (try? eventually { try server.sql(isRunning) == "1" }) == true else { return }
        cancellation.cancel()
      }
      thread.start()
      let failure = #expect(throws: PostgreSQLFailure.self) { try connection.query("SELECT pg_sleep(30)") }
      #expect(failure?.code == "57014" && failure?.message.contains("user request") == true)
      #expect(try connection.query("SELECT 1::bigint").integer(0, 0) == 1)
    }

    @Test("A pool has no more connections than it may, finds out which were closed, and gives a nested use one beyond")
    func pool() throws {
      let server = try PostgreSQLServer.shared.get()
      var options = PostgreSQLOptions(connection: server.url)
      options.poolSize = 3
      options.timeout = 5
      let pool = PostgreSQLPool(options, store: "Shop")
      DispatchQueue.concurrentPerform(iterations: 12) { _ in
        for _ in 0..<20 { try? pool.with { _ = try $0.query("SELECT 1::bigint") } }
      }
      #expect(pool.count <= 3)
      try pool.with { first in
        try pool.with { _ in
          try pool.with { _ in
            try pool.with(isNested: true) { (last: PostgreSQLConnection) throws -> Void in
              #expect(try last.query("SELECT 1::bigint").integer(0, 0) == 1)
              _ = try? last.query("SELECT pg_terminate_backend(\(first.processID))")
            }
          }
        }
      }
      try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop' AND state = 'idle'")
      // Until all of them have ended.
      Thread.sleep(forTimeInterval: 0.5)
      for _ in 0..<5 { #expect(try pool.with { try $0.query("SELECT 1::bigint").integer(0, 0) } == 1) }
      pool.close()
      #expect(throws: StoreError.self) { try pool.with { _ in } }
    }
  }

  extension Array {
    fileprivate func chunked(_ size: Int) -> [[Element]] {
      stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
  }
#endif
