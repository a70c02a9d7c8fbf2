import Concord
import Foundation
import Testing

@Suite("An entity and its projections share what they share")
struct ProjectionTests {
  private struct Author: Identifiable, Equatable {
    let id: String
    var name: String
  }

  private struct Book: Aggregate, Equatable {
    let id: String
    var title: String
    var price: Int = 0
    var pages: Int = 0
    var author: Author
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author)] }
  }

  private struct Summary: EntityProjection, Equatable {
    let id: String
    var title: String
    var isOpen = false
    static var sharedFields: [SharedField<Summary, Book>] { [.init(\.title, \.title)] }
  }

  private struct Card: EntityProjection, Aggregate, Equatable {
    let id: String
    var title: String
    var price: Int
    var writer: Author
    static var sharedFields: [SharedField<Card, Book>] {
      [.init(\.title, \.title), .init(\.price, \.price), .init(\.writer, \.author)]
    }
    var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.writer)] }
  }

  private let store = EntityStore(delivery: .immediate)
  private let austen = Author(id: "austen", name: "Jane Austen")
  private func book(_ title: String = "Emma") -> Book { Book(id: "emma", title: title, pages: 400, author: austen) }

  @Test("Whichever is written, the others have it, and keep what is theirs")
  func inStep() {
    let book = store.store(book())
    let summary = store.store(Summary(id: "emma", title: "Emma!", isOpen: true))
    let card = store.store(Card(id: "emma", title: "Emma?", price: 5, writer: austen))
    #expect((book.value.title, summary.value.title, card.value.title) == ("Emma?", "Emma?", "Emma?"))
    #expect((book.value.price, book.value.pages, summary.value.isOpen) == (5, 400, true))
    store.update(Book.self, id: "emma") { $0.title = "B" }
    #expect((book.value.title, summary.value.title, card.value.title) == ("B", "B", "B"))
    store.update(Summary.self, id: "emma") { $0.title = "S" }
    #expect((book.value.title, summary.value.title, card.value.title) == ("S", "S", "S"))
    let other = Author(id: "other", name: "Another Lady")
    store.update(Card.self, id: "emma") { $0.writer = other }
    #expect(book.value.author == other)
    #expect(store.value(Author.self, id: "austen") == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("Of two, the newer counts, whichever comes first", arguments: [false, true])
  func freshness(bookFirst: Bool) {
    let kept: (EntityObserver<Book>, EntityObserver<Summary>)
    if bookFirst {
      let book = store.store(book("v9"), modifiedAt: 9)
      kept = (book, store.store(Summary(id: "emma", title: "v5"), modifiedAt: 5))
    } else {
      let summary = store.store(Summary(id: "emma", title: "v5"), modifiedAt: 5)
      kept = (store.store(book("v9"), modifiedAt: 9), summary)
    }
    let (book, summary) = kept
    #expect((book.value.title, summary.value.title) == ("v9", "v9"))
    store.store(Summary(id: "emma", title: "v10", isOpen: true), modifiedAt: 10)
    #expect((book.value.title, summary.value.title) == ("v10", "v10"))
    // Newer than the book, and older than the title: the rest of it is taken.
    store.store(Book(id: "emma", title: "v9.5", pages: 7, author: austen), modifiedAt: 9.5)
    #expect((book.value.title, book.value.pages, summary.value.title) == ("v10", 7, "v10"))
    store.store(self.book("v11"), modifiedAt: 11)
    #expect((book.value.title, summary.value.title, summary.value.isOpen) == ("v11", "v11", true))
  }

  @Test("Written without a stamp, one is newer than the others, also where those are ahead of the clock")
  func ahead() {
    let book = store.store(book("ahead"), modifiedAt: 1e12)
    let summary = store.store(Summary(id: "emma", title: "new"))
    #expect((book.value.title, summary.value.title) == ("new", "new"))
    store.update(Summary.self, id: "emma") { $0.title = "S" }
    #expect((book.value.title, summary.value.title) == ("S", "S"))
    store.update(Book.self, id: "emma") { $0.title = "B" }
    #expect((book.value.title, summary.value.title) == ("B", "B"))
    store.transaction { tx in
      tx.update(Summary.self, id: "emma") { $0.title = "first" }
      tx.update(Book.self, id: "emma") { $0.title = "last" }
    }
    #expect((book.value.title, summary.value.title) == ("last", "last"))
    store.transaction { tx in
      tx.update(Book.self, id: "emma") { $0.title = "first" }
      tx.update(Summary.self, id: "emma") { $0.title = "last" }
    }
    #expect((book.value.title, summary.value.title) == ("last", "last"))
    store.update(Summary.self, id: "emma", modifiedAt: 5) { $0.title = "stale" }
    #expect((book.value.title, summary.value.title) == ("last", "last"))
  }

  @Test("Where stamps say nothing, what was written last counts")
  func unstamped() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let book = store.store(book("one"))
    let summary = store.store(Summary(id: "emma", title: "two"))
    #expect(book.value.title == "two")
    store.transaction { tx in
      tx.update(Summary.self, id: "emma") { $0.title = "three" }
      tx.update(Book.self, id: "emma") { $0.title = "four" }
    }
    #expect((book.value.title, summary.value.title) == ("four", "four"))
    store.transaction { tx in
      tx.update(Book.self, id: "emma") { $0.title = "five" }
      tx.update(Summary.self, id: "emma") { $0.title = "six" }
    }
    #expect((book.value.title, summary.value.title) == ("six", "six"))
  }

  @Test("Observers are told once a transaction, with what is in step, and only if something changed for them")
  func notices() {
    let book = store.store(book())
    let summary = store.store(Summary(id: "emma", title: "Emma"))
    let (books, summaries) = (Log<String>(), Log<String>())
    let subscriptions = [
      book.observe { books.append($0.title + summary.value.title) },
      summary.observe { summaries.append($0.title + book.value.title) },
    ]
    store.update(Summary.self, id: "emma") { $0.title = "S" }
    store.update(Book.self, id: "emma") { $0.pages = 1 }
    store.update(Summary.self, id: "emma") { $0.isOpen = true }
    #expect(books.values == ["EmmaEmma", "SS", "SS"])
    #expect(summaries.values == ["EmmaEmma", "SS", "SS"])
    withExtendedLifetime(subscriptions) {}
  }

  @Test("What contains one of them follows, and those who follow all changes are told of both")
  func containers() {
    struct Shelf: Aggregate, Equatable {
      let id: Int
      var summaries: [Summary]
      var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.summaries)] }
    }
    let book = store.store(book())
    let shelf = store.store(Shelf(id: 0, summaries: [Summary(id: "emma", title: "Emma")]))
    let log = Log<Set<String>>()
    let subscription = store.observeChanges { log.append(Set($0.changes.map { "\($0.type) \($0.kind)" })) }
    store.update(Book.self, id: "emma") { $0.title = "B" }
    #expect(shelf.value.summaries.map(\.title) == ["B"])
    #expect(log.values == [["Book updated", "Summary updated"]])
    withExtendedLifetime((book, subscription)) {}
  }

  @Test("To remove one removes the other; one that is let go leaves the other alone")
  func removal() {
    let book = store.store(book())
    let summary = store.store(Summary(id: "emma", title: "Emma"))
    store.remove(Summary.self, id: "emma")
    #expect(book.isRemoved && summary.isRemoved)
    store.store(self.book(), named: AliasKey("book"))
    do {
      let again = store.store(Summary(id: "emma", title: "again"))
      #expect(again.value.title == "again")
    }
    withExtendedLifetime(summary) {}
    store.removeAlias(named: AliasKey<Book>("book"))
    #expect(book.value.title == "again")
    #expect(!book.isRemoved)
    store.remove(Book.self, id: "emma")
    #expect(store.value(Summary.self, id: "emma") == nil)
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A transaction that throws takes all of it back, and removes nothing")
  func thrown() {
    struct Failure: Error {}
    let book = store.store(book())
    try? store.transaction { tx in
      tx.store(Summary(id: "emma", title: "S"), named: AliasKey("s"))
      throw Failure()
    }
    #expect(book.value.title == "Emma")
    #expect(!book.isRemoved)
    let summary = store.store(Summary(id: "emma", title: "T"))
    try? store.transaction { tx in
      tx.update(Summary.self, id: "emma") { $0.title = "S" }
      tx.remove(Book.self, id: "emma")
      throw Failure()
    }
    #expect((book.value.title, summary.value.title, book.isRemoved) == ("T", "T", false))
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A write that was undone is not the last one, and takes nothing back")
  func undone() {
    let store = EntityStore(delivery: .immediate, stamping: .unstampedWritesWin)
    let stored = store.store(self.book())
    let short = store.store(Summary(id: "emma", title: "Emma"))
    func write(_ written: (EntityStore) -> Void, undoing undone: (EntityStore) -> Void) {
      store.transaction { tx in
        written(tx)
        try? tx.transaction { inner in
          undone(inner)
          throw Refused()
        }
      }
    }
    func book(_ title: String) -> (EntityStore) -> Void {
      { $0.update(Book.self, id: "emma") { $0.title = title } }
    }
    func summary(_ title: String) -> (EntityStore) -> Void {
      { $0.update(Summary.self, id: "emma") { $0.title = title } }
    }
    write(book("B"), undoing: summary("X"))
    #expect((stored.value.title, short.value.title) == ("B", "B"))
    write(summary("S"), undoing: book("X"))
    #expect((stored.value.title, short.value.title) == ("S", "S"))
    write(book("C")) { $0.remove(Summary.self, id: "emma") }
    #expect((stored.value.title, short.value.title, short.isRemoved) == ("C", "C", false))
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("A layer that does not apply takes nothing back from the one below it")
  func layerInVain() {
    let book = store.store(book())
    let summary = store.store(Summary(id: "emma", title: "Emma"))
    let shown = store.optimistically { tx in tx.update(Book.self, id: "emma") { $0.title = "M" } }
    let waiting = store.optimisticallyWhenPossible { tx in
      tx.update(Summary.self, id: "emma") { $0.title = "X" }
      tx.update(Author.self, id: "nobody") { $0.name = "Y" }
    }
    #expect((book.value.title, summary.value.title) == ("M", "M"))
    // The layers are replayed.
    store.update(Book.self, id: "emma") { $0.pages = 7 }
    #expect((book.value.title, book.value.pages, summary.value.title) == ("M", 7, "M"))
    waiting.rollBack()
    shown.rollBack()
    #expect((book.value.title, summary.value.title) == ("Emma", "Emma"))
    #expect(store._checkInvariants().isEmpty)
  }

  @Test("Whatever is written, all agree on the newest that any of them was given", arguments: 0..<40)
  func random(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let book = store.store(book("0"), modifiedAt: 0)
    let summary = store.store(Summary(id: "emma", title: "0"), modifiedAt: 0)
    let card = store.store(Card(id: "emma", title: "0", price: 0, writer: austen), modifiedAt: 0)
    var newest = [0.0, 0.0, 0.0]
    var (title, titled) = ("0", 0.0)
    for _ in 0..<60 {
      let stamp = Double(Int.random(in: 1..<100, using: &random)) + Double.random(in: 0..<1, using: &random)
      let kind = Int.random(in: 0..<3, using: &random)
      switch kind {
      case 0: store.store(Book(id: "emma", title: "\(stamp)", price: 1, author: austen), modifiedAt: stamp)
      case 1: store.store(Summary(id: "emma", title: "\(stamp)"), modifiedAt: stamp)
      default: store.store(Card(id: "emma", title: "\(stamp)", price: 2, writer: austen), modifiedAt: stamp)
      }
      if stamp > newest[kind] {
        newest[kind] = stamp
        if stamp > titled { (title, titled) = ("\(stamp)", stamp) }
      }
      #expect((book.value.title, summary.value.title, card.value.title) == (title, title, title))
      #expect(book.value.price == card.value.price)
    }
  }
}
