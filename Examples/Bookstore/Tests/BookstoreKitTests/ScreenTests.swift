import Concord
import Testing

@testable import BookstoreKit

@MainActor
@Suite("Screens")
struct ScreenTests {
  private func cents(_ screen: any Screen, _ id: Book.ID) -> Int? {
    screen.shown.books.first { $0.id == id }?.cents
  }

  @Test("One event changes all four screens")
  func oneEvent() async throws {
    let open = try OpenShop()
    let id = open.fixture.display.book.id
    #expect(try await open.receive(.price(book: id, cents: 4242), at: 1))
    for screen in open.dashboard.screens { #expect(cents(screen, id) == 4242, "\(screen.name)") }
    #expect(open.disagreements.isEmpty)
  }

  @Test("An author's changed name is read in all of her books on all screens")
  func name() async throws {
    let open = try OpenShop()
    let author = open.fixture.display.book.author
    try await open.receive(.name(author: author.id, name: "Somebody Else"), at: 1)
    for screen in open.dashboard.screens {
      let books = screen.shown.books.filter { $0.author.id == author.id }
      #expect(!books.isEmpty)
      #expect(books.allSatisfy { $0.author.name == "Somebody Else" }, "\(screen.name)")
    }
    #expect(open.disagreements.isEmpty)
  }

  @Test("A stale event changes nothing")
  func stale() async throws {
    let open = try OpenShop()
    let id = open.fixture.display.book.id
    try await open.receive(.price(book: id, cents: 10), at: 5)
    #expect(try await !open.receive(.price(book: id, cents: 20), at: 5))
    #expect(try await !open.receive(.stock(book: id, count: 99), at: 4))
    for screen in open.dashboard.screens { #expect(cents(screen, id) == 10, "\(screen.name)") }
    #expect(open.disagreements.isEmpty)
    #expect(open.ledger.stale == 2)
  }

  @Test("A removed book leaves all screens")
  func removed() async throws {
    let open = try OpenShop()
    let id = open.fixture.display.book.id
    try await open.receive(.review(book: id, Review(id: "r", stars: 5, by: "Ada", text: "Yes.")), at: 1)
    try await open.receive(.remove(book: id), at: 2)
    for screen in open.dashboard.screens { #expect(cents(screen, id) == nil, "\(screen.name)") }
    #expect(open.disagreements.isEmpty)
    #expect(open.shop.store.find(Review.self, id: "r") == nil, "its reviews live no longer than it")
  }

  @Test("An event about something that is not there is refused and leaves no trace")
  func unknown() async throws {
    let open = try OpenShop()
    let before = open.shop.store.find(named: .feed).value
    for change: Event.Change in [
      .price(book: "no-book", cents: 1), .name(author: "nobody", name: "N"), .remove(book: "no-book"),
    ] {
      await #expect(throws: EventProblem.self) { try await open.receive(change, at: 1) }
    }
    #expect(open.shop.store.find(named: .feed).value == before)
    #expect(open.disagreements.isEmpty)
  }

  @Test("A review with an id that is taken is refused")
  func twice() async throws {
    let open = try OpenShop()
    let review = Review(id: "r", stars: 1, by: "Ada", text: "No.")
    try await open.receive(.review(book: "emma", review), at: 1)
    await #expect(throws: EventProblem.reviewAlreadyThere("r")) {
      try await open.receive(.review(book: "dracula", review), at: 2)
    }
    #expect(open.disagreements.isEmpty)
  }

  @Test("A paused screen stays as it is, which the comparison finds, and catches up when it goes on")
  func paused() async throws {
    let open = try OpenShop()
    let id = open.fixture.display.book.id
    for screen in open.dashboard.screens {
      let before = cents(screen, id)
      screen.pause()
      try await open.receive(.price(book: id, cents: (before ?? 0) + 1), at: Double(before ?? 0) + 1)
      #expect(cents(screen, id) == before, "\(screen.name)")
      #expect(!open.disagreements.isEmpty, "\(screen.name)")
      screen.resume()
      try await open.settle()
      #expect(open.disagreements.isEmpty, "\(screen.name)")
    }
  }

  @Test("What is alive is what somebody can reach: a removed book's reviews go with it")
  func census() async throws {
    let open = try OpenShop()
    let start = open.shop.entitiesAlive
    #expect(start == open.ledger.entities + 3, "the user, the aggregate of the author and the feed come on top")
    for number in 1...5 {
      let review = Review(id: "r\(number)", stars: number, by: "Ada", text: "So.")
      try await open.receive(.review(book: "emma", review), at: Double(number))
    }
    #expect(open.shop.entitiesAlive == start + 5)
    try await open.receive(.remove(book: "emma"), at: 6)
    #expect(open.shop.entitiesAlive == start - 1)
  }

  @Test("Another book may be chosen; an author's books live only while a screen shows them")
  func selection() async throws {
    let open = try OpenShop()
    let first = open.fixture.display.book.author.id
    #expect(open.shop.store.find(AuthorBooks.self, id: first) != nil)
    open.dashboard.select(steps: -open.fixture.catalogue.books.count)
    let book = try #require(open.fixture.catalogue.books.first)
    #expect(open.dashboard.book.shown.subject == .book(book.id))
    #expect(open.dashboard.author.shown.subject == .author(book.author.id))
    #expect(open.shop.store.find(AuthorBooks.self, id: first) == nil)
    try await open.receive(.stock(book: book.id, count: 77), at: 1)
    #expect(open.disagreements.isEmpty)
  }

  @Test("A paused screen follows the selection when it goes on")
  func pausedSelection() async throws {
    let open = try OpenShop()
    open.dashboard.moveFocus(by: 1)
    open.dashboard.togglePause()
    open.dashboard.select(steps: 1)
    #expect(open.dashboard.book.shown.subject == .book(open.fixture.display.book.id))
    open.dashboard.togglePause()
    #expect(open.dashboard.book.shown.subject == .book(open.dashboard.list.selection))
    #expect(open.disagreements.isEmpty)
  }
}
