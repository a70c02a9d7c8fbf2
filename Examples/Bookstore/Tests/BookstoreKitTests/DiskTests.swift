import Concord
import ConcordPersistence
import Foundation
import Testing

@testable import BookstoreKit

@MainActor
@Suite("On disk")
struct DiskTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookstore-\(UUID())")

  /// Works on a shop that is opened anew.
  private func opened<R>(_ body: (OpenShop) async throws -> R) async throws -> R {
    let open = try OpenShop(at: .folder(folder))
    let result = try await body(open)
    try open.shop.close()
    return result
  }

  @Test("A shop that is opened again shows what it showed: prices, reviews, names, the shelf, the selected book")
  func again() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let before = try await opened { open in
      try await open.receive(.price(book: "emma", cents: 4242), at: 1)
      try await open.receive(.review(book: "emma", Review(id: "r", stars: 5, by: "Ada", text: "Yes.\0")), at: 2)
      try await open.receive(.name(author: "jane-austen", name: "J. Austen"), at: 3)
      try await open.receive(.remove(book: open.shop.display.shelf[1].id), at: 4)
      open.dashboard.select(steps: 3)
      try await open.settle()
      return Report.screens(open.dashboard)
    }
    try await opened { open in
      #expect(Report.screens(open.dashboard) == before)
      #expect(open.disagreements.isEmpty)
      #expect(open.shop.store.find(Book.self, id: "emma")?.value.reviews.map(\.text) == ["Yes.\0"])
      #expect(open.shop.entitiesAlive == open.ledger.entities + 3)
    }
  }

  @Test("What was stale is stale, and a new event is taken")
  func stale() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await opened { open in
      try await open.receive(.price(book: "emma", cents: 4242), at: 7)
      try await open.receive(.name(author: "jane-austen", name: "J. Austen"), at: 8)
    }
    try await opened { open in
      let old = try await [
        open.receive(.price(book: "emma", cents: 1), at: 7),
        open.receive(.name(author: "jane-austen", name: "X"), at: 8),
      ]
      let new = try await open.receive(.price(book: "emma", cents: 4243), at: 9)
      #expect(old == [false, false] && new)
      #expect(open.disagreements.isEmpty)
    }
  }

  @Test("The reviews of a removed book leave the file, too")
  func removed() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await opened { open in
      try await open.receive(.review(book: "emma", Review(id: "r", stars: 5, by: "Ada", text: "Yes.")), at: 1)
      try await open.receive(.remove(book: "emma"), at: 2)
      #expect(try open.shop.view.count(FetchDescriptor<Review>()) == 0)
      // And so the name is free again.
      try await open.receive(.review(book: "persuasion", Review(id: "r", stars: 1, by: "Ada", text: "No.")), at: 3)
      #expect(open.disagreements.isEmpty)
    }
  }

  @Test("What the screen sells that is not on the store is kept")
  func sold() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let open = try OpenShop(hasLegacy: true, at: .folder(folder))
    let book = open.shop.display.book
    open.dashboard.legacy?.sell()
    open.dashboard.legacy?.sell()
    try await open.settle()
    try open.shop.close()
    try await opened { again in
      #expect(again.shop.store.find(Book.self, id: book.id)?.value.stock == book.stock - 2)
    }
  }

  @Test("An event that cannot be saved is shown nowhere, and said to be so")
  func notSaved() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let open = try OpenShop(at: .folder(folder))
    let book = open.shop.display.book
    try open.shop.close()
    await #expect(throws: EventProblem.self) { try await open.receive(.price(book: book.id, cents: 4242), at: 1) }
    #expect(open.shop.store.find(Book.self, id: book.id)?.value.cents != 4242)
  }

  @Test("Everything is in tables that anybody can read")
  func tables() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await opened { _ in }
    let file = folder.appendingPathComponent("bookstore.sqlite")
    let contents = try Data(contentsOf: file)
    for statement in ["CREATE TABLE \"Book\"", "CREATE TABLE \"Book_reviews\"", "\"cents\" INTEGER NOT NULL"] {
      #expect(contents.range(of: Data(statement.utf8)) != nil, "\(statement)")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names == ["bookstore.sqlite"], "closing leaves no journal behind")
  }
}
