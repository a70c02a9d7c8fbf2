import ConcordConnect
import Foundation

struct Book: PersistentEntity, Codable, Equatable {
  let id: Int
  var title: String
  var price: Double = 0
  var shelf: Int = 0
  var isEdited = false

  static let persistentProperties: [PersistentProperty<Book>] = [
    .init("id", \.id), .init("title", \.title, .searchable), .init("price", \.price), .init("shelf", \.shelf),
    .init("isEdited", \.isEdited),
  ]
  init(from row: inout RowReader) throws {
    self.init(
      id: try row.read(), title: try row.read(), price: try row.read(), shelf: try row.read(),
      isEdited: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(price)
    try row.write(shelf)
    try row.write(isEdited)
  }
  init(id: Int, title: String, price: Double = 0, shelf: Int = 0, isEdited: Bool = false) {
    (self.id, self.title, self.price, self.shelf, self.isEdited) = (id, title, price, shelf, isEdited)
  }
}

/// Found by where it stands, whatever its id.
struct Volume: ManagedEntity, Equatable {
  let id: String
  var catalogue: String
  var number: Int?
  var title: String

  static let uniquenessAttributes = ["catalogue", "number"]

  static let persistentProperties: [PersistentProperty<Volume>] = [
    .init("id", \.id), .init("catalogue", \.catalogue), .init("number", \.number), .init("title", \.title),
  ]
  init(from row: inout RowReader) throws {
    self.init(try row.read(), try row.read(), try row.read(), try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(catalogue)
    try row.write(number)
    try row.write(title)
  }
  init(_ id: String, _ catalogue: String, _ number: Int?, _ title: String) {
    (self.id, self.catalogue, self.number, self.title) = (id, catalogue, number, title)
  }
}

/// With an id of two parts.
struct Copy: PersistentEntity, Equatable {
  struct ID: Codable, Hashable, Sendable {
    var book: Int
    var number: Int
  }
  let id: ID
  var place: String

  static let persistentProperties: [PersistentProperty<Copy>] = [.init("id", \.id), .init("place", \.place)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), place: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(place)
  }
  init(id: ID, place: String) { (self.id, self.place) = (id, place) }
}

struct Author: PersistentEntity, Codable, Equatable {
  let id: Int
  var name: String

  static let persistentProperties: [PersistentProperty<Author>] = [.init("id", \.id), .init("name", \.name)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), name: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
  }
  init(id: Int, name: String) { (self.id, self.name) = (id, name) }
}

/// Contains others, and may contain itself.
struct Novel: PersistentEntity, Aggregate, Codable, Equatable {
  let id: Int
  var title: String
  var author: Author
  var sequels: [Novel] = []

  static let persistentProperties: [PersistentProperty<Novel>] = [
    .init("id", \.id), .init("title", \.title), .init("author", \.author), .init("sequels", \.sequels),
  ]
  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), title: try row.read(), author: try row.read(), sequels: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(author)
    try row.write(sequels)
  }
  init(id: Int, title: String, author: Author, sequels: [Novel] = []) {
    (self.id, self.title, self.author, self.sequels) = (id, title, author, sequels)
  }
}

/// Belongs to no model.
struct Stranger: PersistentEntity, Equatable {
  let id: Int
  static let persistentProperties: [PersistentProperty<Stranger>] = [.init("id", \.id)]
  init(from row: inout RowReader) throws { id = try row.read() }
  func write(to row: inout RowWriter) throws { try row.write(id) }
  init(id: Int) { self.id = id }
}

/// Belongs to the model, but names an attribute that it does not have.
struct Misnamed: ManagedEntity, Equatable {
  let id: Int
  static let uniquenessAttributes = ["isbn"]
  static let persistentProperties: [PersistentProperty<Misnamed>] = [.init("id", \.id)]
  init(from row: inout RowReader) throws { id = try row.read() }
  func write(to row: inout RowWriter) throws { try row.write(id) }
  init(id: Int) { self.id = id }
}

func libraryModel() throws -> Model {
  try Model(
    "Library",
    entities: [Book.self, Volume.self, Copy.self, Author.self, Novel.self, Misnamed.self])
}
