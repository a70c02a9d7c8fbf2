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

struct Review: PersistentEntity, Equatable {
  let id: Int
  var text: String

  static let persistentProperties: [PersistentProperty<Review>] = [.init("id", \.id), .init("text", \.text)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), text: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
  }

  init(id: Int, text: String) {
    self.id = id
    self.text = text
  }
}

struct Book: PersistentEntity, Aggregate, Equatable {
  let id: String
  var title: String
  var year: Int
  var isbn: String?
  var author: Author
  var reviews: [Review] = []
  var byLanguage: [String: Author]?

  static let persistentProperties: [PersistentProperty<Book>] = [
    .init("id", \.id), .init("title", \.title), .init("year", \.year, .indexed), .init("isbn", \.isbn, .unique),
    .init("author", \.author), .init("reviews", \.reviews), .init("byLanguage", \.byLanguage),
  ]
  init(from row: inout RowReader) throws {
    self.init(
      id: try row.read(), title: try row.read(), year: try row.read(), isbn: try row.read(), author: try row.read(),
      reviews: try row.read(), byLanguage: try row.read())
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(year)
    try row.write(isbn)
    try row.write(author)
    try row.write(reviews)
    try row.write(byLanguage)
  }

  init(
    id: String, title: String, year: Int, isbn: String? = nil, author: Author, reviews: [Review] = [],
    byLanguage: [String: Author]? = nil
  ) {
    self.id = id
    self.title = title
    self.year = year
    self.isbn = isbn
    self.author = author
    self.reviews = reviews
    self.byLanguage = byLanguage
  }
}

/// What is most likely to change on its way through text.
struct Bits: PersistentEntity {
  let id: Data
  var real: Double
  var large: UInt64
  var text: String
  var maybe: String?
  var twice: String??
  var bytes: Data
  var date: Date
  var decimal: Decimal

  static let persistentProperties: [PersistentProperty<Bits>] = [
    .init("id", \.id), .init("real", \.real), .init("large", \.large), .init("text", \.text), .init("maybe", \.maybe),
    .init("twice", \.twice), .init("bytes", \.bytes), .init("date", \.date), .init("decimal", \.decimal),
  ]
  init(from row: inout RowReader) throws {
    id = try row.read()
    real = try row.read()
    large = try row.read()
    text = try row.read()
    maybe = try row.read()
    twice = try row.read()
    bytes = try row.read()
    date = try row.read()
    decimal = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(real)
    try row.write(large)
    try row.write(text)
    try row.write(maybe)
    try row.write(twice)
    try row.write(bytes)
    try row.write(date)
    try row.write(decimal)
  }

  init(_ number: Int) {
    func pick<T>(_ values: [T]) -> T { values[number % values.count] }
    id = Data([0, 255, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
    real = pick([
      .nan, -.nan, .signalingNaN, -0.0, 0, 1, 1e300, 9_007_199_254_740_994, .infinity, -.infinity, 0.1 + 0.2,
      .leastNonzeroMagnitude, .greatestFiniteMagnitude, -5,
    ])
    large = pick([.max, 1 << 63, 1 << 63 - 1, 0, 1 << 53 + 1])
    text = pick([
      "", "a\0b", "e\u{301}", "\u{e9}", "\u{212A}", "👨‍👩‍👧‍👦", "\r\n\t", "\"\\/", "\u{FFFD}", "\u{FEFF}",
      "\u{1F}\u{7F}\u{80}\u{9F}\u{A0}\u{BF}\u{C0}",
      "\u{2028}",
      "\u{10FFFF}", "null", "1.0", "{\"$real\":\"1\"}",
    ])
    maybe = pick([nil, "", "x"])
    twice = pick([.none, .some(.none), .some(""), .some("nil")])
    bytes = pick([Data(), Data([0]), Data((0...255).map { UInt8($0) }), Data("text".utf8)])
    date = Date(timeIntervalSinceReferenceDate: pick([-0.0, .nan, 712_345_678.901_234_5, .infinity, 1]))
    decimal = pick([Decimal(string: "0.1") ?? 0, .greatestFiniteMagnitude, .nan, -1_000_000])
  }
}

func shopModel() throws -> Model {
  try Model("Shop", entities: [Author.self, Review.self, Book.self, Bits.self])
}
