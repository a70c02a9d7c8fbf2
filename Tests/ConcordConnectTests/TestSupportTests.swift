import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("What tests of one's own need")
struct TestSupportTests {
  @Test("A virtual clock wakes those whose time has come, the first first, and no one else")
  func clock() async throws {
    let (clock, woken) = (VirtualClock(), Log<Int>())
    let tasks = [3, 1, 2].map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        woken.add(seconds)
      }
    }
    await clock.sleepers(atLeast: 3)
    #expect(clock.advanceToNextSleeper() == .seconds(1))
    #expect(try await eventually { woken.entries == [1] })
    clock.advance(by: .milliseconds(999))
    #expect(clock.sleepers == 2 && clock.now.offset == .milliseconds(1999))
    tasks[0].cancel()
    #expect(try await eventually { clock.sleepers == 1 })
    clock.advance(by: .seconds(100))
    #expect(try await eventually { woken.entries == [1, 2] })
    #expect(clock.advanceToNextSleeper() == nil)
    await #expect(throws: CancellationError.self) { try await tasks[0].value }
    try await clock.sleep(until: .init(offset: .seconds(1)), tolerance: nil)
  }

  @Test("A transport plays its script, and passes on what comes afterwards")
  func transport() async throws {
    let served = Log<String>()
    let transport = ScriptedTransport([
      .fail(Failure()), .loseAnswer(Failure()), .answer(TransportResponse(status: 418)),
    ]) {
      served.add($0.method)
      return TransportResponse(status: 200)
    }
    await #expect(throws: Failure.self) { try await transport.send(TransportRequest("GET", "/1")) }
    await #expect(throws: Failure.self) { try await transport.send(TransportRequest("PUT", "/2")) }
    #expect(try await transport.send(TransportRequest("GET", "/3")).status == 418)
    #expect(try await transport.send(TransportRequest("POST", "/4")).status == 200)
    #expect(served.entries == ["PUT", "POST"] && transport.requests.count == 4)
    transport.play(.wait)
    let waiting = Task { try await transport.send(TransportRequest("DELETE", "/5")).status }
    #expect(try await eventually { transport.waiting == 1 })
    #expect(served.entries.count == 2)
    transport.release()
    #expect(try await waiting.value == 200 && served.entries.count == 3)
    transport.play(.wait)
    let cancelled = Task { try await transport.send(TransportRequest("DELETE", "/6")).status }
    #expect(try await eventually { transport.waiting == 1 })
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(transport.waiting == 0 && served.entries.count == 3)
  }

  @Test("`settled()` waits for actions, for those that they begin, for the outbox and for observers")
  func settled() async throws {
    let transport = ScriptedTransport()
    let connect = try TestConnect.inMemory(try libraryModel(), transport: transport, forwarding: [Raise.self])
    try connect.store([Book(id: 1, title: "")])
    try await connect.start()
    let seen = Log<Double>()
    let book = try #require(try connect.viewContext.find(Book.self, id: 1))
    let subscription = book.map(\.price).observe { seen.add($0) }
    try connect.execute(
      Work {
        try await Task.sleep(for: .milliseconds(20))
        try await connect.forward(Raise(book: 1, note: "a"))
        try connect.execute(Work { try await connect.forward(Raise(book: 1, note: "b")) })
      })
    try await connect.settled()
    #expect(seen.entries.last == 2 && transport.requests.count == 2 && connect.outbox.pending.isEmpty)
    connect.suspended = true
    try connect.execute(Work {})
    try await connect.settled()
    connect.suspended = false
    try await connect.stop()
    withExtendedLifetime(subscription) {}
  }

  @Test("`settled()` waits for what those who observe save, and for those who observe that", .timeLimit(.minutes(1)))
  func settledObservers() async throws {
    let connect = try TestConnect.inMemory(try libraryModel())
    let last = 30
    try connect.store((1...last).map { Book(id: $0, title: "") })
    try await connect.start()
    let background = BackgroundContext(parent: connect.persistentStoreCoordinator)
    let subscriptions = try (1..<last).map { id in
      try #require(try connect.viewContext.find(Book.self, id: id)).map(\.title).observe { title in
        if !title.isEmpty { _ = try? background.update(Book.self, id: id + 1) { $0.title = title } }
        try? background.save()
      }
    }
    try connect.viewContext.update(Book.self, id: 1) { $0.title = "Emma" }
    try connect.viewContext.save()
    try await connect.settled()
    #expect(try connect.stored(Book.self).count { $0.title == "Emma" } == last)
    try await connect.stop()
    withExtendedLifetime(subscriptions) {}
  }

  @Test("A cancelled task does not wait for what does not settle", .timeLimit(.minutes(1)))
  func settledCancelled() async throws {
    let transport = ScriptedTransport([.wait])
    let connect = try TestConnect.inMemory(try libraryModel(), transport: transport, forwarding: [Raise.self])
    try connect.store([Book(id: 1, title: "")])
    try await connect.start()
    try await connect.forward(Raise(book: 1, note: "a"))
    let sending = Task { try await connect.settled() }
    #expect(try await eventually { transport.waiting == 1 })
    sending.cancel()
    await #expect(throws: CancellationError.self) { try await sending.value }
    transport.release()
    try await connect.settled()
    let gate = Gate()
    try connect.execute(Work { await gate.passed() })
    let running = Task { try await connect.settled() }
    try await Task.sleep(for: .milliseconds(20))
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    gate.open()
    try await connect.settled()
    try await connect.stop()
  }

  @Test("An action that would wait for itself is told so", .timeLimit(.minutes(1)))
  func settledInAction() async throws {
    let connect = try TestConnect.inMemory(try libraryModel())
    try await connect.start()
    let proxy = try connect.execute(Work { try await connect.settled() })
    await proxy.finished()
    #expect("\(proxy.error.map { "\($0)" } ?? "")".contains("settled()"))
    try await connect.stop()
  }

  @Test("A container in memory is as any other, and settles")
  func container() async throws {
    let container = try GenericPersistentContainer<ContextStrategy.Mixed>.inMemory(try libraryModel())
    container.viewContext.insert(Book(id: 1, title: "Emma"))
    try container.viewContext.save()
    try await container.settled()
    #expect(try container.stored(Book.self).map(\.title) == ["Emma"])
  }
}
