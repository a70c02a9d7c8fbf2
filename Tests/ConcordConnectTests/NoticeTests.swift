import Foundation
import Testing

@testable import ConcordConnect

@Suite("Completion blocks, notifications and the sequence of events")
struct NoticeTests {
  /// What was told of a proxy.
  struct Told: Sendable, Equatable {
    let id: ObjectIdentifier
    let isEnd: Bool
    let status: ActionCompletionStatus?

    init(_ proxy: any ActionProxy, isEnd: Bool) {
      id = ObjectIdentifier(proxy)
      self.isEnd = isEnd
      status = isEnd ? proxy.completionStatus : nil
    }
    init(_ event: ActionEvent) {
      switch event {
      case .started(let proxy): self.init(proxy, isEnd: false)
      case .finished(let proxy): self.init(proxy, isEnd: true)
      }
    }
  }

  @Test("Who asked for the events of actions and reads none is kept the last ones, and no more than those")
  func unread() async throws {
    try await withConnect { connect in
      let events = connect.actionEvents
      for _ in 0..<600 { await (try connect.execute(Work {})).finished() }
      let last = try connect.execute(Work {})
      await last.finished()
      var read = 0
      for await event in events {
        read += 1
        if case .finished(let proxy) = event, proxy === last { break }
      }
      #expect(read == 1024)
    }
  }

  @Test("All three tell the same, each once, in the same order", arguments: StoreKind.allCases)
  func agree(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      let (posted, completed) = (Log<Told>(), Log<Told>())
      let center = NotificationCenter.default
      let tokens = [
        center.addObserver(forName: Notification.ActionDidStartExecuting, object: connect, queue: nil) { note in
          guard let proxy = note.userInfo?[Notification.Key.ActionProxy] as? any ActionProxy else { return }
          posted.add(Told(proxy, isEnd: false))
        },
        center.addObserver(forName: .ActionDidFinishExecuting, object: connect, queue: nil) { note in
          guard let proxy = note.userInfo?[Notification.Key.ActionProxy] as? any ActionProxy else { return }
          posted.add(Told(proxy, isEnd: true))
        },
      ]
      defer { for token in tokens { center.removeObserver(token) } }
      var events = connect.actionEvents.makeAsyncIterator()
      connect.suspended = true
      let end: @Sendable (any ActionProxy) -> Void = { completed.add(Told($0, isEnd: true)) }
      var proxies: [any ActionProxy] = []
      for index in 0..<60 {
        proxies.append(
          try index % 2 == 0
            ? connect.execute(Work { if index % 4 == 0 { throw Failure() } }, completionBlock: end)
            : connect.execute(BookWork { _ in if index % 3 == 0 { throw CancellationError() } }, completionBlock: end))
      }
      for index in stride(from: 0, to: 60, by: 7) { proxies[index].cancel() }
      connect.suspended = false
      for proxy in proxies { await proxy.finished() }
      let begun = proxies.filter { $0.statistics.startTime != nil }.count
      var sequence: [Told] = []
      while sequence.count < proxies.count + begun, let event = await events.next() { sequence.append(Told(event)) }
      #expect(posted.entries == sequence)
      #expect(completed.entries == sequence.filter(\.isEnd))
      #expect(completed.entries.count == 60 && begun < 60)
      for proxy in proxies {
        let own = sequence.filter { $0.id == ObjectIdentifier(proxy) }
        let ends = Told(proxy, isEnd: true)
        let isBegun = proxy.statistics.startTime != nil
        #expect(own == (isBegun ? [Told(proxy, isEnd: false), ends] : [ends]))
      }
    }
  }

  @Test("A completion block finds the proxy finished, with its error and its time")
  func completion() async throws {
    try await withConnect { connect in
      let told = Log<String>()
      let proxy = try connect.execute(Work { throw Failure() }) { proxy in
        told.add("\(proxy.state) \(proxy.completionStatus) \(proxy.error as? Failure == Failure())")
        #expect(proxy.statistics.finishTime != nil)
      }
      await proxy.finished()
      // Whoever waited comes after the block.
      #expect(told.entries == ["finished failed true"])
    }
  }

  @Test("Completion blocks never overlap, and come in the order in which the actions ended")
  func order() async throws {
    try await withConnect { connect in
      let (ended, told, meter) = (Log<Int>(), Log<Int>(), ActionTests.Meter())
      let proxies = try (0..<300).map { index in
        try connect.execute(BookWork { _ in ended.add(index) }) { _ in
          meter.enter()
          told.add(index)
          meter.leave()
        }
      }
      for proxy in proxies { await proxy.finished() }
      #expect(told.entries == ended.entries && meter.most == 1)
    }
  }

  @Test("A completion block may execute the next action")
  func chain() async throws {
    try await withConnect { connect in
      let (done, log) = (Gate(), Log<Int>())
      @Sendable func step(_ number: Int) throws {
        try connect.execute(BookWork { _ in log.add(number) }) { _ in
          if number == 100 { done.open() } else { try? step(number + 1) }
        }
      }
      try step(1)
      await done.passed()
      #expect(log.entries == Array(1...100))
    }
  }

  @Test("A stream ends when the connect is released, and one that is dropped holds nothing")
  func streams() async throws {
    var stream: AsyncStream<ActionEvent>?
    do {
      let connect = GenericConnect<ContextStrategy.Mixed>(name: "Library", model: try libraryModel())
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      try await connect.start()
      stream = connect.actionEvents
      _ = connect.actionEvents
      await (try connect.execute(Work {})).finished()
      try await connect.stop()
    }
    var count = 0
    if let stream { for await _ in stream { count += 1 } }
    #expect(count == 2)
  }

  @Test("A stop on the main queue does not wait for observers that are notified there", .timeLimit(.minutes(1)))
  func stopOnMainQueue() async throws {
    let connect = GenericConnect<ContextStrategy.Mixed>(name: "Library", model: try libraryModel())
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let (began, log) = (Gate(), Log<String>())
    let token = NotificationCenter.default.addObserver(
      forName: .ActionDidFinishExecuting, object: connect, queue: .main
    ) { _ in log.add("told") }
    defer { NotificationCenter.default.removeObserver(token) }
    let proxy = try connect.execute(
      Work {
        began.open()
        try await Task.sleep(for: .seconds(60))
      })
    await began.passed()
    try await MainActor.run { try connect.stop() }
    #expect(await proxy.finished() == .canceled)
    #expect(log.entries == ["told"])
  }

  @Test("Two connects tell of their own actions only")
  func two() async throws {
    try await withConnect { a in
      try await withConnect { b in
        let log = Log<String>()
        let token = NotificationCenter.default.addObserver(
          forName: .ActionDidFinishExecuting, object: a, queue: nil
        ) { _ in log.add("a") }
        defer { NotificationCenter.default.removeObserver(token) }
        await (try b.execute(Work {})).finished()
        #expect(log.entries.isEmpty)
        await (try a.execute(Work {})).finished()
        #expect(log.entries == ["a"])
      }
    }
  }
}
