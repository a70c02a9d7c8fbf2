import Concord
import ConcordConsistency
import ConcordPersistence
import Foundation

/// The shop: the catalogue, the prices, the reviews and the shelf, in a file. The screens observe the store of the container's
/// view, and the feed writes to that view, which saves each event.
public final class Shop: Sendable {
  typealias Container = GenericPersistentContainer<ContextStrategy.Direct>

  /// What there was to sell when the shop opened.
  public let catalogue: Catalogue
  /// What the screens begin with.
  public let display: Display
  let container: Container
  /// All books, in the order of the catalogue: a live query.
  let books: EntityObserver<[Book]>
  let user: EntityObserver<User>
  /// Where screens register that hold objects themselves.
  let consistency = ConsistencyManager()
  /// Keeps the authors without books alive.
  private let authors: EntityObserver<[Author]>

  var view: ViewContext { container.viewContext }
  /// What the screens observe.
  var store: EntityStore { view.store }

  /// Opens the shop that is at `place`, or a new one with the books of `newCatalogue`. All of these are stamped 0, so that any
  /// event is newer.
  ///
  /// - Throws: ``ShopError``; `StoreError` if the file cannot be opened.
  public init(at place: Place, newCatalogue: Catalogue, bookID: Book.ID? = nil) throws {
    let container = try Self.container(at: place)
    let context = container.newBackgroundContext()
    if let user = try context.find(User.self, id: User.only) {
      catalogue = Catalogue(
        authors: try context.fetch(FetchDescriptor<Author>()),
        books: try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)])))
      display = try Self.display(catalogue, bookID, user)
    } else {
      catalogue = newCatalogue
      display = try Self.display(catalogue, bookID, nil)
      for author in catalogue.authors { context.insert(author, modifiedAt: 0) }
      for book in catalogue.books { context.insert(book, modifiedAt: 0) }
      context.insert(User(id: User.only, name: "Ada", shelf: display.shelf), modifiedAt: 0)
      // All or nothing: a shop that was interrupted here is new once more.
      try context.save()
    }
    let view = container.viewContext
    books = try view.query(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.number)]))
    authors = try view.query(FetchDescriptor<Author>())
    // It was there a moment ago, or was just made.
    guard let user = try view.find(User.self, id: User.only) else { throw ShopError.soldOut }
    self.user = user
    view.store.store(FeedPosition(id: FeedPosition.only, events: 0, arrival: .now), named: .feed)
    self.container = container
    select(display.book)
  }

  private static func container(at place: Place) throws -> Container {
    let model = try Model("Bookstore", entities: [Author.self, Book.self, Review.self, User.self])
    let container = Container(name: "bookstore", model: model)
    switch place {
    case .memory: try container.attachPersistentStore(for: StoreConfiguration(type: NSInMemoryStoreType))
    case .folder(let folder): try container.attachPersistentStore(at: folder)
    }
    return container
  }

  private static func display(_ catalogue: Catalogue, _ bookID: Book.ID?, _ user: User?) throws -> Display {
    if let display = Display(catalogue, bookID: bookID, user: user) { return display }
    throw bookID.map(ShopError.unknownBook) ?? ShopError.soldOut
  }

  /// Closes the file.
  func close() throws { try container.detach(persistentStores: container.persistentStores) }

  /// How many entities are in memory.
  var entitiesAlive: Int {
    store.count(Author.self) + store.count(Book.self) + store.count(Review.self) + store.count(User.self)
      + store.count(AuthorBooks.self) + store.count(FeedPosition.self)
  }

  /// The shop without a store, to compare with.
  func ledger() throws -> Ledger {
    var stamps = Ledger.Stamps()
    for book in catalogue.books { stamps.books[book.id] = try view.stamp(of: Book.self, id: book.id) }
    for author in catalogue.authors { stamps.authors[author.id] = try view.stamp(of: Author.self, id: author.id) }
    return Ledger(catalogue: catalogue, display: display, stamps: stamps)
  }

  /// From now on, the store and those who hold objects themselves follow each other.
  func admitOwners() { consistency.register(store) }

  /// The author with all of her books. Nobody but the caller keeps this aggregate alive.
  func books(by author: Author) -> EntityObserver<AuthorBooks> {
    store.transaction { store in
      if let present = store.find(AuthorBooks.self, id: author.id) { return present }
      return store.store(
        AuthorBooks(author: author, books: books.value.filter { $0.author.id == author.id }))
    }
  }
}

/// Why a shop cannot open.
public enum ShopError: Error, Equatable {
  case unknownBook(Book.ID)
  /// All of its books were removed.
  case soldOut
}
