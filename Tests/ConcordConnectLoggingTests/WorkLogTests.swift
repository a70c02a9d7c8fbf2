import ConcordConnect
import ConcordConnectLogging
import ConcordTestLogging
import ConcordTestSupport
import FlyingFox
import FlyingSocks
import Foundation
import Logging
import Testing

/// What the lines must not have: it stands in a token, in ids, in values, and in what the service answers.
private let secret = "geheim"

private struct Book: PersistentEntity, Equatable {
  let id: String
  var likes = 0

  static let persistentProperties: [PersistentProperty<Book>] = [.init("id", \.id), .init("likes", \.likes)]

  init(id: String, likes: Int = 0) { (self.id, self.likes) = (id, likes) }
  init(from row: inout RowReader) throws { self.init(id: try row.read(), likes: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(likes)
  }
}

private struct Like: ForwardAction {
  var book: String
  var path: String
  static let name = "like"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.likes += 1 } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let headers: HeaderFields = ["Idempotency-Key": key.rawValue, "Authorization": "Bearer \(secret)"]
    _ = try await transport.send(TransportRequest("POST", path, headers: headers)).successful()
  }
}

private final class AddBook: EntityAction {
  typealias ManagedObjectType = Book
  func execute(context: ActionContext) throws {
    context.insert(Book(id: "\(secret)-2"))
    try context.save()
  }
}

private struct Broken: Error, CustomStringConvertible { var description: String { secret } }
private enum Absent: Error { case gone(String), lost }

private final class Fail: GenericAction {
  let error: any Error
  init(_ error: sending any Error) { self.error = error }
  func execute() throws { throw error }
}

private final class Wait: GenericAction {
  func execute() async throws { try await Task.sleep(for: .seconds(3600)) }
}

@Suite("Log lines of work")
struct WorkLogTests {
  private typealias Line = CapturingLogHandler.Line

  /// A started connect with one book, which sends to a real server; the first request to `/busy` is not served.
  private func withWork(_ body: (any Connect, CapturingLogHandler.Lines) async throws -> Void) async throws {
    let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
    let task = Task { try await server.run() }
    try await server.waitUntilListening()
    guard case .ip4(_, let port)? = await server.listeningAddress, let url = URL(string: "http://127.0.0.1:\(port)")
    else { throw Broken() }
    let busy = Busy()
    await server.appendRoute("*") { request in
      let status: HTTPStatusCode =
        switch request.path {
        case "/refused": .badRequest
        case "/busy": await busy.isFirst() ? .serviceUnavailable : .ok
        default: .ok
        }
      return HTTPResponse(statusCode: status, body: Data("the answer: \(secret)".utf8))
    }
    let connect = GenericConnect<ContextStrategy.Mixed>(
      name: "Work", model: try Model("Work", entities: [Book.self]), transport: HTTPTransport(baseURL: url),
      forwarding: [Like.self], outboxPolicy: OutboxPolicy(backoff: Backoff(base: .milliseconds(10))))
    try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
    try await connect.start()
    let context = connect.newBackgroundContext()
    try await context.perform {
      context.insert(Book(id: "\(secret)-1"))
      try context.save()
    }
    let lines = CapturingLogHandler.Lines()
    connect.log(to: Logger(label: "work") { _ in CapturingLogHandler(lines: lines) })
    try await body(connect, lines)
    try await connect.stop()
    await server.stop()
    task.cancel()
    for line in lines.all { #expect(!"\(line)".contains(secret), "\(line)") }
  }

  private actor Busy {
    private var count = 0
    func isFirst() -> Bool {
      count += 1
      return count == 1
    }
  }

  private func eventually(_ isSo: () -> Bool) async throws -> Bool {
    for _ in 0..<2_000 where !isSo() { try await Task.sleep(for: .milliseconds(10)) }
    return isSo()
  }

  @Test("Each action has a line when it begins and one when it ends, with what it did or which error it threw")
  func actions() async throws {
    try await withWork { connect, lines in
      await (try connect.execute(AddBook())).finished()
      await (try connect.execute(Fail(Absent.gone(secret)))).finished()
      await (try connect.execute(Fail(Absent.lost))).finished()
      await (try connect.execute(Fail(Broken()))).finished()
      let proxy = try connect.execute(Wait())
      #expect(try await eventually { lines.with(message: "began an action").count == 5 })
      proxy.cancel()
      #expect(try await eventually { lines.all.count == 10 })

      #expect(
        lines.with(message: "began an action").first
          == Line(level: .debug, message: "began an action", metadata: ["action": "AddBook"]))
      let finished = try #require(lines.with(message: "finished an action").first)
      #expect(finished.level == .debug)
      #expect(finished.metadata["action"] == "AddBook" && finished.metadata["inserted"] == "1")
      #expect(finished.metadata["seconds"].flatMap(Double.init) ?? -1 >= 0)
      let failed = lines.with(message: "an action failed")
      #expect(failed.map(\.level) == [.warning, .warning, .warning])
      #expect(failed.map { $0.metadata["error"] } == ["Absent.gone", "Absent.lost", "Broken"])
      #expect(lines.with(message: "cancelled an action").map { $0.metadata["action"] } == ["Wait"])
    }
  }

  @Test("Each event of the outbox has a line: forwarded, sent, tried again when, refused, retried, dropped, cleared")
  func outbox() async throws {
    try await withWork { connect, lines in
      func messages() -> [String] { lines.all.map(\.message) }
      try await connect.forward(Like(book: "\(secret)-1", path: "/busy"))
      await connect.outbox.idle()
      try await connect.forward(Like(book: "\(secret)-1", path: "/refused"))
      await connect.outbox.idle()
      #expect(try await eventually { messages().contains("an action was refused, and is a dead letter") })
      #expect(
        messages() == [
          "forwarded an action", "sends an action", "failed to send an action, and tries again", "sends an action",
          "the service accepted an action", "forwarded an action", "sends an action",
          "an action was refused, and is a dead letter",
        ])
      let delayed = try #require(lines.with(message: "failed to send an action, and tries again").first)
      #expect(delayed.level == .warning)
      #expect(delayed.metadata["error"] == "TransportError.status" && delayed.metadata["code"] == "503")
      #expect(delayed.metadata["attempts"] == "1" && delayed.metadata["retryIn"] != nil)
      #expect(delayed.metadata["action"] == "like" && delayed.metadata["entity"] == "Book")
      #expect(Set(lines.all.prefix(5).map { $0.metadata["key"] }).count == 1)
      #expect(lines.all.allSatisfy { $0.metadata["key"]?.count == 8 })
      let refused = try #require(lines.with(message: "an action was refused, and is a dead letter").first)
      #expect(refused.level == .warning && refused.metadata["action"] == "like")
    }
  }

  @Test("After a stop there are no lines")
  func stopped() async throws {
    try await withWork { connect, lines in
      let others = CapturingLogHandler.Lines()
      let log = connect.log(to: Logger(label: "others") { _ in CapturingLogHandler(lines: others) }, level: .info)
      await (try connect.execute(AddBook())).finished()
      #expect(try await eventually { others.all.count == 2 })
      #expect(others.all.map(\.level) == [.info, .info])
      log.stop()
      await (try connect.execute(AddBook())).finished()
      #expect(try await eventually { lines.all.count == 4 })
      #expect(others.all.count == 2)
    }
  }
}
