import ConcordPersistence
import Foundation

/// With texts of all kinds, references and a list, for predicates made at random.
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

  static let persistentProperties: [PersistentProperty<Song>] = [
    .init("id", \.id), .init("title", \.title, .indexed), .init("subtitle", \.subtitle, .indexed),
    .init("text", \.text), .init("number", \.number, .indexed), .init("real", \.real), .init("singer", \.singer),
    .init("author", \.author), .init("verses", \.verses),
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
  }
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
