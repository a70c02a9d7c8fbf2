import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("The outbox, and actions that it could not read again")
struct OutboxUnreadableTests {
  @Test("An action whose name another type has, or that cannot be read again, is refused, and leaves nothing behind")
  func refused() async throws {
    try await withOutbox { connect in
      for action in [Twin(book: 1), OneWay(book: 1)] as [any ForwardAction] {
        do {
          try await connect.forward(action)
          Issue.record("\(action) was taken")
        } catch Errors.unreadableAction {}
      }
      #expect(connect.outbox.pending.isEmpty && connect.outbox.unknown.isEmpty)
      #expect(try connect.shown(1)?.title == "")
      // Nothing waits behind them.
      try await connect.forward(Raise(book: 1, note: "a"))
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "a")
    }
  }
}

/// Has the name of another type.
private struct Twin: ForwardAction {
  var book: Int
  static let name = Raise.name
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.title += "twin" } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}

/// Reads something else than what it writes.
private struct OneWay: ForwardAction {
  var book: Int
  static let name = "one-way"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  init(book: Int) { self.book = book }
  init(from decoder: any Decoder) throws { throw Failure(text: "it cannot be read") }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(book)
  }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.title += "one way" } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}
