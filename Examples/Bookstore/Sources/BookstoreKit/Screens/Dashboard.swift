/// The screens together: which of them has the focus, and which book they show.
@MainActor
final class Dashboard {
  let list: ListScreen
  let book: BookScreen
  let author: AuthorScreen
  let shelf: ShelfScreen
  let legacy: LegacyScreen?
  private(set) var focus = 0
  private let shop: Shop
  private var selected: Book
  var isZoomed = false

  init(shop: Shop, display: Display, hasLegacy: Bool, onChange: @escaping @MainActor () -> Void) {
    self.shop = shop
    selected = display.book
    list = ListScreen(shop: shop, selection: display.book.id, onChange: onChange)
    book = BookScreen(shop: shop, book: display.book, onChange: onChange)
    author = AuthorScreen(shop: shop, author: display.book.author, onChange: onChange)
    shelf = ShelfScreen(shop: shop, onChange: onChange)
    if hasLegacy { shop.admitOwners() }
    legacy = hasLegacy ? LegacyScreen(shop: shop, books: display.own, onChange: onChange) : nil
  }

  var screens: [any Screen] { [list, book, author, shelf] + (legacy.map { [$0] } ?? []) }
  var shown: [Shown] { screens.map(\.shown) }

  func moveFocus(by steps: Int) { focus = (focus + steps + screens.count) % screens.count }

  func togglePause() {
    let screen = screens[focus]
    if screen.isPaused { screen.resume() } else { screen.pause() }
    followSelection()
  }

  /// Selects another book in the list. The screens of the book and of its author follow, unless they are paused.
  func select(steps: Int) {
    guard let book = list.select(steps: steps) else { return }
    selected = book
    shop.select(book)
    followSelection()
  }

  private func followSelection() {
    if !book.isPaused { book.show(selected) }
    if !author.isPaused { author.show(selected.author) }
  }
}
