import Foundation
import Testing

@testable import BookstoreKit

@Suite("Catalogue")
struct CatalogueTests {
  @Test("The catalogue holds hundreds of books, several of many authors")
  func size() throws {
    let catalogue = try Catalogue.open(nil)
    #expect(catalogue.books.count >= 300)
    #expect(catalogue.authors.count >= 80)
    let counts = Dictionary(grouping: catalogue.books, by: \.author.id).mapValues(\.count)
    #expect(counts.count == catalogue.authors.count, "every author has a book")
    #expect(counts.values.filter { $0 > 1 }.count >= 80)
  }

  @Test("Every book has a plausible year, a language and subjects, and is in the public domain by its age")
  func facts() throws {
    for book in try Catalogue.open(nil).books {
      #expect((1500...1927).contains(book.year), "\(book.title)")
      #expect(book.language.count == 2 && book.language.allSatisfy { $0.isLowercase && $0.isASCII }, "\(book.title)")
      #expect(!book.subjects.isEmpty && !book.subjects.contains(""), "\(book.title)")
      #expect(book.cents > 0 && book.stock > 0, "\(book.title)")
    }
  }

  @Test("Ids are unique and made of plain letters")
  func ids() throws {
    let catalogue = try Catalogue.open(nil)
    let ids = catalogue.books.map(\.id)
    #expect(Set(ids).count == ids.count)
    for id in ids + catalogue.authors.map(\.id) {
      #expect(id.wholeMatch(of: /[a-z0-9]+(-[a-z0-9]+)*/) != nil, "\(id)")
    }
  }

  @Test(
    "A malformed catalogue says which line is wrong, and why",
    arguments: [
      ("", 1, "the catalogue has no books"),
      ("[]", 1, "the line must be an object"),
      ("\n{\"id\": \"a\"}", 2, "\"name\" is missing"),
      ("\n\n{\"id\": \"a\", \"name\": 7}", 3, "\"name\" must be a string"),
      (author("{\"id\": \"b\"}"), 1, "\"books[0].title\" is missing"),
      (author(book("b") + "," + book("c", year: "\"1\"")), 1, "\"books[1].year\" must be a whole number"),
      (author(book("b", year: "9999")), 1, "\"books[0].year\": must be between 1 and 2100, found 9999"),
      (author(book("b")) + "\n\n" + author(book("c")), 3, "author \"a\" is already on line 1"),
      (author(book("b")) + "\n" + author(book("b"), id: "c"), 2, "book \"b\" is already on line 1"),
      (author(book("b") + "," + book("c", title: "B")), 1, "A has \"B\" twice"),
    ])
  func malformed(text: String, line: Int, reason: String) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).ndjson")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let error = try #require(throws: CatalogueError.self) { try Catalogue.open(file.path) }
    #expect(error == .malformed(file: file.path, line: line, reason: reason))
  }

  @Test("A line that is no JSON is told with its number")
  func noJSON() throws {
    let text = author(book("b")) + "\n{\"id\": \n"
    #expect(throws: LineProblem.self) { try Catalogue(lines: Data(text.utf8)) }
    do {
      _ = try Catalogue(lines: Data(text.utf8))
    } catch {
      #expect(error.line == 2)
    }
  }

  @Test("A catalogue that is not there is no malformed one")
  func unreadable() throws {
    let error = try #require(throws: CatalogueError.self) { try Catalogue.open("/nowhere/catalogue.ndjson") }
    guard case .unreadable = error else {
      Issue.record("\(error)")
      return
    }
  }
}

private func author(_ books: String, id: String = "a") -> String {
  "{\"id\": \"\(id)\", \"name\": \"A\", \"books\": [\(books)]}"
}

private func book(_ id: String, title: String = "B", year: String = "1900") -> String {
  "{\"id\": \"\(id)\", \"title\": \"\(title)\", \"year\": \(year), \"language\": \"en\", \"subjects\": [\"x\"]}"
}
