import Concord
import Dispatch
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The end of a connect")
struct StopTests {
  private typealias Mixed = GenericConnect<ContextStrategy.Mixed>

  @Test("A stop cancels what waits and what runs, and returns when that has ended")
  func stopping() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let (began, log) = (Gate(), Log<String>())
    let running = try connect.execute(
      Work {
        began.open()
        try? await Task.sleep(for: .seconds(60))
        // It takes its time to clean up.
        await Task.detached { try? await Task.sleep(for: .milliseconds(50)) }.value
        log.add("ended")
      })
    await began.passed()
    let first = try connect.execute(BookWork { _ in try await Task.sleep(for: .seconds(60)) })
    let waiting = try (0..<50).map { _ in try connect.execute(BookWork { _ in log.add("began") }) }
    try await connect.stop()
    #expect(log.entries == ["ended"])
    #expect(([running, first] + waiting).allSatisfy { $0.state == .finished && $0.completionStatus == .canceled })
  }

  @Test("A plain start while a stop is under way waits for it, and starts again")
  func startWhileStopping() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let (began, goOn, isStopped, isStarted) = (Gate(), Gate(), Gate(), Gate())
    try connect.execute(
      Work {
        began.open()
        await goOn.passed()
      })
    await began.passed()
    connect.stop { _ in isStopped.open() }
    let errors = Log<String>()
    DispatchQueue.global().async {
      do { try connect.start() } catch { errors.add("\(error)") }
      isStarted.open()
    }
    // Time for a start that does not wait.
    try await Task.sleep(for: .milliseconds(50))
    goOn.open()
    await isStopped.passed()
    await isStarted.passed()
    #expect(connect.isStarted && errors.entries == [])
    #expect(await (try connect.execute(Work {})).finished() == .successful)
    try await connect.stop()
  }

  @Test("An action that starts its connect again does not hold up the stop that waits for it")
  func startInAction() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let (began, isStopped) = (Gate(), Locked(false))
    let proxy = try connect.execute(
      Work {
        began.open()
        try? await Task.sleep(for: .seconds(60))
        try await connect.start()
      })
    await began.passed()
    connect.stop { _ in isStopped.withLock { $0 = true } }
    #expect(try await eventually { isStopped.withLock { $0 } })
    #expect(proxy.completionStatus == .canceled && !connect.isStarted)
  }

  @Test("A store that was detached at the coordinator holds no stop up, and is not attached again")
  func detachedAtCoordinator() async throws {
    try await withFolder { folder in
      let connect = Mixed(name: "Library", model: try libraryModel())
      let stores = try ["a", "b"].map { name in
        try connect.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: name, type: .inMemory))
      }
      try await connect.start()
      connect.persistentStoreCoordinator.detach(stores[0])
      try await connect.stop()
      #expect(!connect.isStarted && connect.persistentStores.isEmpty)
      try await connect.start()
      #expect(connect.persistentStores.count == 1)
      try await connect.stop()
    }
  }

  @Test("A stop while it is suspended cancels what waits")
  func stopSuspended() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    connect.suspended = true
    let proxy = try connect.execute(Work {})
    try await connect.stop()
    #expect(proxy.completionStatus == .canceled)
    try await connect.start()
    #expect(connect.suspended)
    connect.suspended = false
    #expect(await (try connect.execute(Work {})).finished() == .successful)
    try await connect.stop()
  }

  @Test("An action that stops what runs it gets a typed error; with a block it may")
  func stopInAction() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let blocking = try connect.execute(BlockingWork { try connect.stop() })
    #expect(await blocking.finished() == .failed)
    guard case .calledFromAction = blocking.error as? Errors else {
      Issue.record("\(String(describing: blocking.error))")
      return
    }
    let suspending = try connect.execute(Work { try await connect.stop() })
    #expect(await suspending.finished() == .failed)
    #expect(connect.isStarted)
    let done = Gate()
    try connect.execute(Work { connect.stop { _ in done.open() } })
    await done.passed()
    #expect(!connect.isStarted)
  }

  @Test("A completion block may stop it")
  func stopInCompletion() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let proxy = try connect.execute(Work {}) { _ in try? connect.stop() }
    await proxy.finished()
    #expect(!connect.isStarted)
  }

  @Test("Starts and stops from many threads end in one of the two, with all work done or cancelled")
  func manyThreads() async throws {
    let connect = Mixed(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    let log = Log<Int>()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<60 {
        group.addTask {
          if index % 3 == 0 { try? await connect.start() }
          if index % 3 == 1 { try? await connect.stop() }
          if let proxy = try? connect.execute(Work { log.add(index) }) {
            #expect([.successful, .canceled].contains(await proxy.finished()))
          }
        }
      }
    }
    try await connect.stop()
    #expect(!connect.isStarted && Set(log.entries).count == log.entries.count)
  }

  @Test("A connect that is released cancels its actions")
  func released() async throws {
    let (began, log) = (Gate(), Log<String>())
    func run() async throws -> any ActionProxy {
      let connect = Mixed(name: "Library", model: try libraryModel())
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      try await connect.start()
      let proxy = try connect.execute(
        Work {
          began.open()
          do { try await Task.sleep(for: .seconds(60)) } catch { log.add("cancelled") }
        })
      await began.passed()
      return proxy
    }
    let proxy = try await run()
    #expect(await proxy.finished() == .canceled)
    #expect(log.entries == ["cancelled"])
  }

  private func locking(_ isAvailable: @escaping @MainActor @Sendable () -> Bool) -> ProtectedData.Source {
    ProtectedData.Source(
      becomesUnavailable: Notification.Name("locks-\(UUID())"), becameAvailable: Notification.Name("unlocks-\(UUID())"),
      isAvailable: isAvailable)
  }

  @Test("While the device's protected data is locked nothing begins, whatever `suspended` says")
  func protectedData() async throws {
    let names = locking { true }
    let connect = Mixed(
      container: GenericPersistentContainer(name: "Library", model: try libraryModel()), protectedData: names)
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    NotificationCenter.default.post(name: names.becomesUnavailable, object: nil)
    let proxy = try connect.execute(Work {})
    #expect(!connect.suspended)
    connect.suspended = true
    connect.suspended = false
    #expect(proxy.state == .pending)
    NotificationCenter.default.post(name: names.becameAvailable, object: nil)
    #expect(await proxy.finished() == .successful)
    try await connect.stop()
  }

  @Test(
    "A connect that is made while the device is locked begins nothing until it is unlocked", arguments: [false, true])
  func protectedAtFirst(isAvailable: Bool) async throws {
    let names = locking { isAvailable }
    let connect = Mixed(
      container: GenericPersistentContainer(name: "Library", model: try libraryModel()), protectedData: names)
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let proxy = try connect.execute(Work {})
    // By then it has asked.
    await MainActor.run {}
    if !isAvailable {
      #expect(proxy.state == .pending)
      NotificationCenter.default.post(name: names.becameAvailable, object: nil)
    }
    #expect(await proxy.finished() == .successful)
    try await connect.stop()
  }

  #if Persistence
    @Test("A stop that cannot write what is owed throws, and leaves it started with its stores")
    func stopFails() async throws {
      try await withFolder { folder in
        let errors = Log<String>()
        let connect = Mixed(name: "Library", model: try libraryModel()) { errors.add("\($0)") }
        let options: StoreConfiguration.Options = [ConcordBusyTimeoutOption: 0.05]
        try connect.attachPersistentStore(at: folder, for: StoreConfiguration(options: options))
        try await connect.start()
        let url = try #require(connect.persistentStores.first?.url)
        let other = Mixed(name: "Library", model: try libraryModel())
        let rows = try other.attachPersistentStore(at: folder, for: StoreConfiguration()).rows
        // Another writer holds the file meanwhile.
        try rows.write(origin: nil) { writing in
          _ = try writing.insert(
            StoredRow(values: [.integer(9), .text("x")], collections: [], stamp: 1),
            for: EntityKey(try other.model.entity(Author.self), .integer(9)))
          connect.viewContext.insert(Author(id: 1, name: "Jane"))
          try connect.viewContext.save()
          #expect(throws: StoreError.self) { try connect.stop() }
          #expect(connect.isStarted && connect.persistentStores.map(\.url) == [url])
        }
        try other.detach(persistentStores: other.persistentStores)
        #expect(await (try connect.execute(Work {})).finished() == .successful)
        try await connect.stop()
        #expect(!connect.isStarted)
        try await connect.start()
        #expect(try connect.stored(Author.self).map(\.id) == [1, 9])
        try await connect.stop()
      }
    }
  #endif
}
