import Concord

/// An aggregate of many books.
struct Shelf: Aggregate, Equatable {
  let id: Int
  var name: String
  var books: [Book]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.books)] }

  static func sample(books: Int) -> Shelf {
    Shelf(id: 1, name: "Everything that was ever read", books: Book.samples(books))
  }
}
