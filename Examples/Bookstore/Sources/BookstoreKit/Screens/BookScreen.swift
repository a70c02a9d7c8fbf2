import Concord

/// One book with its reviews: observes the book by its id, so that it also learns when the book is removed.
@MainActor
final class BookScreen: Screen {
  let name = "Book"
  private var id: Book.ID
  private var lastTitle: String
  private var highlights = Highlights()
  private var watch: Watch<Book?>?
  private let shop: Shop
  private let onChange: @MainActor () -> Void

  init(shop: Shop, book: Book, onChange: @escaping @MainActor () -> Void) {
    self.shop = shop
    self.onChange = onChange
    id = book.id
    lastTitle = book.title
    show(book)
  }

  /// Leaves the book shown so far, and shows another.
  func show(_ book: Book) {
    if watch != nil, book.id == id { return }
    id = book.id
    lastTitle = book.title
    watch = Watch(shop.store.observer(Book.self, id: book.id)) { [weak self] old, new in
      guard let self else { return }
      if let old, let new { self.highlights.note([old], [new]) }
      if let new { self.lastTitle = new.title }
      self.onChange()
    }
  }

  var book: Book? { watch?.value ?? nil }
  var isPaused: Bool { watch?.isPaused ?? false }
  func pause() { watch?.pause() }
  func resume() { watch?.resume() }

  var shown: Shown { Shown(subject: .book(id), screen: name, books: book.map { [$0] } ?? []) }

  func lines(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    guard let book else {
      return [Line(lastTitle, .strong), Line(), Line("This book is not sold any more.", .warning)]
    }
    let style = highlights.style(of: book.id, at: now)
    var lines = [
      Line(book.title, style == .fresh ? .fresh : .strong),
      Line("by \(book.author.name)", style),
      Line("\(book.year) · \(book.language) · \(book.subjects.joined(separator: ", "))", .dim),
      Line(),
      Line("price  \(BookColumns.price(book))", style),
      Line("stock  \(book.stock == 0 ? "out of stock" : "\(book.stock) copies")", style),
      Line("stars  \(BookColumns.stars(book))", style),
      Line(),
    ]
    for review in book.reviews.reversed().prefix(max(0, height - lines.count)) {
      lines.append(
        Line(String(repeating: "★", count: review.stars).padded(to: 6), style)
          + Line("\(review.text) (\(review.by))".clipped(to: max(0, width - 6)), .dim))
    }
    return lines
  }
}
