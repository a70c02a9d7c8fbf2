import Concord

/// All books, as a list with a selected row: observes a live query.
@MainActor
final class ListScreen: Screen {
  let name = "List"
  private(set) var selection: Book.ID
  private var highlights = Highlights()
  private var watch: Watch<[Book]>?
  private var lastIndex = 0

  init(shop: Shop, selection: Book.ID, onChange: @escaping @MainActor () -> Void) {
    self.selection = selection
    watch = Watch(shop.books) { [weak self] old, new in
      self?.highlights.note(old, new)
      onChange()
    }
  }

  var books: [Book] { watch?.value ?? [] }
  var isPaused: Bool { watch?.isPaused ?? false }
  func pause() { watch?.pause() }
  func resume() { watch?.resume() }

  var shown: Shown { Shown(subject: .list, screen: name, books: books) }

  /// Selects another book, `steps` rows further down, and returns it.
  func select(steps: Int) -> Book? {
    let books = books
    guard !books.isEmpty else { return nil }
    let index = min(max(0, selectedIndex(in: books) + steps), books.count - 1)
    selection = books[index].id
    return books[index]
  }

  /// Where the selection is; when the selected book was removed, where it was.
  private func selectedIndex(in books: [Book]) -> Int {
    lastIndex = books.firstIndex { $0.id == selection } ?? min(lastIndex, max(0, books.count - 1))
    return lastIndex
  }

  func lines(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    let books = books
    let index = selectedIndex(in: books)
    let first = max(0, min(index - height / 2, books.count - height))
    let columns = BookColumns(width: width - 2)
    return books[first..<min(books.count, first + height)].map { book in
      let isSelected = book.id == selection
      let style = highlights.style(of: book.id, at: now, otherwise: isSelected ? .selected : .plain)
      return Line(isSelected ? "▸ " : "  ", style) + columns.row(book, style)
    }
  }
}
