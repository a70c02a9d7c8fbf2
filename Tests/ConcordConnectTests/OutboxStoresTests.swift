import Concord
import ConcordTestShared
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The outboxes of several stores")
struct OutboxStoresTests {
  #if Persistence
    @Test(
      "What two files keep under the same number is shown and sent, each with its own key, while they come and go",
      arguments: [true, false])
    func sameNumbers(beginsInMemory: Bool) async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport()
        let network = ReachabilitySwitch(isReachable: false)
        let connect = TestConnect(
          name: "Library", model: try libraryModel(), reachability: network, transport: transport,
          forwarding: [Raise.self])
        let (a, b) = (StoreConfiguration(fileName: "A"), StoreConfiguration(fileName: "B"))
        var keys: [String] = []
        for (note, configuration) in [("a", a), ("b", b)] {
          let store = try connect.attachPersistentStore(at: folder, for: configuration)
          try connect.store([Book(id: 1, title: "")])
          keys.append(try await connect.forward(Raise(book: 1, note: note)).key.rawValue)
          try connect.detach(persistentStore: store)
        }
        #expect(connect.outbox.pending.isEmpty)
        try await connect.start()
        for store in connect.persistentStores { try connect.detach(persistentStore: store) }
        let first = try connect.attachPersistentStore(
          at: folder, for: beginsInMemory ? StoreConfiguration(type: .inMemory) : a)
        if beginsInMemory {
          try connect.store([Book(id: 1, title: "")])
          keys[0] = try await connect.forward(Raise(book: 1, note: "a")).key.rawValue
        }
        try connect.attachPersistentStore(at: folder, for: b)
        connect.persistentStoreCoordinator.settle()
        #expect(connect.outbox.pending.map(\.key.rawValue) == keys)
        #expect(try connect.shown(1)?.title == "ab")
        try connect.detach(persistentStore: first)
        connect.persistentStoreCoordinator.settle()
        #expect(connect.outbox.pending.map(\.key.rawValue) == [keys[1]])
        #expect(try connect.shown(1)?.title == "b")
        network.isReachable = true
        await connect.outbox.idle()
        #expect(transport.bodies == ["b"] && transport.keys == [keys[1]])
        #expect(try connect.kept(1)?.title == "b")
        if !beginsInMemory {
          try connect.attachPersistentStore(at: folder, for: a)
          await connect.outbox.idle()
          #expect(transport.bodies == ["b", "a"] && transport.keys == [keys[1], keys[0]])
        }
        try await connect.stop()
      }
    }

    @Test("What was forwarded in memory is sent when a file has come that keeps what is forwarded since")
    func memoryFirst() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport()
        let connect = TestConnect(
          name: "Library", model: try libraryModel(), transport: transport, forwarding: [Raise.self])
        try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: .inMemory))
        try connect.store([Book(id: 1, title: "")])
        try await connect.forward(Raise(book: 1, note: "a"))
        try connect.attachPersistentStore(at: folder, for: StoreConfiguration())
        try await connect.forward(Raise(book: 1, note: "b"))
        #expect(try connect.shown(1)?.title == "ab")
        try await connect.start()
        await connect.outbox.idle()
        #expect(transport.bodies == ["a", "b"])
        #expect(try connect.kept(1)?.title == "ab")
        try await connect.outbox.clear()
        try await connect.stop()
      }
    }

    @Test("Detaching a store ends what is being sent of it, and of no other")
    func detachedWhileSending() async throws {
      try await withFolder { folder in
        let transport = ScriptedTransport([.wait, .wait])
        let connect = TestConnect(
          name: "Library", model: try libraryModel(), transport: transport, forwarding: [Raise.self])
        try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: .inMemory))
        try connect.store([Book(id: 1, title: ""), Book(id: 2, title: "")])
        try await connect.start()
        try await connect.forward(Raise(book: 1, note: "a"))
        let file = try connect.attachPersistentStore(at: folder, for: StoreConfiguration())
        try await connect.forward(Raise(book: 2, note: "b"))
        #expect(try await eventually { transport.waiting == 2 })
        try connect.detach(persistentStore: file)
        #expect(connect.outbox.pending.compactMap { ($0.action as? Raise)?.note } == ["a"])
        #expect(transport.waiting == 1)
        transport.release()
        await connect.outbox.idle()
        #expect(try connect.kept(1)?.title == "a" && connect.kept(2)?.title == "")
        try connect.attachPersistentStore(at: folder, for: StoreConfiguration())
        await connect.outbox.idle()
        #expect(transport.bodies.sorted() == ["a", "b", "b"] && Set(transport.keys).count == 2)
        #expect(try connect.kept(2)?.title == "b")
        try await connect.stop()
      }
    }

    @Test("Whatever stores come and go, each action is shown while it is pending, and sent once with its own key")
    func random() async throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 200 : 8, from: .random(in: 0..<1_000_000)) {
        try await withFolder { folder in
          let world = try StoresWorld(seed, folder)
          do { try await world.run(steps: 25) } catch {
            Issue.record("seed \(seed): \(error)\n\(world.log.joined(separator: "\n"))")
          }
        }
      }
    }
  #endif
}

#if Persistence
  /// Some files, some memory stores, and a connect to which they are attached in turn.
  private final class StoresWorld {
    struct Wrong: Error { let text: String }

    private var generator: SeededNumbers
    private let folder: URL
    private let service = Service()
    private var connect: TestConnect
    private var network: ReachabilitySwitch
    private var attached: [(place: Place, store: PersistentStore)] = []
    /// The notes that are kept in each place, in order, and their keys.
    private var forwarded: [Place: [(note: String, key: String)]] = [:]
    /// Notes of what went with a memory store.
    private var lost: Set<String> = []
    private var nextNote = 0
    private(set) var log: [String] = []

    enum Place: Hashable {
      case file(Int)
      case memory
    }

    init(_ seed: UInt64, _ folder: URL) throws {
      generator = SeededNumbers(seed: seed)
      self.folder = folder
      network = ReachabilitySwitch(isReachable: false)
      connect = try Self.make(network, service)
    }

    private static func make(_ network: ReachabilitySwitch, _ service: Service) throws -> TestConnect {
      TestConnect(
        name: "Library", model: try libraryModel(), reachability: network, transport: service,
        forwarding: [Raise.self])
    }

    func run(steps: Int) async throws {
      try await connect.start()
      // The default store.
      for store in connect.persistentStores { try connect.detach(persistentStore: store) }
      for _ in 0..<steps {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0, 1: try attach()
        case 2: try detach()
        case 3...5: try await forward()
        case 6: try await drain()
        case 7: try await detachWhileSending()
        case 8: try await restart()
        default: try await stopAndStart()
        }
        try await check()
      }
      for number in 0..<3 where !attached.contains(where: { $0.place == .file(number) }) {
        try attach(.file(number))
      }
      try await drain()
      try await check()
      try expect(connect.outbox.pending.isEmpty, "nothing is left")
      try expect(
        service.notes.sorted() == forwarded.values.flatMap { $0.map(\.note) }.filter { !lost.contains($0) }.sorted(),
        "all was sent: \(service.notes)")
      try await connect.stop()
    }

    // MARK: Steps

    private func attach() throws {
      let places = (0..<3).map { Place.file($0) } + [.memory]
      let free = places.filter { place in !attached.contains { $0.place == place } }
      if let place = free.randomElement(using: &generator) { try attach(place) }
    }

    private func attach(_ place: Place) throws {
      log.append("attach \(place)")
      let configuration =
        switch place {
        case .file(let number): StoreConfiguration(fileName: "File\(number)")
        case .memory: StoreConfiguration(type: .inMemory)
        }
      let store = try connect.attachPersistentStore(at: folder, for: configuration)
      attached.append((place, store))
      let stored = try store.rows.read { try $0.row(of: EntityKey(connect.model.entity(Book.self), .integer(1))) }
      if stored == nil, attached.count == 1 { try connect.store((1...3).map { Book(id: $0, title: "") }) }
    }

    private func detach() throws {
      guard let index = attached.indices.randomElement(using: &generator) else { return }
      let (place, store) = attached.remove(at: index)
      log.append("detach \(place)")
      try connect.detach(persistentStore: store)
      if place == .memory { forget() }
    }

    /// The memory store is gone, with what it kept.
    private func forget() {
      lost.formUnion((forwarded[.memory] ?? []).map(\.note).filter { !service.notes.contains($0) })
      forwarded[.memory] = (forwarded[.memory] ?? []).filter { service.notes.contains($0.note) }
    }

    private var home: Place? {
      (attached.first { $0.place != .memory } ?? attached.first)?.place
    }

    private func forward() async throws {
      guard let home, try connect.kept(1) != nil else { return }
      nextNote += 1
      let note = "<\(nextNote)>"
      log.append("forward \(note) to \(home)")
      let entry = try await connect.forward(Raise(book: .random(in: 1...3, using: &generator), note: note))
      forwarded[home, default: []].append((note, entry.key.rawValue))
    }

    private func drain() async throws {
      log.append("drain")
      try await setReachable(true)
      let outbox = connect.outbox
      let isIdle = try await ends { await outbox.idle() }
      try await setReachable(false)
      try expect(isIdle, "idle() returns; left are \(outbox.pending.map { ($0.key, $0.isSending) })")
      try expect(outbox.pending.isEmpty, "nothing is pending when it is idle")
    }

    /// Returns when the outbox knows it, which is told in the background: until then it may send, or not.
    private func setReachable(_ isReachable: Bool) async throws {
      network.isReachable = isReachable
      try expect(
        try await eventually { connect.outbox.state.withLock { $0.isReachable == isReachable } },
        "the outbox knows whether there is a network")
    }

    private func detachWhileSending() async throws {
      log.append("send meanwhile")
      try await setReachable(true)
      for _ in 0..<Int.random(in: 0..<5, using: &generator) { await Task.yield() }
      try detach()
      try await setReachable(false)
      try expect(
        try await eventually { !connect.outbox.pending.contains(where: \.isSending) }, "what is being sent ends")
    }

    private func restart() async throws {
      log.append("restart")
      try await connect.stop()
      if attached.contains(where: { $0.place == .memory }) { forget() }
      let places = attached.map(\.place)
      attached = []
      network = ReachabilitySwitch(isReachable: false)
      connect = try Self.make(network, service)
      for place in places.shuffled(using: &generator) where place != .memory { try attach(place) }
      if attached.isEmpty { try attach(.file(0)) }
      try await connect.start()
    }

    private func stopAndStart() async throws {
      log.append("stop and start")
      let places = attached.map(\.place)
      try await connect.stop()
      if places.contains(.memory) { forget() }
      try await connect.start()
      let stores = connect.persistentStores
      if places.isEmpty {
        for store in stores { try connect.detach(persistentStore: store) }
      } else {
        attached = Array(zip(places, stores))
        if try connect.kept(1) == nil { try connect.store((1...3).map { Book(id: $0, title: "") }) }
      }
    }

    // MARK: What holds

    private func check() async throws {
      connect.persistentStoreCoordinator.settle()
      let notes = service.notes
      let pending = attached.flatMap { place, _ in (forwarded[place] ?? []).filter { !notes.contains($0.note) } }
      let entries = connect.outbox.pending
      try expect(
        entries.map(\.key.rawValue) == pending.map(\.key),
        "pending are \(entries.compactMap { ($0.action as? Raise)?.note }) instead of \(pending.map(\.note))")
      try expect(Set(notes).count == notes.count, "each is sent once: \(notes)")
      for (note, key) in forwarded.values.joined() where notes.contains(note) {
        try expect(service.key(of: note) == key, "\(note) is sent with its key")
      }
      for id in 1...3 where !attached.isEmpty {
        let kept = try connect.kept(id)?.title
        let above = entries.compactMap { $0.action as? Raise }.filter { $0.book == id }.map(\.note).joined()
        let shown = try connect.shown(id)?.title
        try expect(shown == kept.map { $0 + above }, "book \(id) is \(shown ?? "-"): \(kept ?? "-") and \(above)")
      }
    }

    private func expect(_ condition: Bool, _ text: @autoclosure () -> String) throws {
      if !condition { throw Wrong(text: text()) }
    }
  }

  /// Accepts all, and knows what it was sent.
  private final class Service: Transport {
    private let sent = Log<(note: String, key: String?)>()
    var notes: [String] { sent.entries.map(\.note) }
    func key(of note: String) -> String? { sent.entries.first { $0.note == note }?.key }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      try Task.checkCancellation()
      sent.add((String(decoding: request.body ?? Data(), as: UTF8.self), request.headers["Idempotency-Key"]))
      return TransportResponse(status: 204)
    }
  }

  /// Whether something ends in time.
  private func ends(_ body: @escaping @Sendable () async -> Void) async throws -> Bool {
    let isDone = Locked(false)
    let task = Task {
      await body()
      isDone.withLock { $0 = true }
    }
    defer { task.cancel() }
    return try await eventually { isDone.withLock { $0 } }
  }
#endif
