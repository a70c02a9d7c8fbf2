import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("What pending actions cost", .serialized)
struct OutboxCostTests {
  @Test("Forwarding makes no other change anew, however many are pending", arguments: StoreKind.allCases)
  func forwarding(_ kind: StoreKind) async throws {
    try await withOutbox(kind) { connect in
      connect.suspended = true
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      let before = Counted.applied.entries.count
      for _ in 0..<50 { try await connect.forward(Counted()) }
      #expect(book.value.price == 50)
      // Once to see whether it applies, and once to be shown; the first one once more.
      #expect(Counted.applied.entries.count - before <= 101)
      try await connect.outbox.clear()
      #expect(book.value.price == 0)
    }
  }
}

/// Notes how often it is made.
private struct Counted: ForwardAction {
  static let name = "counted"
  static let applied = Log<Void>()
  var entity: AnyEntityReference { .init(Book.self, id: 1) }
  func apply(to store: EntityStore) throws {
    Self.applied.add(())
    store.update(Book.self, id: 1) { $0.price += 1 }
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}
