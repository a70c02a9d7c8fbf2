import Concord

// The models that the documentation of the interface talks about, in its own words.

struct Author: Identifiable, Equatable {
  let id: String
  var name: String
}

struct Book: Identifiable, Equatable {
  let id: String
  var title: String
}

struct Game: Identifiable, Equatable {
  let id: Int
  var name: String
}

struct TvShow: Identifiable, Equatable {
  let id: Int
  var name: String
}

struct User: Identifiable, Equatable {
  let id: String
  var name: String
}

struct AuthorBooks: Aggregate {
  var id: Author.ID { author.id }
  var author: Author
  var books: [Book]
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.books)] }
}

enum MediaType: EntityWrapper {
  case book(Book), game(Game), tvShow(TvShow)

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [
      .init(parent.appending(path: \.book)),
      .init(parent.appending(path: \.game)),
      .init(parent.appending(path: \.tvShow)),
    ]
  }

  var book: Book? {
    get { if case .book(let book) = self { book } else { nil } }
    set { if let newValue { self = .book(newValue) } }
  }

  var game: Game? {
    get { if case .game(let game) = self { game } else { nil } }
    set { if let newValue { self = .game(newValue) } }
  }

  var tvShow: TvShow? {
    get { if case .tvShow(let tvShow) = self { tvShow } else { nil } }
    set { if let newValue { self = .tvShow(newValue) } }
  }
}

struct AuthorMedia: Aggregate {
  var id: Author.ID { author.id }
  var author: Author
  var media: MediaType
  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(wrapper: \.media)] }
}

extension AliasKey where T == User { static let currentUser = AliasKey("user") }
extension AliasKey where T == AuthorBooks { static let featured = AliasKey("featured") }
extension AliasKey where T == [Book] { static let favourites = AliasKey("favourites") }
