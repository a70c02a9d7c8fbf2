import ConcordConsistency

/// A screen from before there was a store: it holds its books itself. A `ConsistencyManager`, with which the store is
/// registered too, lets them and the store follow each other.
@MainActor
final class LegacyScreen: Screen {
  let name = "Legacy"
  private(set) var books: [Book]
  private(set) var isPaused = false
  private var highlights = Highlights()
  private let shop: Shop
  private var manager: ConsistencyManager { shop.consistency }
  private let onChange: @MainActor () -> Void

  init(shop: Shop, books: [Book], onChange: @escaping @MainActor () -> Void) {
    self.shop = shop
    self.books = books
    self.onChange = onChange
    manager.register(self)
  }

  func pause() {
    isPaused = true
    manager.pause(self)
  }

  /// What it missed, it is told at once.
  func resume() {
    isPaused = false
    manager.resume(self)
  }

  /// Sells a copy of the first book of which there is one: changes the screen's own book, tells the others, and has it saved.
  func sell() {
    guard !isPaused, let index = books.firstIndex(where: { $0.stock > 0 }) else { return }
    var sold = books
    sold[index].stock -= 1
    show(sold)
    manager.pushUpdatedObject(sold[index])
    // Where that fails, the store shows what is saved again, and so does this screen.
    try? shop.saveSale(of: sold[index])
  }

  private func show(_ new: [Book]) {
    let old = books
    books = new
    highlights.note(old, new)
    onChange()
  }

  var shown: Shown { Shown(subject: .own, screen: name, books: books) }

  func lines(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    let columns = BookColumns(width: width)
    return books.map { columns.row($0, highlights.style(of: $0.id, at: now)) }
  }
}

extension LegacyScreen: @MainActor ConsistentEnvironment {
  var objects: [any ConsistentObject] { books }

  func update(with object: any ConsistentObject) { show(books.updated(with: object)) }
}
