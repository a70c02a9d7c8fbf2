import BookstoreKit
import BookstoreShared
import ConcordSync

/// The four screens. Each observes the store for itself, and knows nothing of the others.
@MainActor
final class FourScreens {
  private let storefront: Storefront
  private let didChange: @MainActor () -> Void
  private var list: Watch<[Book]>?
  private var book: Watch<Book?>?
  private var author: Watch<AuthorBooks>?
  private var cart: Watch<Cart?>?
  private(set) var selection: Book.ID?
  /// Whether a person has chosen the book.
  private var isChosen = false

  init(_ storefront: Storefront, didChange: @escaping @MainActor () -> Void) {
    self.storefront = storefront
    self.didChange = didChange
    list = Watch(storefront.books) { [weak self] _, new in
      self?.selectFirst(of: new)
      didChange()
    }
    cart = Watch(storefront.cart) { _, _ in didChange() }
    selectFirst(of: books)
  }

  var books: [Book] { list?.value ?? [] }
  var bookContents: BookContents? { (book?.value ?? nil).map(BookContents.init) }
  var authorContents: AuthorContents? { author.map { AuthorContents($0.value) } }
  var cartContents: CartContents? { cart.map { CartContents($0.value) } }

  /// When the shop has opened, there may be no books yet, or not all of them.
  private func selectFirst(of books: [Book]) {
    if isChosen { return }
    let first = books.first { $0.id == "pride-and-prejudice" } ?? books.first
    if let first, first.id != selection { show(first) }
  }

  /// Shows a book, and its author.
  func select(_ id: Book.ID) {
    guard let found = books.first(where: { $0.id == id }) else { return }
    isChosen = true
    show(found)
  }

  private func show(_ found: Book) {
    selection = found.id
    let didChange = didChange
    book = Watch(storefront.store.observer(Book.self, id: found.id)) { _, _ in didChange() }
    author = Watch(storefront.books(by: found.author)) { _, _ in didChange() }
    didChange()
  }

  /// What the screens say, compared with each other.
  func compared() -> Agreement {
    var agreement = Agreement()
    for book in books { agreement.add(Fact.facts(BookRow(book)), on: "List") }
    if let bookContents { agreement.add(Fact.facts(bookContents.row), on: "Book") }
    if let authorContents {
      agreement.add(
        [Fact(subject: "author \(authorContents.id)", property: "name"): authorContents.name], on: "Author")
      for row in authorContents.books { agreement.add(Fact.facts(row), on: "Author") }
    }
    for line in cartContents?.lines ?? [] { agreement.add(Fact.facts(line.book), on: "Cart") }
    return agreement
  }
}

extension Storefront {
  /// The author with all of her books. Nobody but the caller keeps this aggregate alive.
  func books(by author: Author) -> EntityObserver<AuthorBooks> {
    store.transaction { store in
      if let present = store.find(AuthorBooks.self, id: author.id) { return present }
      let books = books.value.filter { $0.author.id == author.id }
      // With a stamp older than all others: what is stored of the books stays as it is, whatever is shown of them.
      return store.store(AuthorBooks(author: author, books: books), modifiedAt: 0)
    }
  }
}
