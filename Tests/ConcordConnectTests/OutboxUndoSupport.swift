import Concord
import ConcordTestSupport
import Foundation

@testable import ConcordConnect

/// Sets the title of a book, and takes back only what it has set itself.
struct Retitle: ReversibleAction, Equatable {
  var book: Int
  var title: String
  /// The title that it replaces; `nil` for whatever is there.
  var expected: String?
  static let name = "retitle"
  var entity: AnyEntityReference { .init(Book.self, id: book) }

  struct Overwritten: Error, CustomStringConvertible {
    let title: String
    var description: String { "the title is '\(title)' by now" }
  }

  func apply(to store: EntityStore) throws {
    if let expected, let found = store.value(Book.self, id: book)?.title, found != expected {
      throw Overwritten(title: found)
    }
    store.update(Book.self, id: book) { $0.title = title }
  }

  func inverse(in store: EntityStore) throws -> Retitle {
    guard let before = store.value(Book.self, id: book)?.title else { throw Failure(text: "there is no book") }
    return Retitle(book: book, title: before, expected: title)
  }

  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest(
      "PUT", "/books/\(book)/title", headers: ["Idempotency-Key": key.rawValue], body: Data(title.utf8))
    _ = try await transport.send(request).successful()
  }
}

/// Adds to the shelf of a book, which can be taken back whatever others add.
struct Shelve: ReversibleAction, Equatable {
  var book: Int
  var count: Int
  static let name = "shelve"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.shelf += count } }
  func inverse(in store: EntityStore) throws -> Unshelve { Unshelve(book: book, count: count) }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest(
      "POST", "/shelf/\(book)", headers: ["Idempotency-Key": key.rawValue], body: Data("\(count)".utf8))
    _ = try await transport.send(request).successful()
  }
}

struct Unshelve: ForwardAction, Equatable {
  var book: Int
  var count: Int
  static let name = "unshelve"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.shelf -= count } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    let request = TransportRequest(
      "POST", "/shelf/\(book)", headers: ["Idempotency-Key": key.rawValue], body: Data("\(-count)".utf8))
    _ = try await transport.send(request).successful()
  }
}

/// A started outbox that has the right to send, and does not until it is resumed.
func withSuspendedOutbox<R>(
  _ kind: StoreKind, _ transport: ScriptedTransport = ScriptedTransport(), _ body: (TestConnect) async throws -> R
) async throws -> R {
  try await withOutbox(kind, transport) { connect in
    connect.suspended = true
    let isSender = try await eventually { connect.outbox.isSender }
    if !isSender { throw Failure(text: "another one sends") }
    return try await body(connect)
  }
}

extension UndoStatus {
  init(undo: String?, redo: String?) { self.init(undoActionName: undo, redoActionName: redo) }
}

extension TransportRequest {
  /// The path below the service's; empty for a whole address.
  var path: String { if case .path(let path, _) = target { path } else { "" } }
}
