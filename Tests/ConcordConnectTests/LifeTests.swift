import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The life of a connect")
struct LifeTests {
  private typealias Mixed = GenericConnect<ContextStrategy.Mixed>

  @Test("What is forwarded while a stop runs is kept, or refused as not started", arguments: StoreKind.allCases)
  func forwardingInStop(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      let connect = TestConnect(
        name: "Library",
        model: try Model(
          "Library", entities: [Book.self, Author.self], configurations: ["A": [Book.self], "B": [Author.self]]),
        transport: ScriptedTransport(), forwarding: [Raise.self])
      for name in ["A", "B"] {
        try connect.attachPersistentStore(
          at: folder, for: kind.configuration(folder, fileName: name, name: name))
      }
      let errors = Log<any Error>()
      for _ in 0..<30 {
        try await connect.start()
        if try connect.kept(1) == nil { try connect.store([Book(id: 1, title: "")]) }
        let isStopped = Locked(false)
        let tasks = (0..<3).map { _ in
          Task {
            while !isStopped.withLock({ $0 }) {
              do { try await connect.forward(Raise(book: 1, note: "a")) } catch { errors.add(error) }
            }
          }
        }
        try await Task.sleep(for: .milliseconds(3))
        try await connect.stop()
        isStopped.withLock { $0 = true }
        for task in tasks { await task.value }
      }
      let others = errors.entries.filter { if case Errors.notStarted = $0 { false } else { true } }
      #expect(others.isEmpty, "\(others.first.map { "\($0)" } ?? "")")
    }
  }

  @Test("Starting twice and stopping twice is starting and stopping once", arguments: StoreKind.allCases)
  func twice(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      let connect = Mixed(name: "Library", model: try libraryModel())
      try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
      #expect(!connect.isStarted)
      try await connect.start()
      try await connect.start()
      #expect(connect.isStarted && connect.persistentStores.count == 1)
      try await connect.stop()
      try await connect.stop()
      #expect(!connect.isStarted && connect.persistentStores.isEmpty)
    }
  }

  @Test("Start and stop come as plain functions, as asynchronous ones and with a block")
  func forms() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    func plain(_ connect: any Connect) throws {
      try connect.start()
      #expect(connect.isStarted)
      try connect.stop()
      #expect(!connect.isStarted)
    }
    try plain(connect)
    let error = await withCheckedContinuation { continuation in
      connect.start { continuation.resume(returning: $0) }
    }
    #expect(error == nil && connect.isStarted)
    let other = await withCheckedContinuation { continuation in
      connect.stop { continuation.resume(returning: $0) }
    }
    #expect(other == nil && !connect.isStarted)
  }

  @Test("A block may start and stop")
  func blockStops() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    await withCheckedContinuation { continuation in
      connect.start { _ in
        try? connect.stop()
        continuation.resume()
      }
    }
    #expect(!connect.isStarted)
  }

  @Test("After a stop the same stores are attached again, with what they hold", arguments: StoreKind.allCases)
  func again(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      let connect = Mixed(name: "Library", model: try libraryModel())
      try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
      try await connect.start()
      try connect.store([Book(id: 1, title: "Emma")])
      try await connect.stop()
      #expect(throws: StoreError.self) { try connect.stored(Book.self) }
      try await connect.start()
      #expect(connect.persistentStores.map(\.type) == [kind.type])
      // What was in memory is gone.
      #expect(try connect.stored(Book.self).count == (kind == .memory ? 0 : 1))
      let proxy = try connect.execute(Work {})
      #expect(await proxy.finished() == .successful)
      try await connect.stop()
    }
  }

  @Test("Other stores that are attached after a stop take the place of those before")
  func others() async throws {
    try await withFolder { folder in
      let connect = Mixed(name: "Library", model: try libraryModel())
      try connect.attachPersistentStores(
        at: folder.appending(path: "tony"), for: [StoreConfiguration(fileName: "a", type: .inMemory)])
      try await connect.start()
      try await connect.stop()
      let own = try connect.attachPersistentStore(at: folder, for: StoreConfiguration(type: .inMemory))
      try await connect.start()
      #expect(connect.persistentStores == [own])
      try await connect.stop()
    }
  }

  @Test("Stores may be attached and detached after the start")
  func attachLater() async throws {
    try await withConnect { connect in
      let first = connect.persistentStores
      try connect.detach(persistentStores: first)
      let proxy = try connect.execute(BookWork { context in _ = try context.fetch(FetchDescriptor<Book>()) })
      #expect(await proxy.finished() == .failed)
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      let next = try connect.execute(BookWork { context in _ = try context.fetch(FetchDescriptor<Book>()) })
      #expect(await next.finished() == .successful)
    }
  }

  #if Persistence
    @Test("With no store attached, a start attaches the default one")
    func defaultStore() async throws {
      let name = "Library-\(UUID().uuidString)"
      let connect = Mixed(name: name, model: try libraryModel())
      try await connect.start()
      let url = try #require(connect.persistentStores.first?.url)
      defer {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
      }
      #expect(url.deletingLastPathComponent() == Mixed.defaultStoreLocation())
      #expect(url.lastPathComponent == "\(name).sqlite")
      try await connect.stop()
    }
  #endif

  @Test("A start without a model is a typed error, and leaves it stopped")
  func noModel() async throws {
    let connect = Mixed(name: "No model of this name")
    await #expect(throws: StoreError.self) { try await connect.start() }
    #expect(!connect.isStarted)
  }

  @Test("Work before the start and after the stop is a typed error that says so")
  func notStarted() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    func refused() -> String? {
      do {
        try connect.execute(Work {})
        return nil
      } catch Errors.notStarted(let text) { return text } catch { return "\(error)" }
    }
    #expect(refused() == "'Library' is not started, so it executes no Work")
    #expect(throws: Errors.self) { try connect.execute(BookWork { _ in }) }
    try await connect.start()
    #expect(refused() == nil)
    try await connect.stop()
    #expect(refused() != nil)
  }

  @Test("While it is suspended nothing begins, what runs goes on, and all is done in order afterwards")
  func suspending() async throws {
    try await withConnect { connect in
      let (began, gate, log) = (Gate(), Gate(), Log<Int>())
      let running = try connect.execute(
        BookWork { _ in
          began.open()
          await gate.passed()
          log.add(0)
        })
      await began.passed()
      connect.suspended = true
      #expect(connect.suspended)
      let waiting = try (1...20).map { number in try connect.execute(BookWork { _ in log.add(number) }) }
      let generic = try connect.execute(Work { log.add(100) })
      gate.open()
      #expect(await running.finished() == .successful)
      try await Task.sleep(for: .milliseconds(50))
      #expect(log.entries == [0])
      #expect(waiting.allSatisfy { $0.state == .pending } && generic.state == .pending)
      connect.suspended = false
      for proxy in waiting { await proxy.finished() }
      await generic.finished()
      #expect(log.entries.filter { $0 < 100 } == Array(0...20))
    }
  }
}
