#if Server
  import Concord
  import ConcordServer
  import Foundation

  /// A customer that is a machine: it forwards random actions, and notes each state that its file has, and each one that its screen shows.
  struct DeviceProcess {
    let url: String
    let folder: URL
    /// The user; at first, where it is another one each time that the program starts.
    let user: Int
    let actions: Int
    let seed: UInt64

    func run() async throws {
      guard let url = URL(string: url) else { return }
      let connect = DeviceConnect(
        name: "Shop", model: try shopModel(),
        forwarding: [AddLine.self, RemoveLine.self, Append.self, Give.self, Rename.self],
        outboxPolicy: OutboxPolicy(dependents: .goOn, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(100)))
      )
      let inner = ServerContainer(name: "Shop", model: connect.model)
      try inner.attachPersistentStore(at: folder, for: StoreConfiguration(type: .sqlite))
      guard let file = inner.persistentStoreCoordinator.persistentStores.first else { return }
      let rows = NotingStore(file.rows, connect.model, try Journal(folder.appending(path: "states")))
      try connect.persistentStoreCoordinator.attach(
        PersistentStore(configurationName: nil, type: file.type, url: nil, rows: rows))
      let isOfTwo = ProcessInfo.processInfo.environment["CONCORD_FAULT_USERS"] == "2"
      // It stays the same until there is a page: an action that is sent before the first one names no user.
      let last = try rows.read { try $0.note(NoteName("sync", "user")) }.flatMap { Int($0) }
      let user = isOfTwo ? last.map { 3 - $0 } ?? user : user
      try Journal(folder.appending(path: "dates")).write(ClockReading())
      try await connect.start()
      let screen = try Journal(folder.appending(path: "screen"))
      let carts = try connect.viewContext.query(FetchDescriptor<Cart>()).observe { screen.write(ShownCarts($0)) }
      let bookScreen = try Journal(folder.appending(path: "screen-books"))
      let books = try connect.viewContext.query(FetchDescriptor<Book>()).observe { bookScreen.write(ShownBooks($0)) }
      let network = Tunnels(
        HTTPTransport(baseURL: url, timeout: .seconds(10)), try Journal(folder.appending(path: "tunnels")), seed)
      let messages = CutMessages(
        network, pages: try Journal(folder.appending(path: "pages")), cuts: try Journal(folder.appending(path: "cuts")),
        seed)
      let sync = connect.sync(
        over: messages, wait: .seconds(2),
        backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(100))
      ) { [user] in "user-\(user)" }
      sync.subscribe("carts")
      let drive = Task { await network.drive() }
      try await act(connect, sync, user)
      sync.subscribe("carts")
      try await told("finish")
      drive.cancel()
      await drive.value
      try await sync.checkpoint()
      try Data().write(to: folder.appending(path: "decided"))
      try await told("compare")
      try await sync.checkpoint()
      try JSONEncoder().encode(end(connect, user)).write(to: folder.appending(path: "end"), options: .atomic)
      carts.unsubscribe()
      books.unsubscribe()
      try await connect.stop()
    }

    private func end(_ connect: DeviceConnect, _ user: Int) throws -> DeviceEnd {
      let letters = connect.outbox.deadLetters.map { FaultLetter($0) }
      let file = BackgroundContext(parent: connect.persistentStoreCoordinator)
      var subscriptions: [String] = []
      try connect.persistentStoreCoordinator.persistentStores.first?.rows.read { reading in
        try reading.notes(in: "sync.subscriptions", after: nil) { text, _ in
          subscriptions.append(text)
          return true
        }
      }
      return DeviceEnd(
        user: user, carts: try file.fetch(FetchDescriptor<Cart>()), books: try file.fetch(FetchDescriptor<Book>()),
        shownCarts: try connect.viewContext.fetch(FetchDescriptor<Cart>()),
        shownBooks: try connect.viewContext.fetch(FetchDescriptor<Book>()), subscriptions: subscriptions,
        pending: connect.outbox.pending.count, letters: letters)
    }

    /// Waits until the test has made a file.
    private func told(_ name: String) async throws {
      while !FileManager.default.fileExists(atPath: folder.appending(path: name).path) {
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    /// The subscriptions that it begins and cancels.
    private static let subscriptions: [(name: String, parameters: SyncParameters)] = [
      ("by-stock", ["rest": 0]), ("by-stock", ["rest": 1]), ("books", [:]), ("carts", [:]),
    ]

    /// Begins one that it does not have, or cancels one: most often another one than that of its carts.
    private func changeSubscriptions(_ sync: Sync, _ numbers: inout SplitMix) async throws {
      let (name, parameters) = Self.subscriptions[[0, 0, 0, 1, 1, 1, 2, 2, 3].randomElement(using: &numbers) ?? 0]
      let present = try await sync.subscriptions().first { $0.name == name && $0.parameters == parameters }
      guard let present else {
        sync.subscribe(name, parameters)
        return
      }
      try await present.cancel()
    }

    private func act(_ connect: DeviceConnect, _ sync: Sync, _ user: Int) async throws {
      let queued = try Journal(folder.appending(path: "queued"))
      // It may be queued although the process is killed before it is noted, but not the other way round.
      func forward(_ action: some SyncAction) async {
        guard (try? await connect.forward(action)) != nil else { return }
        if let noted = FaultAction(action) { queued.write(noted) }
      }
      var numbers = SplitMix(seed)
      var lines: [Int: [String]] = [:]
      for step in 0..<actions {
        // Most often one that it shows, so that not too much is refused.
        let mine = try connect.viewContext.fetch(FetchDescriptor<Cart>()).filter { $0.owner == user }.map(\.id)
        let any = Int.random(in: 1...6, using: &numbers)
        let cart = Bool.random(using: &numbers) ? mine.sorted().randomElement(using: &numbers) ?? any : any
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0 where step % 3 == 0: await forward(Give(cart: cart, owner: 3 - user, text: "<\(seed).\(step)>"))
        case 1: await forward(Rename(book: cart % 3, title: "<\(seed).\(step)>", isAdded: true))
        case 2, 3:
          let line = "n\(seed).\(step).\(cart)"
          await forward(AddLine(cart: cart, book: cart % 3, line: line))
          lines[cart, default: []].append(line)
        case 4:
          let line = lines[cart]?.randomElement(using: &numbers) ?? "l\(cart)"
          lines[cart]?.removeAll { $0 == line }
          await forward(RemoveLine(cart: cart, line: line))
        default: await forward(Append(cart: cart, text: "<\(seed).\(step)>"))
        }
        if Int.random(in: 0..<6, using: &numbers) == 0 { try await changeSubscriptions(sync, &numbers) }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &numbers)))
      }
    }
  }

  /// A file with a line of JSON for each value, which survives the end of the process.
  final class Journal: Sendable {
    private let file: Kept<Int32>

    struct Unopened: Error {}

    init(_ url: URL) throws {
      // A process that is killed may stop writing within a line.
      if let data = FileManager.default.contents(atPath: url.path), let last = data.last, last != 0x0A {
        let whole = data.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        guard truncate(url.path, whole) == 0 else { throw Unopened() }
      }
      let descriptor = open(url.path, O_WRONLY | O_APPEND | O_CREAT, 0o644)
      guard descriptor >= 0 else { throw Unopened() }
      file = Kept(descriptor)
    }

    func write(_ value: some Encodable) {
      guard var data = try? JSONEncoder().encode(value) else { return }
      data.append(0x0A)
      // In one call, so that no line is torn by another one.
      file.withLock { descriptor in
        data.withUnsafeBytes { bytes in _ = Foundation.write(descriptor, bytes.baseAddress, bytes.count) }
      }
    }
  }
#endif
