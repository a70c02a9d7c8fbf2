import Foundation

extension Catalogue {
  /// Reads a catalogue: on each line a JSON object, which is an author with a list of books.
  init(lines data: Data) throws(LineProblem) {
    var authors: [Author] = []
    var books: [Book] = []
    var authorLines: [String: Int] = [:]
    var bookLines: [String: Int] = [:]
    for (index, text) in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      if text.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      let number = index + 1
      let entry = try Self.entry(Data(text), number)
      if let line = authorLines.updateValue(number, forKey: entry.author.id) {
        throw LineProblem(line: number, reason: "author \"\(entry.author.id)\" is already on line \(line)")
      }
      authors.append(entry.author)
      var titles: Set<String> = []
      for book in entry.books.map({ $0.book(by: entry.author) }) {
        var book = book
        book.number = books.count
        if let line = bookLines.updateValue(number, forKey: book.id) {
          throw LineProblem(line: number, reason: "book \"\(book.id)\" is already on line \(line)")
        }
        guard titles.insert(book.title).inserted else {
          throw LineProblem(line: number, reason: "\(entry.author.name) has \"\(book.title)\" twice")
        }
        books.append(book)
      }
    }
    guard !books.isEmpty else { throw LineProblem(line: 1, reason: "the catalogue has no books") }
    self.init(authors: authors, books: books)
  }

  private static func entry(_ text: Data, _ line: Int) throws(LineProblem) -> AuthorEntry {
    do {
      return try JSONDecoder().decode(AuthorEntry.self, from: text)
    } catch {
      throw LineProblem(line: line, reason: error.decodingReason)
    }
  }
}

/// A line of the catalogue.
private struct AuthorEntry: Decodable {
  let author: Author
  let books: [BookEntry]

  enum CodingKeys: CodingKey { case id, name, books }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    author = Author(id: try fields.text(.id), name: try fields.text(.name))
    books = try fields.decode([BookEntry].self, forKey: .books)
  }
}

/// What the catalogue knows of a book.
private struct BookEntry: Decodable {
  let id: String
  let title: String
  let year: Int
  let language: String
  let subjects: [String]

  enum CodingKeys: CodingKey { case id, title, year, language, subjects }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.text(.id)
    title = try fields.text(.title)
    year = try fields.integer(.year, in: 1...2100)
    language = try fields.text(.language)
    subjects = try fields.decode([String].self, forKey: .subjects)
  }

  func book(by author: Author) -> Book {
    let start = StartingValues(bookID: id)
    return Book(
      id: id, number: 0, title: title, year: year, language: language, subjects: subjects, cents: start.cents,
      stock: start.stock, author: author, reviews: [])
  }
}
