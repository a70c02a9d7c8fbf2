import ConcordConnect
import ConcordTestSupport
import Foundation
import Testing

@Suite("A purge leaves what is pending")
struct PendingPurgeTests {
  @Test("Entities of pending actions stay, whoever forwards and whoever purges", arguments: StoreKind.lasting)
  func pending(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      try await withOutbox(kind, in: folder) { a in
        a.suspended = true
        try await withOutbox(kind, in: folder) { b in
          b.suspended = true
          try a.store((30...60).map { Book(id: $0, title: "") })
          // Two pending actions on one book, one on two books, and one on a book that is not stored yet.
          try await a.forward(Raise(book: 1, note: "a"))
          try await a.forward(Raise(book: 1, note: "b"))
          try await a.forward(RemoveBook(book: 2, counter: 3))
          try await a.forward(AddBook(book: Book(id: 20, title: "")))
          #expect(try await eventually { b.outbox.pending.count == 4 })
          let books = try b.viewContext.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.id)], fetchLimit: 2))
          #expect(books.value.map(\.id) == [1, 3])
          #expect(try b.newBackgroundContext().purge(Book.self, keeping: .atMost(0)) > 0)
          #expect(try a.stored(Book.self).map(\.id).sorted().starts(with: [1, 2, 3]))
          #expect(books.value.map(\.id) == [1, 3])
          try a.keep(Book.self, .atMost(0))
          try a.keepAll(Book.self)
          #expect(try a.stored(Book.self).map(\.id).sorted().starts(with: [1, 2, 3]))
          a.suspended = false
          b.suspended = false
          #expect(try await eventually { a.outbox.pending.isEmpty && b.outbox.pending.isEmpty })
          let first = try #require(try a.kept(1))
          #expect(try first.title == "ab" && first.price == 2 && a.kept(2) == nil && a.kept(3)?.shelf == 1)
          #expect(try a.kept(20) != nil)
        }
      }
    }
  }

  @Test("What another process has just forwarded counts, before its commit is told", arguments: StoreKind.lasting)
  func justForwarded(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      try await withOutbox(kind, in: folder) { a in
        a.suspended = true
        try await withOutbox(kind, in: folder) { b in
          b.suspended = true
          let context = b.newBackgroundContext()
          for id in 1...9 {
            try await a.forward(Raise(book: id, note: "a"))
            try context.purge(Book.self, keeping: .matching(#Predicate { $0.id > id }))
            #expect(try a.stored(Book.self).map(\.id).sorted() == Array(1...9))
          }
        }
      }
    }
  }

  @Test("What is forwarded while a purge is about to begin counts", arguments: StoreKind.lasting)
  func forwardedMeanwhile(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      try await withOutbox(kind, in: folder) { a in
        a.suspended = true
        try await withOutbox(kind, in: folder) { b in
          b.suspended = true
          // Asked after all others, just before the transaction.
          let last = LastAsked {
            try await a.forward(Raise(book: 1, note: "a"))
            try await a.forward(RemoveBook(book: 2, counter: 3))
          }
          b.persistentStoreCoordinator.addGuard(last)
          let context = b.newBackgroundContext()
          // On a thread of its own, which may wait.
          let removed = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
              continuation.resume(with: Result { try context.purge(Book.self, keeping: .atMost(0)) })
            }
          }
          #expect(removed == 6 && last.error.withLock { $0 } == nil)
          #expect(try a.stored(Book.self).map(\.id).sorted() == [1, 2, 3])
        }
      }
    }
  }

  @Test(
    "A program that forwards nothing leaves what another one's actions keep their order with",
    arguments: StoreKind.lasting)
  func withoutConnect(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      try await withOutbox(kind, in: folder) { connect in
        connect.suspended = true
        try await connect.forward(Raise(book: 7, note: "a"))
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
        try container.attachPersistentStore(at: folder, for: kind.configuration(folder))
        #expect(try container.newBackgroundContext().purge(Book.self, keeping: .atMost(0)) == 8)
        #expect(try connect.stored(Book.self).map(\.id) == [7])
      }
    }
  }

  @Test("Entities of dead letters stay, until these are dropped", arguments: StoreKind.allCases)
  func deadLetters(_ kind: StoreKind) async throws {
    let refusal = ScriptedTransport.Step.answer(TransportResponse(status: 409))
    try await withOutbox(kind, ScriptedTransport([refusal, .pass, refusal])) { connect in
      let context = connect.newBackgroundContext()
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      #expect(try context.purge(Book.self, keeping: .atMost(0)) == 8)
      #expect(connect.outbox.retry(try #require(connect.outbox.deadLetters.first)))
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "a")
      try await connect.forward(Raise(book: 1, note: "b"))
      #expect(try await eventually { connect.outbox.deadLetters.count == 1 })
      #expect(connect.outbox.drop(try #require(connect.outbox.deadLetters.first)))
      #expect(try context.purge(Book.self, keeping: .atMost(0)) == 1)
    }
  }
}

/// Does something when it is asked for what it needs, which is nothing.
private final class LastAsked: RetentionGuard {
  let error = Locked<(any Error)?>(nil)
  private let body: @Sendable () async throws -> Void

  init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

  func pendingKeys() -> Set<EntityKey> {
    let isDone = DispatchSemaphore(value: 0)
    Task { [body] in
      do { try await body() } catch { self.error.withLock { $0 = error } }
      isDone.signal()
    }
    isDone.wait()
    return []
  }
}
