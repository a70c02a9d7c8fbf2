import ConcordPersistence
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The actions that are being sent")
struct RunningSendsTests {
  private let id = OutboxID(attachment: StoreAttachment(number: 1), epoch: 1, number: 1)

  @Test("The task of a first attempt that is noted late does not take the place of that of the next one")
  func late() {
    var sends = RunningSends()
    let tasks = (0..<2).map { _ in Task<Void, Never> { try? await Task.sleep(for: .seconds(3600)) } }
    defer { for task in tasks { task.cancel() } }
    let first = sends.begin(id)
    sends.end(id)
    let second = sends.begin(id)
    sends.didMake(tasks[1], for: id, second)
    sends.didMake(tasks[0], for: id, first)
    for task in sends.tasks { task.cancel() }
    #expect(!tasks[0].isCancelled && tasks[1].isCancelled)
    sends.end(id)
    sends.didMake(tasks[1], for: id, second)
    #expect(sends.isEmpty && sends.tasks.isEmpty)
  }

  /// Fails each action at once, a number of times, and then does not answer.
  private final class FailingTransport: Transport {
    private let attempts = Log<String>()
    let waiting = Log<String>()
    let failures: Int
    init(failures: Int) { self.failures = failures }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let key = request.headers["Idempotency-Key"] ?? ""
      attempts.add(key)
      if attempts.entries.count(where: { $0 == key }) <= failures {
        throw TransportError.unreachable(reason: "at once")
      }
      waiting.add(key)
      try await Task.sleep(for: .seconds(3600))
      return TransportResponse(status: 204)
    }
  }

  @Test("A stop ends what is sent again and again", .timeLimit(.minutes(2)))
  func stop() async throws {
    for _ in 0..<5 {
      let transport = FailingTransport(failures: 10)
      let connect = TestConnect(
        name: "Library", model: try libraryModel(), transport: transport, forwarding: [Raise.self],
        outboxPolicy: OutboxPolicy(maximumConcurrentSends: 32, backoff: Backoff(base: .zero, cap: .zero)))
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      try connect.store((0..<32).map { Book(id: $0, title: "") })
      try await connect.start()
      for book in 0..<32 { try await connect.forward(Raise(book: book, note: "x")) }
      #expect(try await eventually { transport.waiting.entries.count == 32 })
      let stopped = Log<Bool>()
      connect.stop { error in stopped.add(error == nil) }
      #expect(try await eventually { stopped.entries == [true] })
    }
  }
}
