/// What the screens begin with.
public struct Display: Sendable {
  public let book: Book
  public let shelf: [Book]
  /// What a screen that is not on the store holds itself: the shelf, and the other books by the author.
  let own: [Book]

  /// The book with the id `bookID`, or the one that the user looked at, and her shelf. A new user gets one with the book,
  /// another by its author, and some from all over the catalogue. `nil` when the catalogue has no such book.
  public init?(_ catalogue: Catalogue, bookID: Book.ID? = nil, user: User? = nil) {
    let wanted = bookID ?? user?.selected?.id ?? "pride-and-prejudice"
    guard let book = catalogue.books.first(where: { $0.id == wanted }) ?? (bookID == nil ? catalogue.books.first : nil)
    else { return nil }
    self.book = book
    let sibling = catalogue.books.first { $0.author.id == book.author.id && $0.id != book.id }
    let step = max(1, catalogue.books.count / 6)
    let others = stride(from: step / 2, to: catalogue.books.count, by: step).map { catalogue.books[$0] }
    var seen: Set<Book.ID> = []
    let shelf = (user?.shelf ?? [book] + (sibling.map { [$0] } ?? []) + others).filter { seen.insert($0.id).inserted }
    self.shelf = shelf
    own = shelf + catalogue.books.filter { $0.author.id == book.author.id && seen.insert($0.id).inserted }
  }
}
