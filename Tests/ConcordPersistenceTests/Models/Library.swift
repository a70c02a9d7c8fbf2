import ConcordPersistence
import Foundation

struct Author: PersistentEntity, Equatable {
  let id: String
  var name: String

  static let persistentProperties: [PersistentProperty<Author>] = [.init("id", \.id), .init("name", \.name)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), name: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
  }

  init(id: String, name: String) {
    self.id = id
    self.name = name
  }
}

struct Review: PersistentEntity, Hashable {
  let id: Int
  var text: String
  var stars: Int?

  static let persistentProperties: [PersistentProperty<Review>] = [
    .init("id", \.id), .init("text", \.text), .init("stars", \.stars),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), text: try row.read(), stars: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
    try row.write(stars)
  }

  init(id: Int, text: String, stars: Int? = nil) {
    self.id = id
    self.text = text
    self.stars = stars
  }
}

/// With a place of each shape.
struct Book: PersistentEntity, Aggregate, Equatable {
  let id: String
  var title: String
  var isbn: String?
  var author: Author
  var editor: Author?
  var reviews: [Review] = []
  var excerpts: [Review]?
  var tags: Set<Review> = []
  var byLanguage: [String: Review] = [:]
  var byNumber: [Int: Author]?
  var medium: Medium = .none
  var cover: Medium?
  var extras: [Medium] = []

  static let persistentProperties: [PersistentProperty<Book>] = [
    .init("id", \.id), .init("title", \.title), .init("isbn", \.isbn, .unique), .init("author", \.author),
    .init("editor", \.editor), .init("reviews", \.reviews), .init("excerpts", \.excerpts), .init("tags", \.tags),
    .init("byLanguage", \.byLanguage), .init("byNumber", \.byNumber), .init("medium", \.medium),
    .init("cover", \.cover), .init("extras", \.extras),
  ]

  init(from row: inout RowReader) throws {
    self.init(
      id: try row.read(), title: try row.read(), isbn: try row.read(), author: try row.read(), editor: try row.read(),
      reviews: try row.read(), excerpts: try row.read(), tags: try row.read(), byLanguage: try row.read(),
      byNumber: try row.read(), medium: try row.read(), cover: try row.read(), extras: try row.read())
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(isbn)
    try row.write(author)
    try row.write(editor)
    try row.write(reviews)
    try row.write(excerpts)
    try row.write(tags)
    try row.write(byLanguage)
    try row.write(byNumber)
    try row.write(medium)
    try row.write(cover)
    try row.write(extras)
  }

  init(
    id: String, title: String, isbn: String? = nil, author: Author, editor: Author? = nil, reviews: [Review] = [],
    excerpts: [Review]? = nil, tags: Set<Review> = [], byLanguage: [String: Review] = [:],
    byNumber: [Int: Author]? = nil, medium: Medium = .none, cover: Medium? = nil, extras: [Medium] = []
  ) {
    self.id = id
    self.title = title
    self.isbn = isbn
    self.author = author
    self.editor = editor
    self.reviews = reviews
    self.excerpts = excerpts
    self.tags = tags
    self.byLanguage = byLanguage
    self.byNumber = byNumber
    self.medium = medium
    self.cover = cover
    self.extras = extras
  }
}

/// A wrapper: with an entity, with a plain value, with nothing. `required` cannot lose its entity.
enum Medium: PersistentWrapper, Equatable {
  case author(Author?)
  case required(Review)
  case note(String)
  case none

  var author: Author? {
    get { if case .author(let value) = self { value } else { nil } }
    set { if case .author = self { self = .author(newValue) } }
  }
  var required: Review? {
    get { if case .required(let value) = self { value } else { nil } }
    set { if case .required = self, let newValue { self = .required(newValue) } }
  }
  var note: String? { if case .note(let value) = self { value } else { nil } }

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Medium>
  ) -> [PartialIdentifiableKeyPath<Root>] {
    [.init(parent.appending(path: \.author)), .init(parent.appending(path: \.required))]
  }

  var persistentCase: String {
    switch self {
    case .author: "author"
    case .required: "required"
    case .note: "note"
    case .none: "none"
    }
  }
  static let persistentProperties: [PersistentProperty<Medium>] = [
    .init("author", \.author), .init("required", \.required), .init("note", \.note),
  ]
  init(case name: String, from row: inout RowReader) throws {
    let author: Author? = try row.read()
    let required: Review? = try row.read()
    let note: String? = try row.read()
    switch (name, required, note) {
    case ("author", _, _): self = .author(author)
    case ("required", let required?, _): self = .required(required)
    case ("note", _, let note?): self = .note(note)
    case ("none", _, _): self = .none
    default: throw StoreError.unknownCase(name, of: Medium.self)
    }
  }
  func write(to row: inout RowWriter) throws {
    try row.write(author)
    try row.write(required)
    try row.write(note)
  }
}

/// Refers to itself.
struct Person: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var name: String
  var friends: [Person] = []
  var team: Team?

  static let persistentProperties: [PersistentProperty<Person>] = [
    .init("id", \.id), .init("name", \.name), .init("friends", \.friends), .init("team", \.team),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), name: try row.read(), friends: try row.read(), team: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(friends)
    try row.write(team)
  }

  init(id: Int, name: String, friends: [Person] = [], team: Team? = nil) {
    self.id = id
    self.name = name
    self.friends = friends
    self.team = team
  }
}

struct Team: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var name: String
  var members: [Int: Person] = [:]

  static let persistentProperties: [PersistentProperty<Team>] = [
    .init("id", \.id), .init("name", \.name), .init("members", \.members),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), name: try row.read(), members: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(members)
  }

  init(id: Int, name: String, members: [Int: Person] = [:]) {
    self.id = id
    self.name = name
    self.members = members
  }
}
