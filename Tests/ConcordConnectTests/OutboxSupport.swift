import Concord
import ConcordTestSupport
import Foundation

#if Persistence
  import GRDB
#endif

@testable import ConcordConnect

/// Raises the price of a book by one, and notes itself in the title, so that doubles and wrong orders show.
struct Raise: ForwardAction, Equatable {
  var book: Int
  var note: String
  static let name = "raise"
  var entity: AnyEntityReference { .init(Book.self, id: book) }

  func apply(to store: EntityStore) throws {
    store.update(Book.self, id: book) { book in
      book.price += 1
      book.title += note
    }
  }

  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest(
      "POST", "/books/\(book)/raises", headers: ["Idempotency-Key": key.rawValue], body: Data(note.utf8))
    _ = try await transport.send(request).successful()
  }
}

/// Makes a book.
struct AddBook: ForwardAction {
  var book: Book
  static let name = "add-book"
  var entity: AnyEntityReference { .init(Book.self, id: book.id) }
  func apply(to store: EntityStore) throws { store.store(book) }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest("POST", "/books", headers: ["Idempotency-Key": key.rawValue])
    _ = try await transport.send(request).successful()
  }
}

/// Removes a book, and counts that in another one.
struct RemoveBook: ForwardAction {
  var book: Int
  var counter: Int
  static let name = "remove-book"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  var touches: [AnyEntityReference] { [.init(Book.self, id: counter)] }
  func apply(to store: EntityStore) throws {
    store.remove(Book.self, id: book)
    store.update(Book.self, id: counter) { $0.shelf += 1 }
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest("DELETE", "/books/\(book)", headers: ["Idempotency-Key": key.rawValue])
    _ = try await transport.send(request).successful()
  }
}

/// Never applies.
struct Impossible: ForwardAction {
  static let name = "impossible"
  var entity: AnyEntityReference { .init(Book.self, id: 1) }
  func apply(to store: EntityStore) throws { throw Failure(text: "it does not apply") }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}

typealias TestConnect = GenericConnect<ContextStrategy.Mixed>

/// A started connect with books 1 to 9, whose outbox sends with a script, and what it waits with.
func withOutbox<R>(
  _ kind: StoreKind = .memory, _ transport: ScriptedTransport = ScriptedTransport(),
  policy: OutboxPolicy = OutboxPolicy(), clock: any Clock<Duration> = ContinuousClock(),
  network: ReachabilitySwitch = ReachabilitySwitch(), in folder: URL? = nil, _ body: (TestConnect) async throws -> R
) async throws -> R {
  func run(_ folder: URL) async throws -> R {
    let connect = TestConnect(
      name: "Library", model: try libraryModel(), clock: clock, reachability: network, transport: transport,
      forwarding: [Raise.self, AddBook.self, RemoveBook.self], outboxPolicy: policy)
    try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
    if try connect.stored(Book.self).isEmpty { try connect.store((1...9).map { Book(id: $0, title: "") }) }
    connect.persistentStoreCoordinator.settle()
    try await connect.start()
    let result = await Result { try await body(connect) }
    transport.release()
    try await connect.stop()
    return try result.get()
  }
  if let folder { return try await run(folder) }
  return try await withFolder(run)
}

#if Persistence
  /// A connect with a file, which is not started, and so sends nothing.
  func resting(
    _ folder: URL, _ types: [any ForwardAction.Type] = [Raise.self], transport: (any Transport)? = nil
  ) throws -> TestConnect {
    let connect = TestConnect(name: "Library", model: try libraryModel(), transport: transport, forwarding: types)
    try connect.attachPersistentStore(at: folder)
    return connect
  }

  /// A connection of its own to the file of such connects, which may be left with a transaction open.
  func outboxFile(_ folder: URL) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    return try DatabaseQueue(
      path: folder.appending(path: "Library.sqlite").path, configuration: configuration)
  }
#endif

extension GenericConnect {
  /// What a screen shows of a book.
  func shown(_ id: Int) throws -> Book? { try viewContext.find(Book.self, id: id)?.value }
  /// What the stores have of it.
  func kept(_ id: Int) throws -> Book? { try stored(Book.self).first { $0.id == id } }
}

extension ScriptedTransport {
  /// The bodies of all requests, as text.
  var bodies: [String] { requests.map { String(decoding: $0.body ?? Data(), as: UTF8.self) } }
  var keys: [String?] { requests.map { $0.headers["Idempotency-Key"] } }
}

extension OutboxEvent {
  /// A word for it.
  var word: String {
    switch self {
    case .forwarded: "forwarded"
    case .sending: "sending"
    case .delayed: "delayed"
    case .accepted: "accepted"
    case .notApplied: "notApplied"
    case .refused: "refused"
    case .retried: "retried"
    case .dropped: "dropped"
    case .unknown: "unknown"
    case .cleared: "cleared"
    }
  }
}

/// Collects what is told from now on.
func collect(_ outbox: Outbox) -> Log<String> {
  let (log, events) = (Log<String>(), outbox.events)
  Task { for await event in events { log.add(event.word) } }
  return log
}

/// Answers never, and ends when its task is cancelled.
final class HangingTransport: Transport {
  let keys = Log<String?>()
  func send(_ request: TransportRequest) async throws -> TransportResponse {
    keys.add(request.headers["Idempotency-Key"])
    try await Task.sleep(for: .seconds(3600))
    return TransportResponse(status: 200)
  }
}
