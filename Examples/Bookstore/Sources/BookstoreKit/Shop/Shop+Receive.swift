import Concord
import ConcordPersistence
import Foundation

extension Shop {
  /// Takes an event in: its change and the feed's position, whole or not at all. When it returns, the change is in the file, and
  /// survives the end of the process.
  ///
  /// Returns `false` when the shop knows something newer; throws an ``EventProblem`` when the event speaks of something
  /// that is not there, or cannot be saved.
  func receive(_ event: Event, stamp: Stamp, arrival: ContinuousClock.Instant) throws -> Bool {
    try view.performAndWait { view in
      let wasTaken: Bool
      do {
        wasTaken = try apply(event.change, stamp: stamp)
        try view.save()
      } catch {
        // No screen shows what is not saved.
        view.rollback()
        throw error is EventProblem ? error : EventProblem.notSaved("\(error)")
      }
      store.update(named: .feed) { position in
        position.events += 1
        position.arrival = arrival
      }
      return wasTaken
    }
  }

  private func apply(_ change: Event.Change, stamp: Stamp) throws -> Bool {
    switch change {
    case .price(let book, let cents):
      return try edit(book, stamp) { $0.cents = cents }
    case .stock(let book, let count):
      return try edit(book, stamp) { $0.stock = count }
    case .title(let book, let title):
      return try edit(book, stamp) { $0.title = title }
    case .review(let book, let review):
      guard store.find(Review.self, id: review.id) == nil else { throw EventProblem.reviewAlreadyThere(review.id) }
      return try edit(book, stamp) { $0.reviews.append(review) }
    case .name(let author, let name):
      guard let present = try view.stamp(of: Author.self, id: author) else { throw EventProblem.unknownAuthor(author) }
      guard present < stamp else { return false }
      try view.update(Author.self, id: author, modifiedAt: stamp) { $0.name = name }
      return true
    case .remove(let book):
      guard try view.stamp(of: Book.self, id: book) != nil else { throw EventProblem.unknownBook(book) }
      let reviews = store.find(Book.self, id: book)?.value.reviews ?? []
      guard try view.delete(Book.self, id: book, modifiedAt: stamp) else { return false }
      // Nobody could read them any longer.
      for review in reviews { try view.delete(Review.self, id: review.id, modifiedAt: stamp) }
      return true
    }
  }

  private func edit(_ book: Book.ID, _ stamp: Stamp, _ change: (inout Book) -> Void) throws -> Bool {
    guard let present = try view.stamp(of: Book.self, id: book) else { throw EventProblem.unknownBook(book) }
    guard present < stamp else { return false }
    try view.update(Book.self, id: book, modifiedAt: stamp, change)
    return true
  }
}

// MARK: What the user does

extension Shop {
  /// Remembers which book the user looks at. It is shown without being remembered where that cannot be saved, which the next
  /// event says.
  func select(_ book: Book) {
    try? save { view in try view.update(User.self, id: User.only) { $0.selected = book } }
  }

  /// Saves that a copy was sold by a screen that is not on the store.
  func saveSale(of book: Book) throws {
    try save { view in
      // It is newer than what came before, also where that has a version for a time.
      let present = try view.stamp(of: Book.self, id: book.id) ?? 0
      let now = max(Date().stamp, present.nextUp)
      try view.update(Book.self, id: book.id, modifiedAt: now) { $0.stock = book.stock }
    }
  }

  private func save(_ change: (ViewContext) throws -> Void) throws {
    try view.performAndWait { view in
      do {
        try change(view)
        try view.save()
      } catch {
        view.rollback()
        throw error
      }
    }
  }
}
