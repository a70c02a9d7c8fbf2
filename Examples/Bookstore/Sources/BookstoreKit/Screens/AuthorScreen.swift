import Concord

/// An author with all of her books: observes an aggregate that lives as long as this screen shows it.
@MainActor
final class AuthorScreen: Screen {
  let name = "Author"
  private var highlights = Highlights()
  private var watch: Watch<AuthorBooks>?
  private let shop: Shop
  private let onChange: @MainActor () -> Void

  init(shop: Shop, author: Author, onChange: @escaping @MainActor () -> Void) {
    self.shop = shop
    self.onChange = onChange
    show(author)
  }

  /// Leaves the author shown so far, and shows another.
  func show(_ author: Author) {
    if author.id == watch?.value.author.id { return }
    watch = Watch(shop.books(by: author)) { [weak self] old, new in
      self?.highlights.note(old.books, new.books)
      self?.onChange()
    }
  }

  var isPaused: Bool { watch?.isPaused ?? false }
  func pause() { watch?.pause() }
  func resume() { watch?.resume() }

  var shown: Shown {
    guard let value = watch?.value else { return Shown(subject: .author(""), screen: name, books: []) }
    return Shown(subject: .author(value.author.id), screen: name, books: value.books, authors: [value.author])
  }

  func lines(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    guard let value = watch?.value else { return [] }
    let columns = BookColumns(width: width, showsAuthor: false)
    let rows = value.books.map { columns.row($0, highlights.style(of: $0.id, at: now)) }
    return [Line(value.author.name, .strong), Line("\(value.books.count) books", .dim), Line()] + rows
  }
}
