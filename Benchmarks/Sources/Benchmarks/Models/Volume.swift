import ConcordPersistence
import Foundation

/// What the rows for files keep: two strings, three numbers, a date, and an index.
struct Volume: PersistentEntity, Equatable {
  let id: Int
  var title: String
  var author: String
  var year: Int
  var price: Double
  var published: Date

  static let persistentProperties: [PersistentProperty<Volume>] = [
    .init("id", \.id), .init("title", \.title), .init("author", \.author), .init("year", \.year, .indexed),
    .init("price", \.price), .init("published", \.published),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    title = try row.read()
    author = try row.read()
    year = try row.read()
    price = try row.read()
    published = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(author)
    try row.write(year)
    try row.write(price)
    try row.write(published)
  }

  init(id: Int, title: String, author: String, year: Int, price: Double, published: Date) {
    self.id = id
    self.title = title
    self.author = author
    self.year = year
    self.price = price
    self.published = published
  }

  init(id: Int, turn: Int = 0) {
    self.init(
      id: id, title: "A volume with the number \(id), seen \(turn) times", author: "Author \(id % 1000)",
      year: id &* 7919 % 1_000_003, price: Double(id) / 4,
      published: Date(timeIntervalSinceReferenceDate: Double(id) * 3600))
  }
}

/// An aggregate of volumes.
struct Collection: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var name: String
  var volumes: [Volume]

  var nestedEntitiesKeyPaths: [PartialIdentifiableKeyPath<Self>] { [.init(\.volumes)] }
  static let persistentProperties: [PersistentProperty<Collection>] = [
    .init("id", \.id), .init("name", \.name), .init("volumes", \.volumes),
  ]

  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), name: try row.read(), volumes: try row.read())
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(volumes)
  }

  init(id: Int, name: String, volumes: [Volume]) {
    self.id = id
    self.name = name
    self.volumes = volumes
  }
}
