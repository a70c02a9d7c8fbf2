/// Remembers for a moment which books have just changed on a screen.
struct Highlights {
  private var changes: [Book.ID: ContinuousClock.Instant] = [:]
  private let lasting: Duration = .milliseconds(700)

  /// Compares the books that were shown with those that are shown now. Both are in the same order; books may be missing
  /// from either.
  mutating func note(_ old: [Book], _ new: [Book], at now: ContinuousClock.Instant = .now) {
    var old = old[...]
    for book in new {
      if old.first?.id != book.id, let place = old.firstIndex(where: { $0.id == book.id }) { old = old[place...] }
      guard let before = old.first, before.id == book.id else { continue }
      old.removeFirst()
      if before != book { changes[book.id] = now }
    }
    if changes.count > 200 { changes = changes.filter { now - $0.value < lasting } }
  }

  func style(of id: Book.ID, at now: ContinuousClock.Instant, otherwise style: Style = .plain) -> Style {
    guard let change = changes[id], now - change < lasting else { return style }
    return .fresh
  }
}
