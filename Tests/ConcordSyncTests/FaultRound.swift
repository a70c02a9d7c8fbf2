#if Server && os(Linux)
  import ConcordServer
  import Foundation
  import Testing

  /// Devices and servers that are processes, and are killed, behind a network that fails.
  struct FaultRound: Sendable {
    let kind: Kind
    let seed: UInt64
    let deviceCount: Int
    let actions: Int

    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "SyncProcess")

    /// A process that is started again when it was killed.
    private final class Child {
      private(set) var process = Process()
      private let arguments: (Int) -> [String]
      private let log: URL
      private var clocks: SplitMix
      private(set) var starts = 0

      init(log: URL, clocks: UInt64, _ arguments: @escaping (Int) -> [String]) throws {
        (self.log, self.arguments, self.clocks) = (log, arguments, SplitMix(clocks))
        try Data().write(to: log)
        try start()
      }

      func start() throws {
        process = Process()
        process.executableURL = FaultRound.program
        process.arguments = arguments(starts)
        // Its clock is another one each time, by up to half a day.
        let offset = Int.random(in: -43_200...43_200, using: &clocks)
        process.environment = ProcessInfo.processInfo.environment.merging([
          "SWIFT_BACKTRACE": "enable=no", "CONCORD_CLOCK_OFFSET": "\(offset)",
        ]) { $1 }
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        (process.standardOutput, process.standardError, process.standardInput) = (output, output, FileHandle.nullDevice)
        starts += 1
        try process.run()
      }

      func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
    }

    func run() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-fault-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      var isGood = false
      defer { if isGood { try? FileManager.default.removeItem(at: folder) } else { print("left: \(folder.path)") } }
      var numbers = SplitMix(seed)
      let (container, schema) = (ServerContainer(name: "Shop", model: try shopModel()), Kind.newSchema())
      try kind.attach(to: container, in: folder, schema: schema)
      let store = try #require(container.persistentStoreCoordinator.persistentStores.first?.rows)
      try store.startFeed(FeedLimits(changes: 1_000_000, rows: 1_000_000))
      let context = container.newBackgroundContext()
      for id in 1...6 {
        context.insert(
          Cart(id: id, owner: id % 2 + 1, lines: [Line(id: "l\(id)", book: Book(id: id % 3, title: "b", stock: 99))]))
      }
      try context.save()
      let place = kind == .postgreSQL ? "\(Kind.database ?? "")#\(schema)" : folder.appending(path: "server").path
      let ports = try (0..<(kind == .postgreSQL ? 2 : 1)).map { _ in try HostileProxy.freePort() }
      let servers = try ports.map { port in
        try Child(log: folder.appending(path: "server-\(port).log"), clocks: numbers.next()) { _ in
          ["serve", place, "\(port)"]
        }
      }
      defer { for server in servers { server.kill() } }
      for port in ports { try #require(try await eventually { Self.isListening(port) }, "no server, seed \(seed)") }
      let proxy = try HostileProxy(to: ports, seed: seed)
      defer { proxy.stop() }
      let devices = try (0..<deviceCount).map { number in
        let place = folder.appending(path: "device-\(number)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return try Child(log: folder.appending(path: "device-\(number).log"), clocks: numbers.next()) {
          [seed, actions, port = proxy.port] starts in
          [
            "device", "http://127.0.0.1:\(port)/sync", place.path, "\(number % 2 + 1)", "\(actions)",
            "\(seed % 100_000 * 10_000 + UInt64(number * 100 + starts))",
          ]
        }
      }
      defer { for device in devices { device.kill() } }
      for _ in 0..<max(6, actions / 5) {
        try await Task.sleep(for: .milliseconds(Int.random(in: 50...300, using: &numbers)))
        let child: Child?
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0..<3: child = devices.randomElement(using: &numbers)
        case 3, 4: child = servers.randomElement(using: &numbers)
        case 5 where kind == .postgreSQL:
          try Self.crashDatabase()
          child = nil
        default: child = nil
        }
        child?.kill()
        try child?.start()
      }
      proxy.calm()
      // A process may have ended by itself only if it has failed.
      for child in servers + devices where !child.process.isRunning {
        Issue.record("seed \(seed): a process has ended with \(child.process.terminationStatus)")
        try child.start()
      }
      // When all actions are decided, each device gets what the last ones have changed.
      for (told, said) in [("finish", "decided"), ("compare", "end")] {
        for number in devices.indices { try Data().write(to: folder.appending(path: "device-\(number)/\(told)")) }
        for number in devices.indices {
          let file = folder.appending(path: "device-\(number)/\(said)")
          try #require(
            try await isThere(file, in: folder), "seed \(seed), \(kind): device \(number) has not \(said)")
        }
      }
      isGood = try check(folder, container, store)
      print("\(kind): \(proxy.reordered) requests and answers were overtaken")
      #expect(proxy.reordered > 0)
    }

    /// Waits for a file, as long as there is progress: a machine may have other work to do.
    private func isThere(_ file: URL, in folder: URL) async throws -> Bool {
      // Each device writes each state that it shows.
      func progress() -> [UInt64] {
        (0..<deviceCount).map { number in
          let path = folder.appending(path: "device-\(number)/states").path
          return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64) ?? 0
        }
      }
      var (last, silences) = (progress(), 0)
      while silences < 4 {
        let isFound = try await eventually { FileManager.default.fileExists(atPath: file.path) }
        if isFound { return true }
        let now = progress()
        silences = now == last ? silences + 1 : 0
        last = now
      }
      return false
    }

    private static func isListening(_ port: Int) -> Bool {
      guard let connection = HostileProxy.connection(to: port) else { return false }
      close(connection)
      return true
    }

    /// Kills a process of the database, which recovers from that as from a crash; where that may not be, nothing happens.
    private static func crashDatabase() throws {
      // A process that ends loses nothing that is written, so the disk need not be waited for at the recovery.
      try administer("ALTER SYSTEM SET fsync = off")
      try administer("SELECT pg_reload_conf()")
      let pid = try administer("SELECT pid FROM pg_stat_activity WHERE usename = 'shop' ORDER BY random() LIMIT 1")
      if let pid = Int32(pid) { kill(pid, SIGKILL) }
    }

    @discardableResult
    private static func administer(_ sql: String) throws -> String {
      let psql = Process()
      psql.executableURL = URL(filePath: "/usr/bin/env")
      let url = (Kind.database ?? "").replacing("shop@", with: "owner@")
      psql.arguments = ["psql", "-X", "-A", "-t", url, "-c", sql]
      let output = Pipe()
      (psql.standardOutput, psql.standardError) = (output, FileHandle.nullDevice)
      try psql.run()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      psql.waitUntilExit()
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: Checking

    private func check(_ folder: URL, _ container: ServerContainer, _ store: any RowStore) throws -> Bool {
      let checker = try FaultChecker(store, container.model)
      let served = try container.newBackgroundContext().fetch(FetchDescriptor<Cart>()).sorted { $0.id < $1.id }
      var (queued, refused) = (Set<String>(), Set<String>())
      var isGood = true
      var planted: [DeviceMoment]?
      var clocks: [ClockReading] = []
      for number in 0..<deviceCount {
        let place = folder.appending(path: "device-\(number)")
        let user = Int64(number % 2 + 1)
        let moments: [DeviceMoment] = try Self.lines(place.appending(path: "states"))
        let queue: [[String]] = try Self.lines(place.appending(path: "queued"))
        queued.formUnion(queue.compactMap(\.first))
        let end = try JSONDecoder().decode(DeviceEnd.self, from: Data(contentsOf: place.appending(path: "end")))
        refused.formUnion(end.refused)
        let found = try checker.violations(moments, user: user)
        #expect(found.isEmpty, "seed \(seed), \(kind), device \(number): \(found.prefix(3).joined(separator: "; "))")
        let wanted = served.filter { $0.owner == Int(user) }
        let isEqual = [end.carts, end.shown].allSatisfy { carts in carts.sorted { $0.id < $1.id } == wanted }
        #expect(
          isEqual && end.pending == 0, "seed \(seed), \(kind): device \(number) differs from the server at the end")
        #expect(moments.contains { $0.position != nil && !$0.carts.isEmpty })
        isGood = isGood && found.isEmpty && isEqual && end.pending == 0
        clocks += try Self.lines(place.appending(path: "dates"))
        if user == 1, planted == nil {
          planted = moments.filter { $0.position != nil && !$0.carts.isEmpty && $0.kept.isEmpty }
        }
      }
      let found = FaultChecker.violations(served.map(\.note), queued: queued, refused: refused)
      #expect(found.isEmpty, "seed \(seed), \(kind): \(found.prefix(5).joined(separator: "; "))")
      print("\(kind): \(queued.count) actions that append, \(refused.count) refused")
      // The processes had the dates that they were given.
      let differences = clocks.map { $0.date - Double($0.offset) - Date().timeIntervalSince1970 }
      #expect(differences.allSatisfy { abs($0) < 3600 } && clocks.contains { abs($0.offset) > 3600 })
      try checkPlanted(checker, try #require(planted), served.map(\.note), queued)
      return isGood && found.isEmpty
    }

    /// The checker finds what is planted.
    private func checkPlanted(
      _ checker: FaultChecker, _ moments: [DeviceMoment], _ notes: [String], _ queued: Set<String>
    ) throws {
      func isFound(_ change: (inout DeviceMoment) -> Void) throws -> Bool {
        var changed = try #require(moments.last { !$0.carts.isEmpty })
        change(&changed)
        return try !checker.violations([changed], user: 1).isEmpty
      }
      #expect(try isFound { $0.carts.removeLast() } && isFound { $0.carts[0].note += "<x.1>" })
      #expect(try isFound { $0.carts[0].owner = 2 } && isFound { $0.isTorn = true } && isFound { $0.position = "1.1" })
      #expect(try isFound { $0.carts.append(.init(id: 99, owner: 1, note: "", weight: 0, lines: 0)) })
      // As if the row with the latest date won, an earlier value of a cart at a later position.
      let values = moments.flatMap { $0.carts }
      if let last = moments.last, let cart = last.carts.first,
        let earlier = values.first(where: { $0.id == cart.id && $0 != cart })
      {
        var changed = last
        changed.carts[0] = earlier
        #expect(try !checker.violations([changed], user: 1).isEmpty)
      }
      // As if pages were applied in the order in which they arrive.
      let stepBack = try checker.violations([try #require(moments.last), moments[0]], user: 1)
      #expect(moments.last?.position == moments[0].position || !stepBack.isEmpty)
      func violations(_ notes: [String], _ queued: Set<String> = [], _ refused: Set<String> = []) -> [String] {
        FaultChecker.violations(notes, queued: queued, refused: refused)
      }
      #expect(violations(["<1.1><1.2>", "<1.3>"], ["<1.1>"], ["<2.1>"]).isEmpty)
      #expect(!violations(["<1.1>", "<1.1>"]).isEmpty && !violations(["<1.2><1.1>"]).isEmpty)
      #expect(!violations([""], ["<1.1>"]).isEmpty && !violations(["<1.1>"], [], ["<1.1>"]).isEmpty)
    }

    private static func lines<T: Decodable>(_ file: URL) throws -> [T] {
      guard let data = FileManager.default.contents(atPath: file.path) else { return [] }
      return try data.split(separator: 0x0A).map { try JSONDecoder().decode(T.self, from: $0) }
    }
  }
#endif
