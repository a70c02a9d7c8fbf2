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

  @Test(
    "What a service accepts makes no later change of an entity anew that contains others",
    arguments: StoreKind.allCases, Part.allCases)
  private func acceptanceOfAggregate(_ kind: StoreKind, _ part: Part) async throws {
    func applies(of count: Int) async throws -> Int { try await drainNovel(count, part, kind).applied }
    let (few, many) = (try await applies(of: 20), try await applies(of: 80))
    // Each once in the stores, and once in what is shown.
    #expect(few <= 20 * 2 + 5)
    #expect(many <= 80 * 2 + 5)
  }

  // Printed on request.
  @Test(
    "Figures of draining",
    .enabled(if: ProcessInfo.processInfo.environment["CONCORD_DRAIN"] != nil), arguments: [250, 500, 1000, 2000])
  func figures(_ count: Int) async throws {
    let (applied, time) = try await drain(count, over: 50, .memory)
    print("DRAIN \(count) actions over 50 entities: \(applied) applies, \(time)")
    for part in Part.allCases {
      let (applied, time) = try await drainNovel(count, part, .memory)
      print("DRAIN \(count) actions on one novel, \(part): \(applied) applies, \(time)")
    }
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

  /// The same with one novel, which contains an author, and sequels with theirs. One of these leads back to the novel.
  private func drainNovel(
    _ count: Int, _ part: Part, _ kind: StoreKind
  ) async throws -> (applied: Int, time: Duration) {
    try await withOutbox(kind) { connect in
      let author = Author(id: 1, name: "")
      let second = Novel(id: 2, title: "", author: author)
      let first = Novel(id: 1, title: "", author: author, sequels: [second])
      try connect.store(
        part == .cycle ? [first, Novel(id: 2, title: "", author: author, sequels: [first])] : [first, second])
      connect.persistentStoreCoordinator.settle()
      connect.suspended = true
      for _ in 0..<count { try await connect.forward(Changed(part: part)) }
      let novel = try #require(try connect.viewContext.find(Novel.self, id: 1))
      #expect((novel.value.title + novel.value.author.name).count == (part == .both ? 2 : 1) * count)
      let seen = Log<Novel>()
      let subscription = novel.observe(buffering: .every) { seen.add($0) }
      let before = Changed.applied.entries.count
      let start = ContinuousClock.now
      connect.suspended = false
      await connect.outbox.idle()
      let time = ContinuousClock.now - start
      #expect(try connect.stored(Novel.self).first { $0.id == 1 } == novel.value)
      // What is stored is what was shown.
      #expect(seen.entries.allSatisfy { $0 == novel.value })
      subscription.unsubscribe()
      return (Changed.applied.entries.count - before, time)
    }
  }
}

/// The part of a novel that an action changes.
private enum Part: String, CaseIterable, Codable { case title, author, both, cycle }

/// Notes how often it is made.
private struct Changed: ForwardAction {
  var part: Part
  static let name = "changed"
  static let applied = Log<Void>()
  var entity: AnyEntityReference { .init(Novel.self, id: 1) }
  func apply(to store: EntityStore) throws {
    Self.applied.add(())
    store.update(Novel.self, id: 1) { novel in
      if part != .author { novel.title += "." }
      if part == .author || part == .both { novel.author.name += "." }
    }
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("POST", "/novels/1"))
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
