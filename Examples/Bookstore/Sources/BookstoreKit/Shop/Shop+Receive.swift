import Concord

extension Shop {
  /// Takes an event in: its change and the feed's position, whole or not at all.
  ///
  /// Returns `false` when the store knows something newer; throws an ``EventProblem`` when the event speaks of something
  /// that is not there.
  func receive(_ event: Event, stamp: Stamp, arrival: ContinuousClock.Instant) throws -> Bool {
    try store.transaction { store in
      let wasTaken = try apply(event.change, stamp: stamp)
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
      guard store.find(Author.self, id: author) != nil else { throw EventProblem.unknownAuthor(author) }
      return store.update(Author.self, id: author, modifiedAt: stamp) { $0.name = name }
    case .remove(let book):
      guard store.remove(Book.self, id: book) else { throw EventProblem.unknownBook(book) }
      return true
    }
  }

  private func edit(_ book: Book.ID, _ stamp: Stamp, _ change: (inout Book) -> Void) throws -> Bool {
    guard store.find(Book.self, id: book) != nil else { throw EventProblem.unknownBook(book) }
    return store.update(Book.self, id: book, modifiedAt: stamp, update: change)
  }
}
