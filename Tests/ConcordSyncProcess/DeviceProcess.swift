#if Server
  import Concord
  import ConcordServer
  import Foundation

  /// A customer that is a machine: it forwards random actions, and notes each state that its file has.
  struct DeviceProcess {
    let url: String
    let folder: URL
    let user: Int
    let actions: Int
    let seed: UInt64

    func run() async throws {
      guard let url = URL(string: url) else { return }
      let connect = DeviceConnect(
        name: "Shop", model: try shopModel(), forwarding: [AddLine.self, Append.self, Give.self, Rename.self],
        outboxPolicy: OutboxPolicy(dependents: .goOn, backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(100)))
      )
      try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: .sqlite))
      try await connect.start()
      guard let store = connect.persistentStoreCoordinator.persistentStores.first?.rows else { return }
      let states = try Journal(folder.appending(path: "states"))
      try Journal(folder.appending(path: "dates")).write(ClockReading())
      let observation = store.observeCommits { _ in
        if let state = try? DeviceMoment(store, connect.model) { states.write(state) }
      }
      let sync = connect.sync(
        over: HTTPTransport(baseURL: url, timeout: .seconds(10)), wait: .seconds(2),
        backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(100))
      ) { [user] in "user-\(user)" }
      sync.subscribe("carts")
      try await act(connect)
      try await told("finish")
      try await sync.checkpoint()
      try Data().write(to: folder.appending(path: "decided"))
      try await told("compare")
      try await sync.checkpoint()
      let letters = connect.outbox.deadLetters.compactMap { ($0.action as? Append)?.text }
      let carts = try BackgroundContext(parent: connect.persistentStoreCoordinator).fetch(FetchDescriptor<Cart>())
      let shown = try connect.viewContext.fetch(FetchDescriptor<Cart>())
      let end = DeviceEnd(carts: carts, shown: shown, pending: connect.outbox.pending.count, refused: letters)
      try JSONEncoder().encode(end).write(to: folder.appending(path: "end"), options: .atomic)
      _ = observation
      try await connect.stop()
    }

    /// Waits until the test has made a file.
    private func told(_ name: String) async throws {
      while !FileManager.default.fileExists(atPath: folder.appending(path: name).path) {
        try await Task.sleep(for: .milliseconds(20))
      }
    }

    private func act(_ connect: DeviceConnect) async throws {
      let queued = try Journal(folder.appending(path: "queued"))
      var numbers = SplitMix(seed)
      for step in 0..<actions {
        let cart = Int.random(in: 1...6, using: &numbers)
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0: _ = try? await connect.forward(Give(cart: cart, owner: 3 - user))
        case 1: _ = try? await connect.forward(Rename(book: cart % 3, title: "t\(seed).\(step)"))
        case 2, 3:
          _ = try? await connect.forward(AddLine(cart: cart, book: cart % 3, line: "n\(seed).\(step)"))
        default:
          let text = "<\(seed).\(step)>"
          // It may be queued although the process is killed before it is noted, but not the other way round.
          if (try? await connect.forward(Append(cart: cart, text: text))) != nil { queued.write([text, "\(cart)"]) }
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &numbers)))
      }
    }
  }

  /// A file with a line of JSON for each value, which survives the end of the process.
  final class Journal: Sendable {
    private let file: Kept<Int32>

    struct Unopened: Error {}

    init(_ url: URL) throws {
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
