import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("What draining costs", .serialized)
struct OutboxDrainCostTests {
  @Test("What a service accepts makes no change of another entity anew", arguments: StoreKind.allCases)
  func acceptance(_ kind: StoreKind) async throws {
    // As many entities as actions: each is made for what it is, however many others are pending.
    func applies(of count: Int) async throws -> Int {
      try await drain(count, over: count, kind).applied
    }
    let (few, many) = (try await applies(of: 20), try await applies(of: 80))
    // Once in the stores. What forwarding left is found out by making each once more.
    #expect(few <= 20 * 2 + 10)
    #expect(many <= 80 * 2 + 10)
  }

  @Test("What a service accepts makes no later change of the same entity anew", arguments: StoreKind.allCases)
  func acceptanceOfOne(_ kind: StoreKind) async throws {
    func applies(of count: Int) async throws -> Int { try await drain(count, over: 1, kind).applied }
    // Each once in the stores, and once in what is shown.
    #expect(try await applies(of: 20) <= 20 * 2 + 5)
    #expect(try await applies(of: 160) <= 160 * 2 + 5)
  }

  // Printed on request.
  @Test(
    "Figures of draining",
    .enabled(if: ProcessInfo.processInfo.environment["CONCORD_DRAIN"] != nil), arguments: [250, 500, 1000, 2000])
  func figures(_ count: Int) async throws {
    let (applied, time) = try await drain(count, over: 50, .memory)
    print("DRAIN \(count) actions over 50 entities: \(applied) applies, \(time)")
  }

  /// Forwards while nothing is sent, then sends all.
  private func drain(
    _ count: Int, over entities: Int, _ kind: StoreKind
  ) async throws -> (applied: Int, time: Duration) {
    try await withOutbox(kind) { connect in
      try connect.store((1...entities).map { Book(id: $0, title: "") })
      connect.persistentStoreCoordinator.settle()
      connect.suspended = true
      for number in 0..<count { try await connect.forward(Noted(book: number % entities + 1)) }
      let before = Noted.applied.entries.count
      let start = ContinuousClock.now
      connect.suspended = false
      await connect.outbox.idle()
      let time = ContinuousClock.now - start
      #expect(try connect.stored(Book.self).map(\.price).reduce(0, +) == Double(count))
      #expect(try connect.shown(1)?.price == connect.kept(1)?.price)
      return (Noted.applied.entries.count - before, time)
    }
  }
}

/// Notes how often it is made.
private struct Noted: ForwardAction {
  var book: Int
  static let name = "noted"
  static let applied = Log<Void>()
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws {
    Self.applied.add(())
    store.update(Book.self, id: book) { $0.price += 1 }
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("POST", "/books/\(book)"))
  }
}
