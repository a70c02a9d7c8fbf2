#if PostgreSQL
  import Concord
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite("Rounds of faults", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct FaultRoundsTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `CONCORD_FAULT_ROUNDS` says otherwise.
    private static let rounds =
      TestOptions.number("CONCORD_FAULT_ROUNDS") ?? (TestOptions.isLong ? 200 : Fault.allCases.count)
    private static let seed = TestOptions.seed(.random(in: 0..<1_000_000))

    private enum Fault: String, CaseIterable {
      case client, crash, cut, terminate, pause, move

      /// `CONCORD_FAULTS` names some of them.
      static let chosen =
        environment["CONCORD_FAULTS"]?.split(separator: ",").compactMap { Fault(rawValue: String($0)) } ?? allCases
    }

    /// A process that counts up, and what it has acknowledged in all its lives.
    private final class Client {
      let id: Int
      private let place: String
      private let strategy: String
      private(set) var process: ChildProcess
      private(set) var lines: [String] = []
      var all: [String] { lines + process.lines }
      var acknowledged: Int { number("saved ") ?? 0 }

      init(_ id: Int, _ place: String, _ strategy: String) throws {
        (self.id, self.place, self.strategy) = (id, place, strategy)
        process = try ChildProcess(["fleet", place, "\(id)", strategy])
      }

      func kill() {
        process.kill()
        lines += process.lines
      }

      func start() throws { process = try ChildProcess(["fleet", place, "\(id)", strategy]) }

      /// The number behind a word, the last time that it was printed.
      private func number(_ word: String) -> Int? {
        all.last { $0.hasPrefix(word) }.flatMap { Int($0.dropFirst(word.count).prefix { $0 != " " }) }
      }

      /// What it has printed lately, apart from what it shows.
      var recent: [String] { process.lines.filter { !$0.hasPrefix("shows") }.suffix(12) }

      /// Whether it was told in the background that a save has failed.
      var wasTold: Bool { all.contains { $0.hasPrefix("async") } }

      /// The longest time that one save took, in milliseconds.
      var longest: Int { all.filter { $0.hasPrefix("longest ") }.compactMap { Int($0.dropFirst(8)) }.max() ?? 0 }
    }

    @Test(
      "Whatever fails, no acknowledged save is lost or doubled, all live queries agree with the table, and no connection is left"
    )
    func faults() throws {
      let server = try PostgreSQLServer(isFast: false)
      defer { try? server.stop("immediate") }
      let fleet = try Fleet(server)
      try fleet.store().close()
      // Each value that a row has had, whoever asks for the row later.
      try fleet.sql(
        """
        CREATE TABLE saved (id bigint, last bigint);
        CREATE FUNCTION note_saved() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
          SET search_path TO \(identifier(fleet.schema)) AS 'BEGIN INSERT INTO saved VALUES (NEW.id, NEW.last); RETURN NULL; END';
        CREATE TRIGGER note_saved AFTER INSERT OR UPDATE ON "Progress" FOR EACH ROW EXECUTE FUNCTION note_saved();
        """)
      let ports = [server.port, try PostgreSQLServer.freePort()]
      // One in front of each place of the server: at the other place nobody listens.
      let proxies = try ports.map { try CuttingProxy(to: $0) }
      defer { for proxy in proxies { proxy.stop() } }
      proxies[1].refuse()
      let place = "\(server.url(ports: proxies.map(\.port)))#\(fleet.schema)"
      let clients = try ["direct", "direct", "mixed"].enumerated().map { try Client($0 + 1, place, $1) }
      defer { for client in clients { client.kill() } }
      #expect(eventually(30) { clients.allSatisfy { $0.acknowledged > 3 } })
      print("faults: CONCORD_RANDOM_SEED=\(Self.seed) CONCORD_FAULT_ROUNDS=\(Self.rounds)")
      var random = SeededNumbers(seed: Self.seed)
      var counts: [Fault: Int] = [:]
      var mostConnections = 0
      for round in 0..<Self.rounds {
        // Each of them, in any order, and then again.
        let fault =
          Fault.chosen.filter { counts[$0] ?? 0 <= round / Fault.chosen.count }
          .randomElement(using: &random) ?? .crash
        counts[fault, default: 0] += 1
        let before = clients.map(\.acknowledged)
        let here = server.port == ports[0] ? 0 : 1
        switch fault {
        case .client:
          let client = clients[Int.random(in: 0..<clients.count, using: &random)]
          client.kill()
          let last = try eventuallyAlone(fleet) { try stored(fleet)[client.id] ?? 0 }
          // The last one may have been committed before it was said.
          #expect([client.acknowledged, client.acknowledged + 1].contains(last), "round \(round)")
          try client.start()
        case .crash: try server.restart("immediate")
        case .cut:
          proxies[here].cut(after: Int.random(in: 0...200, using: &random), ofAnswers: Bool.random(using: &random))
        case .terminate:
          try server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'")
        case .pause:
          server.pause()
          Thread.sleep(forTimeInterval: TestOptions.isLong ? 10 : 1)
          server.goOn()
        case .move:
          // libpq goes on to the next place only where nobody listens.
          proxies[here].refuse()
          try server.move(to: ports[1 - here])
          try proxies[1 - here].goOn()
        }
        let goesOn = eventually(90) { zip(clients, before).allSatisfy { $0.acknowledged > $1 + 2 } }
        try #require(goesOn, "round \(round): \(fault), \(clients.map { $0.all.suffix(2) })")
        #expect(proxies.allSatisfy { !$0.isToCut }, "round \(round): nothing was cut")
        mostConnections = max(mostConnections, try hold(clients, fleet, "round \(round), \(fault)"))
      }
      // Short faults may all have been over before a save gave up; this one lasts until one has.
      if !clients.contains(where: \.wasTold) {
        try server.stop("immediate")
        #expect(eventually(90) { clients[2].wasTold }, "\(clients[2].recent)")
        try server.start()
      }
      for client in clients { client.process.say("stop") }
      #expect(eventually(60) { clients.allSatisfy { $0.process.lines.contains { $0.hasPrefix("stopped") } } })
      let table = try stored(fleet)
      for client in clients {
        #expect(table[client.id] == client.acknowledged, "\(client.id)")
        let wrong = client.all.filter { $0.hasPrefix("wrong") || $0.hasPrefix("slow") }
        #expect(wrong == [], "\(client.id)")
        // Each number once, one after the other in each life.
        let saved = client.all.filter { $0.hasPrefix("saved ") }
        #expect(Set(saved).count == saved.count, "\(client.id)")
      }
      #expect(try fleet.sql("SELECT id, last FROM saved GROUP BY 1, 2 HAVING count(*) > 1") == "")
      #expect(try fleet.sql("SELECT count(*) > 0 FROM saved") == "t")
      // A save that the background could not write was told, with what it held.
      let background = clients[2].all
      #expect(
        !background.contains { $0.hasPrefix("background") } || background.contains { $0.hasPrefix("async save 3") },
        "\(background.filter { $0.hasPrefix("async") }.prefix(3))")
      print(
        """
        faults: \(counts.map { "\($0) \($1)" }.sorted().joined(separator: ", ")); \
        \(clients.map(\.acknowledged)) saves, \(clients.map { $0.all.count { $0.hasPrefix("failed") } }) failures, \
        \(clients.map { $0.all.count { $0.hasPrefix("async") } }) told in the background, \
        longest \(clients.map(\.longest)) ms, at most \(mostConnections) connections
        """)
      for client in clients { client.kill() }
      #expect(try eventually { try server.sql(Self.open) == "0" })
    }

    private static let open = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop'"

    /// Lets all clients rest, and compares what their live queries show with the table.
    ///
    /// - Returns: how many connections they have.
    private func hold(_ clients: [Client], _ fleet: Fleet, _ comment: String) throws -> Int {
      let counts = clients.map { client in client.all.count { $0.hasPrefix("held ") } }
      for client in clients { client.process.say("hold") }
      let areHeld = eventually(90) {
        zip(clients, counts).allSatisfy { client, count in client.all.count { $0.hasPrefix("held ") } > count }
      }
      try #require(areHeld, "\(comment): \(clients.map { $0.all.suffix(2) })")
      let table = try stored(fleet)
      #expect(clients.allSatisfy { table[$0.id] == $0.acknowledged }, "\(comment): \(table)")
      let shown = "shows " + table.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
      for client in clients {
        let agrees = eventually(30) {
          client.process.say("show")
          Thread.sleep(forTimeInterval: 0.02)
          return client.process.lines.last { $0.hasPrefix("shows") } == shown
        }
        #expect(agrees, "\(comment): \(client.process.lines.last ?? ""), not \(shown): \(client.recent)")
        // Its files and sockets, of which none may be left.
        let descriptors = client.process.lines.last { $0.hasPrefix("held ") }.flatMap { Int($0.dropFirst(5)) } ?? .max
        #expect(descriptors < 40, "\(comment)")
      }
      // Eight in the pool, and one that listens.
      let connections = try Int(fleet.server.sql(Self.open)) ?? .max
      #expect(connections <= clients.count * 9, "\(comment)")
      for client in clients { client.process.say("go on") }
      return connections
    }

    /// Reads when the transactions of a client that was killed have ended.
    private func eventuallyAlone<R>(_ fleet: Fleet, _ body: () throws -> R) throws -> R {
      let waiting = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'shop' AND state = 'active'"
      Thread.sleep(forTimeInterval: 0.05)
      _ = try eventually(2) { try fleet.server.sql(waiting) == "0" }
      return try body()
    }

    private func stored(_ fleet: Fleet) throws -> [Int: Int] {
      var found: [Int: Int] = [:]
      for line in try fleet.sql("SELECT id || ' ' || last FROM \"Progress\"").split(separator: "\n") {
        let parts = line.split(separator: " ").compactMap { Int($0) }
        if parts.count == 2 { found[parts[0]] = parts[1] }
      }
      return found
    }
  }
#endif
