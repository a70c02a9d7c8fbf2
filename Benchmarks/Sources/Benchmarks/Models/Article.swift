import Concord

/// What the two kinds of articles share: a field and two relations.
protocol SmallAggregate: Aggregate, Equatable where ID == Int {
  var title: String { get set }
  var author: User { get set }
  var about: Book { get set }

  init(id: Int)
}

extension SmallAggregate {
  func with(title: String) -> Self {
    var copy = self
    copy.title = title
    return copy
  }
}

/// An article whose relations are asked of every value.
struct Article: SmallAggregate {
  let id: Int
  var title: String
  var author: User
  var about: Book

  init(id: Int) {
    self.id = id
    title = "What I think of book number \(id)"
    author = User(id: id % 100)
    about = Book(id: id)
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.author), .init(\.about)] }
}

/// The same with relations that are given once for the type.
struct FixedArticle: SmallAggregate {
  let id: Int
  var title: String
  var author: User
  var about: Book

  init(id: Int) {
    self.id = id
    title = "What I think of book number \(id)"
    author = User(id: id % 100)
    about = Book(id: id)
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.fixedRelations ?? [] }

  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.author), .init(\.about)] }
}
