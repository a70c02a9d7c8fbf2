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
      ("", 1, "a JSON value expected, but the text ends"),
      ("[]", 1, "the catalogue must be an object, found a list"),
      ("{\"authors\": []}", 1, "the catalogue has no books"),
      ("{\n\"authors\": [\n{\"id\": \"a\"}]}", 3, "an author has no \"name\""),
      (
        "{\n\"authors\": [\n{\"id\": \"a\",\n\"name\": 7}]}", 4,
        "\"name\" of an author must be a string, found a number"
      ),
      (author("\n{\"id\": \"b\"}"), 2, "book \"b\" has no \"subjects\""),
      (author(book("b", year: "1.5")), 1, "\"year\" of book \"b\" must be a whole number, found a number"),
      (author(book("b", year: "9999")), 1, "\"year\" of book \"b\" must be between 1 and 2100, found 9999"),
      (author(book("b") + ",\n\n" + book("b")), 3, "book \"b\" is already on line 1"),
      (author(book("b") + ",\n" + book("c", title: "B")), 2, "A has \"B\" twice"),
      (author(book("b") + ",\n"), 2, "a JSON value expected, found ']'"),
    ])
  func malformed(text: String, line: Int, reason: String) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let error = try #require(throws: CatalogueError.self) { try Catalogue.open(file.path) }
    #expect(error == .malformed(file: file.path, line: line, reason: reason))
  }

  @Test("A catalogue that is not there is no malformed one")
  func unreadable() throws {
    let error = try #require(throws: CatalogueError.self) { try Catalogue.open("/nowhere/catalogue.json") }
    guard case .unreadable = error else {
      Issue.record("\(error)")
      return
    }
  }
}

private func author(_ books: String) -> String {
  "{\"authors\": [{\"id\": \"a\", \"name\": \"A\", \"books\": [\(books)]}]}"
}

private func book(_ id: String, title: String = "B", year: String = "1900") -> String {
  "{\"id\": \"\(id)\", \"title\": \"\(title)\", \"year\": \(year), \"language\": \"en\", \"subjects\": [\"x\"]}"
}
