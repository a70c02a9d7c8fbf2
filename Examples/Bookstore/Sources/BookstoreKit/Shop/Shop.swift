import Concord
import ConcordConsistency

/// The shop: one store that all screens observe and that the feed writes to.
final class Shop: Sendable {
  let store: EntityStore
  let census: Census
  /// Where screens register that hold objects themselves.
  let consistency = ConsistencyManager()

  /// Opens with the books of `catalogue`. All of it is stamped 0, so that any event is newer.
  init(catalogue: Catalogue, display: Display) {
    let census = Census()
    let store = EntityStore(logger: census)
    store.transaction { store in
      store.store(catalogue.authors, named: .authors, modifiedAt: 0)
      store.store(catalogue.books, named: .catalogue, modifiedAt: 0)
      store.store(User(id: "reader", name: "Ada", shelf: display.shelf), named: .currentUser, modifiedAt: 0)
      store.store(FeedPosition(id: FeedPosition.only, events: 0, arrival: .now), named: .feed, modifiedAt: 0)
    }
    self.store = store
    self.census = census
  }

  /// From now on, the store and those who hold objects themselves follow each other.
  func admitOwners() { consistency.register(store) }

  /// The author with all of her books. Nobody but the caller keeps this aggregate alive.
  func books(by author: Author) -> EntityObserver<AuthorBooks> {
    store.transaction { store in
      if let present = store.find(AuthorBooks.self, id: author.id) { return present }
      let books = store.find(named: .catalogue).value ?? []
      return store.store(
        AuthorBooks(author: author, books: books.filter { $0.author.id == author.id }), modifiedAt: 0)
    }
  }
}
