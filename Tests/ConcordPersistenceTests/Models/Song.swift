import ConcordPersistence
import Foundation

/// With properties of all types that are compared, references and a list, for predicates and orders made at random.
struct Song: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var title: String
  var subtitle: String?
  var text: String
  var number: Int
  var real: Double
  var singer: Singer?
  var author: Singer
  var verses: [Verse]
  var written = Date(timeIntervalSinceReferenceDate: 0)
  var published: Date?
  var isSad = false
  var isLive: Bool?
  var rank: Int?
  var loudness: Float = 0
  var tempo: Double?
  var code = UUID(uuidString: "00000000-0000-0000-0000-000000000000") ?? UUID()
  var owner: UUID?
  var price: Decimal = 0

  static let persistentProperties: [PersistentProperty<Song>] = [
    .init("id", \.id), .init("title", \.title, .indexed), .init("subtitle", \.subtitle, .indexed),
    .init("text", \.text), .init("number", \.number, .indexed), .init("real", \.real), .init("singer", \.singer),
    .init("author", \.author), .init("verses", \.verses), .init("written", \.written, .indexed),
    .init("published", \.published), .init("isSad", \.isSad), .init("isLive", \.isLive),
    .init("rank", \.rank, .indexed), .init("loudness", \.loudness), .init("tempo", \.tempo), .init("code", \.code),
    .init("owner", \.owner), .init("price", \.price),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    title = try row.read()
    subtitle = try row.read()
    text = try row.read()
    number = try row.read()
    real = try row.read()
    singer = try row.read()
    author = try row.read()
    verses = try row.read()
    written = try row.read()
    published = try row.read()
    isSad = try row.read()
    isLive = try row.read()
    rank = try row.read()
    loudness = try row.read()
    tempo = try row.read()
    code = try row.read()
    owner = try row.read()
    price = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(subtitle)
    try row.write(text)
    try row.write(number)
    try row.write(real)
    try row.write(singer)
    try row.write(author)
    try row.write(verses)
    try row.write(written)
    try row.write(published)
    try row.write(isSad)
    try row.write(isLive)
    try row.write(rank)
    try row.write(loudness)
    try row.write(tempo)
    try row.write(code)
    try row.write(owner)
    try row.write(price)
  }

  init(id: Int, title: String, text: String = "", number: Int = 0, author: Singer = Singer(id: "a", name: "")) {
    self.id = id
    self.title = title
    self.text = text
    self.number = number
    self.author = author
    real = 0
    verses = []
  }

  init(id: Int, singers: [Singer], verses: [Verse], _ random: inout SeededGenerator) {
    self.id = id
    title = hostileText(&random)
    subtitle = Bool.random(using: &random) ? hostileText(&random) : nil
    text = hostileText(&random)
    number = Int.random(in: -3...3, using: &random)
    real = random.pick([0, -0.0, .nan, 1, 1.5, -2, .infinity])
    singer = Bool.random(using: &random) ? random.pick(singers) : nil
    author = random.pick(singers)
    self.verses = (0..<Int.random(in: 0..<4, using: &random)).map { _ in random.pick(verses) }
    written = hostileDate(&random)
    published = Bool.random(using: &random) ? hostileDate(&random) : nil
    isSad = .random(using: &random)
    isLive = random.pick([true, false, nil])
    rank = random.pick([nil, -1, 0, 1, 2])
    loudness = random.pick([0, -0.0, .nan, 0.1, 1.5, -2, .infinity])
    tempo = random.pick([nil, 0, -0.0, .nan, 0.1, 1.5, -.infinity])
    code = smallID(&random)
    owner = Bool.random(using: &random) ? smallID(&random) : nil
    price = smallPrice(&random)
  }
}

/// A date of few, among which are the first that are compared in more than one way.
func hostileDate(_ random: inout SeededGenerator) -> Date {
  Date(timeIntervalSinceReferenceDate: random.pick([0, -0.0, 0.1, 1, -1, 800_000_000.123, .nan, .infinity]))
}

func smallID(_ random: inout SeededGenerator) -> UUID {
  let last = UInt8.random(in: 0..<3, using: &random)
  return UUID(uuid: (random.pick([0, 0xFF]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last))
}

/// A price, of which equal ones have several forms.
func smallPrice(_ random: inout SeededGenerator) -> Decimal {
  random.pick([
    0, 1, -2, Decimal(sign: .plus, exponent: -1, significand: 15), Decimal(sign: .plus, exponent: -2, significand: 150),
    Decimal(sign: .plus, exponent: 0, significand: 10), Decimal(sign: .plus, exponent: 1, significand: 1),
  ])
}

struct Singer: PersistentEntity, Equatable {
  let id: String
  var name: String
  var nickname: String?

  static let persistentProperties: [PersistentProperty<Singer>] = [
    .init("id", \.id), .init("name", \.name), .init("nickname", \.nickname),
  ]
  init(from row: inout RowReader) throws {
    id = try row.read()
    name = try row.read()
    nickname = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(name)
    try row.write(nickname)
  }
  init(id: String, name: String, nickname: String? = nil) {
    self.id = id
    self.name = name
    self.nickname = nickname
  }
}

struct Verse: PersistentEntity, Equatable {
  let id: Int
  var text: String
  var number: Int

  static let persistentProperties: [PersistentProperty<Verse>] = [
    .init("id", \.id), .init("text", \.text), .init("number", \.number),
  ]
  init(from row: inout RowReader) throws {
    id = try row.read()
    text = try row.read()
    number = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
    try row.write(number)
  }
  init(id: Int, text: String, number: Int) {
    self.id = id
    self.text = text
    self.number = number
  }
}

/// A short text of what is compared in more than one way: composed and decomposed, the Kelvin sign, emoji, U+0000, right-to-left.
func hostileText(_ random: inout SeededGenerator) -> String {
  let pieces = [
    "a", "b", "K", "k", "\u{212A}", "e", "\u{E9}", "e\u{301}", "\u{301}", "\u{323}", "\u{FE0F}", "\u{200D}",
    "\u{1F468}\u{200D}\u{1F469}", "\u{1F3FD}", "\u{1F1E9}\u{1F1EA}", "\u{1100}\u{1161}", "\u{AC00}", "\u{11A8}", "\0",
    "\u{5D0}\u{5B0}", "\u{627}", "\r", "\n", "\u{37E}", ";", "\u{2126}", "\u{3A9}", "\u{FB01}", "\u{10FFFF}",
    "z", "\u{301}\u{323}", "\u{4E2D}", "\u{FFFD}",
  ]
  return (0..<Int.random(in: 0..<4, using: &random)).map { _ in random.pick(pieces) }.joined()
}
