import Foundation

/// One JSON object: the change's type, its fields, and the time if there is one.
extension Event: Codable {
  private enum Kind: String, Codable, CaseIterable { case price, stock, review, title, name, remove }

  private enum CodingKeys: CodingKey { case type, at, book, author, cents, count, id, stars, by, text, title, name }

  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let change: Change
    switch try Self.kind(fields) {
    case .price: change = .price(book: try fields.text(.book), cents: try fields.integer(.cents, in: 0...100_000_000))
    case .stock: change = .stock(book: try fields.text(.book), count: try fields.integer(.count, in: 0...100_000_000))
    case .review:
      let review = Review(
        id: try fields.text(.id), stars: try fields.integer(.stars, in: 1...5), by: try fields.text(.by),
        text: try fields.text(.text))
      change = .review(book: try fields.text(.book), review)
    case .title: change = .title(book: try fields.text(.book), title: try fields.text(.title))
    case .name: change = .name(author: try fields.text(.author), name: try fields.text(.name))
    case .remove: change = .remove(book: try fields.text(.book))
    }
    self.init(change, at: try fields.decodeIfPresent(Double.self, forKey: .at))
  }

  private static func kind(_ fields: KeyedDecodingContainer<CodingKeys>) throws -> Kind {
    let type = try fields.text(.type)
    if let kind = Kind(rawValue: type) { return kind }
    let known = Kind.allCases.map(\.rawValue).joined(separator: ", ")
    throw DecodingError.dataCorruptedError(
      forKey: .type, in: fields, debugDescription: "unknown type \"\(type)\", known are \(known)")
  }

  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    switch change {
    case .price(let book, let cents):
      try fields.encode(Kind.price, forKey: .type)
      try fields.encode(book, forKey: .book)
      try fields.encode(cents, forKey: .cents)
    case .stock(let book, let count):
      try fields.encode(Kind.stock, forKey: .type)
      try fields.encode(book, forKey: .book)
      try fields.encode(count, forKey: .count)
    case .review(let book, let review):
      try fields.encode(Kind.review, forKey: .type)
      try fields.encode(book, forKey: .book)
      try fields.encode(review.id, forKey: .id)
      try fields.encode(review.stars, forKey: .stars)
      try fields.encode(review.by, forKey: .by)
      try fields.encode(review.text, forKey: .text)
    case .title(let book, let title):
      try fields.encode(Kind.title, forKey: .type)
      try fields.encode(book, forKey: .book)
      try fields.encode(title, forKey: .title)
    case .name(let author, let name):
      try fields.encode(Kind.name, forKey: .type)
      try fields.encode(author, forKey: .author)
      try fields.encode(name, forKey: .name)
    case .remove(let book):
      try fields.encode(Kind.remove, forKey: .type)
      try fields.encode(book, forKey: .book)
    }
    try fields.encodeIfPresent(at, forKey: .at)
  }

  /// Reads one line of the feed.
  init(json bytes: some Sequence<UInt8>) throws(EventProblem) {
    do {
      self = try JSONDecoder().decode(Event.self, from: Data(bytes))
    } catch {
      throw .malformed(error.decodingReason)
    }
  }

  /// The event as one line of the feed.
  public func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}
