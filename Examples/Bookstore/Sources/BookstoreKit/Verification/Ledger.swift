import Concord

/// The shop without a store: plain dictionaries, each event applied in the obvious way, everything put together anew
/// when it is asked for. What the screens show is compared with it.
struct Ledger: Sendable {
  /// How fresh entities are.
  struct Stamps: Sendable {
    var books: [Book.ID: Stamp] = [:]
    var authors: [Author.ID: Stamp] = [:]
  }

  private struct Entry: Sendable {
    var book: Book
    var stamp: Stamp = 0
  }

  private(set) var taken = 0
  private(set) var stale = 0
  private(set) var refused = 0

  private let order: [Book.ID]
  private let shelfOrder: [Book.ID]
  private var entries: [Book.ID: Entry] = [:]
  private var authors: [Author.ID: (author: Author, stamp: Stamp)] = [:]
  private var reviewIDs: Set<Review.ID> = []

  /// - Parameter stamps: how fresh what is there is; 0 unless told otherwise.
  init(catalogue: Catalogue, display: Display, stamps: Stamps = Stamps()) {
    order = catalogue.books.map(\.id)
    shelfOrder = display.shelf.map(\.id)
    for book in catalogue.books { entries[book.id] = Entry(book: book, stamp: stamps.books[book.id] ?? 0) }
    for author in catalogue.authors { authors[author.id] = (author, stamps.authors[author.id] ?? 0) }
    reviewIDs = Set(catalogue.books.flatMap(\.reviews).map(\.id))
  }

  /// How many authors, books and reviews there are.
  var entities: Int { authors.count + entries.count + reviewIDs.count }

  func author(_ id: Author.ID) -> Author? { authors[id]?.author }

  func book(_ id: Book.ID) -> Book? {
    guard var book = entries[id]?.book else { return nil }
    if let author = authors[book.author.id]?.author { book.author = author }
    return book
  }

  var list: [Book] { order.compactMap(book) }
  var shelf: [Book] { shelfOrder.compactMap(book) }
  func books(by author: Author.ID) -> [Book] { list.filter { $0.author.id == author } }

  mutating func receive(_ event: Event, stamp: Stamp) {
    switch event.change {
    case .price(let book, let cents): edit(book, stamp) { $0.cents = cents }
    case .stock(let book, let count): edit(book, stamp) { $0.stock = count }
    case .title(let book, let title): edit(book, stamp) { $0.title = title }
    case .review(let book, let review):
      guard !reviewIDs.contains(review.id) else { return refused += 1 }
      if edit(book, stamp, { $0.reviews.append(review) }) { reviewIDs.insert(review.id) }
    case .name(let id, let name):
      guard let entry = authors[id] else { return refused += 1 }
      guard entry.stamp < stamp else { return stale += 1 }
      if entry.author.name != name { authors[id] = (Author(id: id, name: name), stamp) }
      taken += 1
    case .remove(let book):
      guard let entry = entries.removeValue(forKey: book) else { return refused += 1 }
      reviewIDs.subtract(entry.book.reviews.map(\.id))
      taken += 1
    }
  }

  @discardableResult
  private mutating func edit(_ id: Book.ID, _ stamp: Stamp, _ change: (inout Book) -> Void) -> Bool {
    guard var entry = entries[id] else {
      refused += 1
      return false
    }
    guard entry.stamp < stamp else {
      stale += 1
      return false
    }
    let before = entry.book
    change(&entry.book)
    // What changes nothing is not written, and so makes nothing fresher.
    if entry.book != before { entry.stamp = stamp }
    entries[id] = entry
    taken += 1
    return true
  }
}
