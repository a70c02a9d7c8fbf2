extension Catalogue {
  /// Reads the text of a catalogue: a list of authors, each with a list of books.
  init(json bytes: some Sequence<UInt8>) throws(JSONProblem) {
    let root = try JSONParser.parse(bytes)
    var authors: [Author] = []
    var books: [Book] = []
    var authorLines: [String: Int] = [:]
    var bookLines: [String: Int] = [:]
    for entry in try root.list("authors", of: "the catalogue") {
      let author = Author(id: try entry.text("id", of: "an author"), name: try entry.text("name", of: "an author"))
      if let line = authorLines.updateValue(entry.line, forKey: author.id) {
        throw entry.problem("author \"\(author.id)\" is already on line \(line)")
      }
      authors.append(author)
      var titles: Set<String> = []
      for bookEntry in try entry.list("books", of: "author \"\(author.id)\"") {
        let book = try Book(json: bookEntry, author: author)
        if let line = bookLines.updateValue(bookEntry.line, forKey: book.id) {
          throw bookEntry.problem("book \"\(book.id)\" is already on line \(line)")
        }
        guard titles.insert(book.title).inserted else {
          throw bookEntry.problem("\(author.name) has \"\(book.title)\" twice")
        }
        books.append(book)
      }
    }
    guard !books.isEmpty else { throw root.problem("the catalogue has no books") }
    self.init(authors: authors, books: books)
  }
}

extension Book {
  fileprivate init(json entry: JSONValue, author: Author) throws(JSONProblem) {
    let id = try entry.text("id", of: "a book by \(author.name)")
    let what = "book \"\(id)\""
    var subjects: [String] = []
    for subject in try entry.list("subjects", of: what) {
      guard case .string(let text) = subject.content else {
        throw subject.problem("a subject of \(what) must be a string, found \(subject.kind)")
      }
      subjects.append(text)
    }
    let start = StartingValues(bookID: id)
    self.init(
      id: id,
      title: try entry.text("title", of: what),
      year: try entry.integer("year", of: what, in: 1...2100),
      language: try entry.text("language", of: what),
      subjects: subjects,
      cents: start.cents,
      stock: start.stock,
      author: author,
      reviews: [])
  }
}
