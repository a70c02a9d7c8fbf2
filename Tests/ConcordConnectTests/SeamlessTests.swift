import Concord
import ConcordTestSupport
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Seamless")
struct SeamlessTests {
  @Test(
    "No observer sees a change twice, or not at all, while it is accepted",
    arguments: StoreKind.allCases)
  func seamless(_ kind: StoreKind) async throws {
    try await withOutbox(kind) { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      let seen = Log<Double>()
      let subscription = book.map(\.price).observe(buffering: .every) { seen.add($0) }
      for note in 1...20 { try await connect.forward(Raise(book: 1, note: "\(note),")) }
      await connect.outbox.idle()
      try await connect.settled()
      #expect(seen.entries == (0...20).map(Double.init))
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("Server data that arrives meanwhile goes under what is pending")
  func underneath() async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(.memory, transport) { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      try await connect.forward(Raise(book: 1, note: "a"))
      try connect.store([Book(id: 1, title: "Emma ", price: 10)])
      #expect(try await eventually { book.value.title == "Emma a" && book.value.price == 11 })
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(try connect.kept(1)?.title == "Emma a")
      #expect(book.value.title == "Emma a" && book.value.price == 11)
    }
  }

  @Test("What is saved meanwhile and what is pending above it are seen in one step", arguments: StoreKind.allCases)
  func oneStep(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(kind, transport) { connect in
      let book = try #require(try connect.viewContext.find(Book.self, id: 1))
      let seen = Log<Double>()
      let subscription = book.map(\.price).observe(buffering: .every) { seen.add($0) }
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.forward(Raise(book: 1, note: "b"))
      for price in [10, 20, 30] as [Double] { try connect.store([Book(id: 1, title: "Emma ", price: price, shelf: 7)]) }
      #expect(try await eventually { book.value.price == 32 && transport.waiting == 1 })
      #expect(book.value.title == "Emma ab")
      transport.release()
      try await connect.settled()
      // What comes quickly may be seen as one.
      #expect(Set(seen.entries).isSubset(of: [0, 1, 2, 12, 22, 32]) && seen.entries == seen.entries.sorted())
      // What the actions did not change is what was saved.
      #expect(try connect.kept(1) == Book(id: 1, title: "Emma ab", price: 32, shelf: 7))
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("What the service has delivered before its answer is seen twice by counters, until the next refresh")
  func deliveredBefore() async throws {
    let clock = VirtualClock()
    // It has applied them.
    let lost = ScriptedTransport.Step.loseAnswer(TransportError.timedOut)
    try await withOutbox(.memory, ScriptedTransport([lost, lost]), clock: clock) { connect in
      let (first, second) = (
        try #require(try connect.viewContext.find(Book.self, id: 1)),
        try #require(try connect.viewContext.find(Book.self, id: 2))
      )
      try await connect.forward(Raise(book: 1, note: "a"))
      try await connect.forward(SetShelf(book: 2, shelf: 5))
      await clock.sleepers(atLeast: 2)
      func refresh() throws {
        try connect.store([Book(id: 1, title: "a", price: 1), Book(id: 2, title: "", shelf: 5)])
      }
      try refresh()
      #expect(try await eventually { first.value.price == 2 && second.value.shelf == 5 })
      clock.advance(by: .seconds(1))
      try await connect.settled()
      #expect(try connect.kept(1)?.price == 2 && connect.kept(2)?.shelf == 5)
      try refresh()
      try await connect.settled()
      #expect(first.value.price == 1 && second.value.shelf == 5)
    }
  }

  @Test("A write makes those pending actions once more that change the same entity, and no others")
  func cost() async throws {
    try await withOutbox { connect in
      connect.suspended = true
      let books = try (1...3).map { try #require(try connect.viewContext.find(Book.self, id: $0)) }
      for number in 0..<20 { try await connect.forward(Tick(book: 1 + number % 2)) }
      for (id, book) in zip(1...3, books) {
        let before = Tick.applied.entries.count
        try connect.store([Book(id: id, title: "new")])
        #expect(try await eventually { book.value.title == "new" })
        #expect(Tick.applied.entries.count - before == (id < 3 ? 10 : 0))
      }
      #expect(books.map(\.value.price) == [10, 10, 0])
    }
  }

  @Test(
    "What an action makes, and what it removes and changes besides, is shown and stored",
    arguments: StoreKind.allCases)
  func makesAndRemoves(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait, .wait])
    try await withOutbox(kind, transport) { connect in
      let (made, removed) = (
        connect.viewContext.store.observer(Book.self, id: 10), connect.viewContext.store.observer(Book.self, id: 2)
      )
      _ = try connect.viewContext.find(Book.self, id: 2)
      try await connect.forward(AddBook(book: Book(id: 10, title: "new")))
      try await connect.forward(RemoveBook(book: 2, counter: 3))
      #expect(made.value?.title == "new" && removed.value == nil)
      #expect(try connect.shown(3)?.shelf == 1)
      #expect(try connect.stored(Book.self).count == 9 && connect.kept(3)?.shelf == 0)
      #expect(try await eventually { transport.waiting == 2 })
      transport.release()
      await connect.outbox.idle()
      #expect(made.value?.title == "new" && removed.value == nil)
      #expect(try connect.kept(10)?.title == "new" && connect.kept(2) == nil && connect.kept(3)?.shelf == 1)
    }
  }

  @Test("What an action removes and makes again has only changed when that is stored", arguments: StoreKind.allCases)
  func removesAndMakesAgain(_ kind: StoreKind) async throws {
    struct Replace: ForwardAction {
      static let name = "replace"
      var entity: AnyEntityReference { .init(Author.self, id: 1) }
      func apply(to store: EntityStore) throws {
        store.remove(Author.self, id: 1)
        store.store(Author(id: 1, name: "new"))
      }
      func send(with transport: any Transport, key: IdempotencyKey) async throws {
        _ = try await transport.send(TransportRequest("PUT", "/authors/1")).successful()
      }
    }
    let transport = ScriptedTransport([.wait])
    try await withOutbox(kind, transport) { connect in
      try connect.store([Novel(id: 1, title: "Emma", author: Author(id: 1, name: "old"))])
      let novel = connect.viewContext.store.observer(Novel.self, id: 1)
      _ = try connect.viewContext.find(Novel.self, id: 1)
      try await connect.forward(Replace())
      #expect(try await eventually { transport.waiting == 1 })
      #expect(novel.value == nil)
      transport.release()
      await connect.outbox.idle()
      let stored = try connect.stored(Novel.self)
      #expect(stored == [Novel(id: 1, title: "Emma", author: Author(id: 1, name: "new"))])
      #expect(try await eventually { novel.value?.author.name == "new" })
    }
  }

  @Test(
    "A change to what is not stored here is shown when that comes, and sent meanwhile", arguments: StoreKind.allCases)
  func comesLater(_ kind: StoreKind) async throws {
    let transport = ScriptedTransport([.wait])
    try await withOutbox(kind, transport) { connect in
      let book = connect.viewContext.store.observer(Book.self, id: 77)
      try await connect.forward(Raise(book: 77, note: "a"))
      #expect(book.value == nil)
      try connect.store([Book(id: 77, title: "late ", price: 5)])
      #expect(try await eventually { book.value?.title == "late a" && book.value?.price == 6 })
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(try connect.kept(77)?.title == "late a" && book.value?.title == "late a")
    }
  }

  @Test("A live query selects by what is pending at once, and by what is stored when that is refused")
  func liveQuery() async throws {
    let transport = ScriptedTransport([.wait, .answer(TransportResponse(status: 409))])
    try await withOutbox(.memory, transport) { connect in
      let books = try connect.viewContext.query(
        FetchDescriptor<Book>(predicate: #Predicate { $0.price < 1 }, sortBy: [SortDescriptor(\.id)]))
      #expect(books.value.count == 9)
      try await connect.forward(Raise(book: 1, note: "a"))
      #expect(books.value.map(\.id) == Array(2...9))
      #expect(try await eventually { transport.waiting == 1 })
      transport.release()
      await connect.outbox.idle()
      #expect(try await eventually { books.value.map(\.id) == Array(2...9) })
      try await connect.forward(Raise(book: 2, note: "b"))
      await connect.outbox.idle()
      #expect(connect.outbox.deadLetters.count == 1 && books.value.map(\.id) == Array(2...9))
    }
  }

  #if Persistence
    @Test("In another process no observer sees a change twice, or not at all, either")
    func otherProcess() async throws {
      try await withFolder { folder in
        try await withOutbox(.sqlite, in: folder) { a in
          #expect(try await eventually { a.outbox.isSender })
          try await withOutbox(.sqlite, in: folder) { b in
            let book = try #require(try b.viewContext.find(Book.self, id: 1))
            let seen = Log<Double>()
            let subscription = book.map(\.price).observe(buffering: .every) { seen.add($0) }
            for note in 1...20 { try await b.forward(Raise(book: 1, note: "\(note),")) }
            #expect(try await eventually { b.outbox.pending.isEmpty && a.outbox.pending.isEmpty })
            await b.viewContext.store.settled()
            #expect(seen.entries == (0...20).map(Double.init))
            #expect(try a.kept(1)?.price == 20 && !b.outbox.isSender)
            withExtendedLifetime(subscription) {}
          }
        }
      }
    }
  #endif
}

/// Sets what another refresh sets, too.
private struct SetShelf: ForwardAction {
  var book: Int
  var shelf: Int
  static let name = "set-shelf"
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws { store.update(Book.self, id: book) { $0.shelf = shelf } }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {
    _ = try await transport.send(TransportRequest("PUT", "/books/\(book)")).successful()
  }
}

/// Notes how often it is made.
private struct Tick: ForwardAction {
  var book: Int
  static let name = "tick"
  static let applied = Log<Void>()
  var entity: AnyEntityReference { .init(Book.self, id: book) }
  func apply(to store: EntityStore) throws {
    Self.applied.add(())
    store.update(Book.self, id: book) { $0.price += 1 }
  }
  func send(with transport: any Transport, key: IdempotencyKey) async throws {}
}
