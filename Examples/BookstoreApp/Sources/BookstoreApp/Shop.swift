import ConcordMacros

/// The app's store, and what fills it. No screen knows of another, and none is told of anything by hand.
struct Shop: Sendable {
  let store = EntityStore()
  private let server = Server()

  init() {
    store.store(User(id: "reader", name: "Ada", shelf: []), named: .currentUser)
  }

  /// Called by whoever needs the catalogue. What has been shown already follows.
  func refresh() async throws {
    store.store(try await server.catalogue(), named: .catalogue)
  }

  /// Takes in what the server tells, until the task is cancelled.
  func followSales() async throws {
    while true {
      let sold = try await server.nextSale()
      // Only what was sold: the title may have been edited here.
      store.update(Book.self, id: sold.id) { $0.stock = sold.stock }
    }
  }

  func putOnShelf(_ book: Book) {
    store.update(named: .currentUser) { user in
      if !user.shelf.contains(where: { $0.id == book.id }) { user.shelf.append(book) }
    }
  }
}
