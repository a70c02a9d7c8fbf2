/// Compares what the screens show: with each other, and with the ledger.
struct Agreement: Sendable, Equatable {
  /// How many comparisons were made.
  private(set) var comparisons = 0
  private(set) var disagreements: [String] = []

  init() {}

  init(_ shown: [Shown], with ledger: Ledger) {
    for (index, one) in shown.enumerated() {
      // Also with itself: an author must have one name in all the books of a screen.
      for other in shown[...index] { compare(one, other) }
      compare(one, ledger)
    }
  }

  private mutating func compare(_ one: Shown, _ other: Shown) {
    let books = Dictionary(other.books.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for book in one.books {
      guard let same = books[book.id] else { continue }
      expect(book == same, "\(one.screen) and \(other.screen) show different values of book \"\(book.id)\"")
    }
    let authors = Dictionary(other.allAuthors.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for author in one.allAuthors {
      guard let same = authors[author.id] else { continue }
      expect(author == same, "\(one.screen) and \(other.screen) show different names of author \"\(author.id)\"")
    }
  }

  private mutating func compare(_ one: Shown, _ ledger: Ledger) {
    let expected =
      switch one.subject {
      case .list: ledger.list
      case .shelf: ledger.shelf
      case .book(let id): ledger.book(id).map { [$0] } ?? []
      case .author(let id): ledger.books(by: id)
      case .own: one.books.compactMap { ledger.book($0.id) }
      }
    expect(
      one.books.map(\.id) == expected.map(\.id),
      "\(one.screen) shows \(one.books.count) books where there should be \(expected.count), or in another order")
    for (book, right) in zip(one.books, expected) where book.id == right.id {
      expect(book == right, "\(one.screen) shows a wrong value of book \"\(book.id)\"")
    }
    for author in one.authors {
      expect(author == ledger.author(author.id), "\(one.screen) shows a wrong name of author \"\(author.id)\"")
    }
  }

  mutating func expect(_ holds: Bool, _ disagreement: @autoclosure () -> String) {
    comparisons += 1
    if !holds { disagreements.append(disagreement()) }
  }

  static func += (sum: inout Agreement, other: Agreement) {
    sum.comparisons += other.comparisons
    sum.disagreements += other.disagreements
  }
}

extension Shown {
  fileprivate var allAuthors: [Author] { authors + books.map(\.author) }
}
