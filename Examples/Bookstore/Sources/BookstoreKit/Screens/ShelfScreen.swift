import Concord

/// The current user's shelf: observes the user by her id.
@MainActor
final class ShelfScreen: Screen {
  let name = "Shelf"
  private var highlights = Highlights()
  private var watch: Watch<User>?

  init(shop: Shop, onChange: @escaping @MainActor () -> Void) {
    watch = Watch(shop.user) { [weak self] old, new in
      self?.highlights.note(old.shelf, new.shelf)
      onChange()
    }
  }

  private var user: User? { watch?.value }
  var isPaused: Bool { watch?.isPaused ?? false }
  func pause() { watch?.pause() }
  func resume() { watch?.resume() }

  var shown: Shown { Shown(subject: .shelf, screen: name, books: user?.shelf ?? []) }

  func lines(width: Int, height: Int, now: ContinuousClock.Instant) -> [Line] {
    guard let user else { return [Line("Nobody is here.", .dim)] }
    let columns = BookColumns(width: width)
    let total = user.shelf.reduce(0) { $0 + $1.cents }
    let rows = user.shelf.map { columns.row($0, highlights.style(of: $0.id, at: now)) }
    let heading = "\(user.shelf.count) books, together \(total / 100).\(total % 100 < 10 ? "0" : "")\(total % 100)"
    return [Line("\(user.name)'s shelf", .strong), Line(heading, .dim), Line()] + rows
  }
}
