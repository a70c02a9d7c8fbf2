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

    /// Whether the servers soon forget the rows as they were, and devices that were away get keys.
    private var isForgetful: Bool { seed % 2 == 0 }
    /// Whether devices get positions that tell nothing, as those of users do.
    private var isSealed: Bool { seed / 2 % 4 != 3 }

    /// The number of the device whose user is the other one each time that it starts, once it has a page.
    private static let deviceOfTwo = 2

    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "SyncProcess")

    /// A process that is started again when it was killed.
    private final class Child {
      private(set) var process = Process()
      private let arguments: (Int) -> [String]
      private let environment: (Int) -> [String: String]
      private let log: URL
      private var clocks: SplitMix
      private(set) var starts = 0
      /// How often it has ended because it was killed.
      private(set) var kills = 0

      /// - Parameters:
      ///   - environment: what is added to the environment, by the number of starts before.
      ///   - arguments: the arguments, by the same number.
      init(
        log: URL, clocks: UInt64, environment: @escaping (Int) -> [String: String] = { _ in [:] },
        _ arguments: @escaping (Int) -> [String]
      ) throws {
        (self.log, self.environment, self.arguments, self.clocks) = (log, environment, arguments, SplitMix(clocks))
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
        ]) { $1 }.merging(environment(starts)) { $1 }
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
        if process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL { kills += 1 }
      }
    }

    /// What a round has seen.
    struct Outcome: Sendable {
      /// How often each event has happened on the network.
      var events: [HostileProxy.Event: Int]
      /// The number of changes that the servers have forgotten.
      var forgotten: Int
      /// The violations of pages that were planted, and found.
      var planted: Set<PlantedPages.Violation>
    }

    func run() async throws -> Outcome {
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
          Cart(
            id: id, owner: id % 2 + 1,
            lines: [Line(id: "l\(id)", book: Book(id: id % 3, title: "b", stock: Self.stock))]))
      }
      try context.save()
      let file = container.persistentStoreCoordinator.persistentStores.first?.url
      let archive = isForgetful ? try FeedArchive(file, schema: schema) : nil
      let place = kind == .postgreSQL ? "\(Kind.database ?? "")#\(schema)" : folder.appending(path: "server").path
      let ports = try (0..<(kind == .postgreSQL ? 2 : 1)).map { _ in try HostileProxy.freePort() }
      let servers = try ports.map { port in
        try Child(
          log: folder.appending(path: "server-\(port).log"), clocks: numbers.next(),
          environment: { [isForgetful, isSealed] _ in
            (isForgetful ? ["CONCORD_FAULT_FEED": "5"] : [:])
              .merging(isSealed ? [:] : ["CONCORD_FAULT_OPEN": "1"]) { $1 }
          }
        ) { _ in ["serve", place, "\(port)"] }
      }
      defer { for server in servers { server.kill() } }
      for port in ports { try #require(try await eventually { Self.isListening(port) }, "no server, seed \(seed)") }
      let proxy = try HostileProxy(to: ports, seed: seed)
      defer { proxy.stop() }
      let devices = try (0..<deviceCount).map { number in
        let place = folder.appending(path: "device-\(number)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        // One has an earlier release until it is killed, and another one to the end.
        return try Child(
          log: folder.appending(path: "device-\(number).log"), clocks: numbers.next(),
          environment: { starts in
            let isEarlier = number == 0 && starts == 0 || number == 1
            return ["CONCORD_FAULT_USERS": number == Self.deviceOfTwo ? "2" : "1"]
              .merging(isEarlier ? ["CONCORD_FAULT_RELEASE": "earlier"] : [:]) { $1 }
          }
        ) {
          // The last one reads slowly.
          [seed, actions, port = number == deviceCount - 1 ? proxy.slowPort : proxy.port] starts in
          [
            "device", "http://127.0.0.1:\(port)/sync", place.path, "\(number % 2 + 1)", "\(actions)",
            "\(seed % 100_000 * 10_000 + UInt64(number * 100 + starts))",
          ]
        }
      }
      defer { for device in devices { device.kill() } }
      // A busy machine takes long to start them, and nothing would go wrong while they act.
      for number in devices.indices {
        let file = folder.appending(path: "device-\(number)/queued")
        try #require(try await isThere(file, in: folder), "seed \(seed), \(kind): device \(number) does not act")
      }
      let count = max(6, actions / 5)
      // The database crashes twice at least, each time in another way.
      let crashes = (0..<2).map { _ in Int.random(in: 0..<count, using: &numbers) }
      // So do a server and a device, once at least, most often when there are pages.
      let kills = (0..<2).map { _ in Int.random(in: count / 2..<count, using: &numbers) }
      for number in 0..<count {
        try await Task.sleep(for: .milliseconds(Int.random(in: 50...300, using: &numbers)))
        if kind == .postgreSQL {
          if crashes[0] == number { try DatabaseFault.killBackend() }
          if crashes[1] == number { try DatabaseFault.restart() }
        }
        var killed: [Child?] = []
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0..<3: killed.append(devices.randomElement(using: &numbers))
        case 3, 4: killed.append(servers.randomElement(using: &numbers))
        case 5 where kind == .postgreSQL: try DatabaseFault.killBackend()
        default: break
        }
        if kills[0] == number { killed.append(servers.randomElement(using: &numbers)) }
        if kills[1] == number { killed.append(devices.randomElement(using: &numbers)) }
        // It most often has a page by now.
        if number == count * 2 / 3, devices.indices.contains(Self.deviceOfTwo) {
          killed.append(devices[Self.deviceOfTwo])
        }
        for child in killed.compactMap({ $0 }) {
          child.kill()
          try child.start()
        }
      }
      // All that the network does, unless the devices have nothing left to ask.
      _ = try await eventually { HostileProxy.Event.allCases.allSatisfy { proxy.counts[$0] ?? 0 > 0 } }
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
      let killed = [servers, devices].map { $0.map(\.kills).reduce(0, +) }
      #expect(killed.allSatisfy { $0 > 0 }, "seed \(seed), \(kind): \(killed) servers and devices were killed")
      // What they have forgotten is needed to check what the devices have shown.
      for server in servers { server.kill() }
      let forgotten = try archive?.restore() ?? 0
      let planted: Set<PlantedPages.Violation>
      (isGood, planted) = try check(folder, container, store)
      let events = HostileProxy.Event.allCases.map { "\($0.rawValue): \(proxy.counts[$0] ?? 0)" }
      print(
        "\(kind): \(events.joined(separator: ", ")); \(forgotten) changes forgotten; \(killed[0]) servers and \(killed[1]) devices killed"
      )
      #expect(isForgetful == (forgotten > 0), "seed \(seed), \(kind)")
      return Outcome(events: proxy.counts, forgotten: forgotten, planted: planted)
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

    // MARK: Checking

    /// The stock of each book at the beginning.
    private static let stock = 99

    /// - Returns: whether all is as it is to be, and which violations of pages were planted.
    private func check(
      _ folder: URL, _ container: ServerContainer, _ store: any RowStore
    ) throws -> (isGood: Bool, planted: Set<PlantedPages.Violation>) {
      let checker = try FaultChecker(store, container.model, isSealed: isSealed)
      let context = container.newBackgroundContext()
      let served = try context.fetch(FetchDescriptor<Cart>()).sorted { $0.id < $1.id }
      let (lines, books) = (try context.fetch(FetchDescriptor<Line>()), try context.fetch(FetchDescriptor<Book>()))
      var (queued, refused) = (Set<FaultAction>(), Set<FaultAction>())
      var decisions = try (1...2).map { try DecisionChecker(of: $0, in: store) }
      var isGood = true
      var planted: PlantedViolations?
      var earlier: [DeviceMoment] = []
      var clocks: [ClockReading] = []
      var lost: [Int] = []
      var screens: [Screen] = []
      var everyone: [(user: Int64, moments: [DeviceMoment])] = []
      // Whether a device has had what only its predicate over other rows brings.
      var hasOthers = false
      var withCarts = 0
      // The actions of which it is not known whether they have had their effects.
      var undecided = Set<FaultAction>()
      var late = Set<Effect>()
      var users = 0
      let pageChecker = PageChecker(checker: checker, isForgetful: isForgetful, isSealed: isSealed)
      var pageFindings = PageChecker.Findings()
      var plantedPages: Set<PlantedPages.Violation> = []
      var cuts: [MessageCut: Int] = [:]
      for number in 0..<deviceCount {
        let place = folder.appending(path: "device-\(number)")
        let moments: [DeviceMoment] = try Self.lines(place.appending(path: "states"))
        queued.formUnion(try Self.lines(place.appending(path: "queued")))
        let end = try JSONDecoder().decode(DeviceEnd.self, from: Data(contentsOf: place.appending(path: "end")))
        let user = Int64(end.user)
        let pages = Set(moments.compactMap(\.user))
        if number == Self.deviceOfTwo { users = pages.count } else { #expect(pages == [Int64(number % 2 + 1)]) }
        refused.formUnion(end.letters.filter { !$0.isUndecided }.compactMap(\.action))
        undecided.formUnion(end.letters.filter(\.isUndecided).compactMap(\.action))
        late.formUnion(moments.flatMap(\.actions).filter(\.isUndecided).compactMap(\.effect))
        for letter in end.letters {
          // Of a user who has left the device, perhaps.
          let places = decisions.indices.filter { decisions[$0].decisions[letter.key] != nil }
          for place in places.isEmpty && (!letter.isUndecided || letter.isAccepted) ? [end.user - 1] : places {
            decisions[place].letters.append(letter)
          }
        }
        let received: [ReceivedPage] = try Self.lines(place.appending(path: "pages"))
        // Whose release changes gets everything once.
        let findings = try pageChecker.findings(received.map(WirePage.init), moments, mayAskAnew: number == 0)
        #expect(
          findings.violations.isEmpty,
          "seed \(seed), \(kind), device \(number): \(findings.violations.prefix(3).joined(separator: "; "))")
        pageFindings += findings
        for cut in try Self.lines(place.appending(path: "cuts")).flatMap({ (cuts: [MessageCut]) in cuts }) {
          cuts[cut, default: 0] += 1
        }
        if findings.violations.isEmpty, plantedPages.count < PlantedPages.Violation.allCases.count {
          plantedPages.formUnion(try PlantedPages(pageChecker, received, moments).check())
        }
        let screen = try Screen(moments, in: place)
        // The first one had the earlier release until it was killed.
        let found =
          try checker.violations(moments, user: user, isEarlier: number == 0 ? nil : number == 1)
          + screen.violations
        #expect(found.isEmpty, "seed \(seed), \(kind), device \(number): \(found.prefix(3).joined(separator: "; "))")
        let isEqual = end.hasCarts(served, books, of: user)
        #expect(
          isEqual && end.pending == 0, "seed \(seed), \(kind): device \(number) differs from the server at the end")
        if moments.contains(where: { $0.position != nil && !$0.carts.isEmpty }) {
          withCarts += 1
          #expect(screen.hasShownActions, "seed \(seed), \(kind), device \(number)")
        }
        screens.append(screen)
        hasOthers =
          hasOthers
          || moments.contains { moment in
            moment.kept.isEmpty && moment.carts.contains { $0.owner != moment.user }
          }
        isGood = isGood && found.isEmpty && findings.violations.isEmpty && isEqual && end.pending == 0
        clocks += try Self.lines(place.appending(path: "dates"))
        lost += try Self.lines(place.appending(path: "tunnels")).flatMap { (times: [Int]) in times }
        let usable = moments.filter { $0.position != nil && !$0.carts.isEmpty && $0.kept.isEmpty }
        everyone.append((user, usable))
        if number == 1 { earlier = usable }
        if user == 1, planted == nil, usable.contains(where: { !$0.lines.isEmpty && !$0.books.isEmpty }) {
          planted = PlantedViolations(checker: checker, moments: usable)
        }
      }
      // A user may have given all carts away before a device of his had any.
      #expect(withCarts >= deviceCount / 2, "seed \(seed), \(kind)")
      // Those of other devices, too, that have the same effect.
      queued.subtract(undecided)
      let lists = served.map { $0.lines.map(\.id) }
      let found =
        FaultChecker.violations(served.map(\.note) + books.map(\.title), queued: queued, refused: refused, late: late)
        + FaultChecker.violations(lists, lines, books, stock: Self.stock, queued: queued, refused: refused)
        + decisions.flatMap(\.violations)
      #expect(found.isEmpty, "seed \(seed), \(kind): \(found.prefix(5).joined(separator: "; "))")
      let names = [Append.name, AddLine.name, RemoveLine.name, Give.name, Rename.name]
      let counts = names.map { name in
        "\(name) \(queued.count { $0.name == name }) (\(refused.count { $0.name == name }) refused)"
      }
      print(
        "\(kind): \(counts.joined(separator: ", ")); \(lost.count) tunnels, \(lost.reduce(0, +)) messages lost in them; \(users) users of device \(Self.deviceOfTwo), \(late.count) actions given up with one"
      )
      let cutCounts = MessageCut.allCases.map { "\($0.rawValue) \(cuts[$0] ?? 0)" }
      print(
        "\(kind): \(pageFindings.pages) pages, \(pageFindings.cut) of them cut, \(pageFindings.known) after a known position with \(pageFindings.rows) rows; cut: \(cutCounts.joined(separator: ", "))"
      )
      // Cut messages had no effect, and no page has brought what its device had; both would have been found.
      #expect(pageFindings.cut > 0 && MessageCut.allCases.allSatisfy { cuts[$0] ?? 0 > 0 }, "seed \(seed): \(cuts)")
      // The further ones need a page after a position that the server knew, of subscriptions that the device had: not each round has one.
      let always: Set<PlantedPages.Violation> = [.withoutEnd, .cutInLine, .withoutRow, .unread]
      #expect(plantedPages.isSuperset(of: always), "seed \(seed), \(kind): only \(plantedPages)")
      #expect(lost.contains { $0 > 0 } && Set(queued.map(\.name)) == Set(names) && !refused.isEmpty)
      #expect(lines.contains { $0.text == RemoveLine.mark } && lines.contains { $0.id.hasPrefix("n") })
      // The processes had the dates that they were given.
      let differences = clocks.map { $0.date - Double($0.offset) - Date().timeIntervalSince1970 }
      #expect(differences.allSatisfy { abs($0) < 3600 } && clocks.contains { abs($0.offset) > 3600 })
      #expect(hasOthers)
      var violations = try #require(planted)
      (violations.earlier, violations.screens, violations.everyone) = (earlier, screens, everyone)
      try violations.check()
      // *Refused means gone*: by a server, for a reason of its own.
      for decisions in decisions where decisions.violations.isEmpty {
        #expect(decisions.unfound.isEmpty && !decisions.letters.isEmpty, "seed \(seed), \(kind)")
      }
      return (isGood && found.isEmpty, plantedPages)
    }

    static func lines<T: Decodable>(_ file: URL) throws -> [T] {
      guard let data = FileManager.default.contents(atPath: file.path) else { return [] }
      return try data.split(separator: 0x0A).map { try JSONDecoder().decode(T.self, from: $0) }
    }
  }
#endif
