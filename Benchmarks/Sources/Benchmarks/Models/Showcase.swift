import Concord

/// An aggregate that shows wrapped entities.
struct Showcase<Item: ShowcaseItem>: Aggregate, Equatable {
  let id: Int
  var title: String
  var items: [Item]

  init(id: Int) {
    self.id = id
    title = "Showcase number \(id)"
    items = (0..<5).flatMap { [Item(Book(id: id * 5 + $0)), Item(User(id: $0))] }
  }

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { Self.fixedRelations ?? [] }

  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(wrapper: \.items)] }
}

/// What the kinds of wrappers share.
protocol ShowcaseItem: EntityWrapper, Equatable {
  init(_ book: Book)
  init(_ user: User)
  var book: Book? { get }
}

/// A wrapper whose relations are asked of every value.
enum Exhibit: ShowcaseItem {
  case bookCase(Book), userCase(User)

  init(_ book: Book) { self = .bookCase(book) }
  init(_ user: User) { self = .userCase(user) }

  var book: Book? {
    get { if case .bookCase(let book) = self { book } else { nil } }
    set { if let newValue { self = .bookCase(newValue) } }
  }

  var user: User? {
    get { if case .userCase(let user) = self { user } else { nil } }
    set { if let newValue { self = .userCase(newValue) } }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.book)), .init(parent.appending(path: \.user))]
  }
}

/// The same with relations that are given once for the type, as `@EntityWrapper` writes them.
struct FixedExhibit: ShowcaseItem {
  var exhibit: Exhibit

  init(_ book: Book) { exhibit = Exhibit(book) }
  init(_ user: User) { exhibit = Exhibit(user) }

  var book: Book? {
    get { exhibit.book }
    set { exhibit.book = newValue }
  }

  var user: User? {
    get { exhibit.user }
    set { exhibit.user = newValue }
  }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Self>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.book)), .init(parent.appending(path: \.user))]
  }

  static var fixedRelations: [PartialIdentifiableKeyPath<Self>]? { [.init(\.book), .init(\.user)] }
}
