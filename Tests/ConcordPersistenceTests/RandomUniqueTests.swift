import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// A unique property of each kind of value that may be stored in several forms, and of one that may not.
private struct Mark: PersistentEntity, Equatable {
  enum Kind: String, Codable, CaseIterable { case composed = "\u{e9}t\u{e9}", plain = "ete" }
  struct Label: Codable, Equatable { var name: String }

  let id: Int
  var text: String?
  var letter: Character?
  var number: Double?
  var small: Float?
  var date: Date?
  var twice: Double??
  var kind: Kind?
  var label: Label?
  var nick: Nick?
  var count: Int?
  var other = 0

  static let persistentProperties: [PersistentProperty<Mark>] = [
    .init("id", \.id), .init("text", \.text, .unique), .init("letter", \.letter, .unique),
    .init("number", \.number, .unique), .init("small", \.small, .unique), .init("date", \.date, .unique),
    .init("twice", \.twice, .unique), .init("kind", \.kind, .unique), .init("label", \.label, .unique),
    .init("nick", \.nick, .unique), .init("count", \.count, .unique), .init("other", \.other),
  ]

  init(_ id: Int) { self.id = id }

  init(from row: inout RowReader) throws {
    id = try row.read()
    text = try row.read()
    letter = try row.read()
    number = try row.read()
    small = try row.read()
    date = try row.read()
    twice = try row.read()
    kind = try row.read()
    label = try row.read()
    nick = try row.read()
    count = try row.read()
    other = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
    try row.write(letter)
    try row.write(number)
    try row.write(small)
    try row.write(date)
    try row.write(twice)
    try row.write(kind)
    try row.write(label)
    try row.write(nick)
    try row.write(count)
    try row.write(other)
  }

  /// Whether no two of them may be stored together, as Swift compares them.
  func excludes(_ other: Mark) -> Bool {
    func isSame<T: Equatable>(_ value: KeyPath<Mark, T?>) -> Bool {
      self[keyPath: value] != nil && self[keyPath: value] == other[keyPath: value]
    }
    return isSame(\.text) || isSame(\.letter) || isSame(\.number) || isSame(\.small) || isSame(\.date)
      || isSame(\.twice) || isSame(\.kind) || isSame(\.label) || isSame(\.nick) || isSame(\.count)
  }

  /// What is stored, to the bit: neither NaN nor texts in several forms compare so.
  var stored: [StoredValue] { get throws { try RowWriter.values(of: self) } }

  mutating func change(_ random: inout SeededGenerator) {
    let texts = [
      "\u{e9}", "e\u{301}", "e", "a\u{323}\u{301}", "a\u{301}\u{323}", "\u{1EA1}\u{301}", "\u{212A}", "K", "\0",
    ]
    let numbers = [0.0, -0.0, .nan, -.nan, Double(nan: 1, signaling: false), 1, .infinity]
    func maybe<T>(_ value: T) -> T? { random.chance(70) ? value : nil }
    switch Int.random(in: 0..<11, using: &random) {
    case 0: text = maybe(random.chance(70) ? random.pick(texts) : hostileText(&random))
    case 1: letter = maybe(random.pick(texts).first ?? "x")
    case 2: number = maybe(random.pick(numbers))
    case 3: small = maybe(Float(random.pick(numbers)))
    case 4: date = maybe(Date(timeIntervalSinceReferenceDate: random.pick(numbers)))
    case 5: twice = maybe(maybe(random.pick(numbers)))
    case 6: kind = maybe(random.pick(Kind.allCases))
    case 7: label = maybe(Label(name: random.pick(texts)))
    case 8: nick = maybe(Nick(random.pick(texts + ["k", "KA", "ka", "E\u{301}", "\u{c9}"])))
    case 9: count = maybe(Int.random(in: 0..<5, using: &random))
    default: other += 1
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}

extension RowWriter {
  fileprivate static func values(of mark: Mark) throws -> [StoredValue] {
    var writer = RowWriter()
    try mark.write(to: &writer)
    return writer.values
  }
}

/// `CONCORD_RANDOM_SEED` replays one world, whose seed is in the message of a failure.
@Suite("Random unique values")
struct RandomUniqueTests {
  private static let model = Result { try Model("Marks", entities: [Mark.self]) }

  @Test(
    "What Swift takes for the same value is refused, in whatever form, and nothing else is",
    arguments: StoreKind.allCases)
  func agreesWithSwift(_ kind: StoreKind) throws {
    for seed in TestOptions.seeds(kind.share(of: TestOptions.isLong ? 400 : 5)) { try run(kind, seed) }
  }

  private func run(_ kind: StoreKind, _ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let model = try Self.model.get()
    try withFolder { folder in
      var coordinator = PersistentStoreCoordinator(model: model)
      var store = try kind.open(model, in: folder)
      defer { try? store.close() }
      try coordinator.attach(store, configuration: "")
      var marks: [Int: Mark] = [:]
      for step in 0..<100 {
        let comment: Comment = "CONCORD_RANDOM_SEED=\(seed), step \(step)"
        if kind != .memory, random.chance(5) {
          try store.close()
          store = try kind.open(model, in: folder)
          coordinator = PersistentStoreCoordinator(model: model)
          try coordinator.attach(store, configuration: "")
        }
        let context = coordinator.newContext()
        if random.chance(30) { context.mergePolicy = .objectTrump }
        var wanted = marks
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let id = Int.random(in: 0..<6, using: &random)
          if wanted[id] == nil || random.chance(15) {
            // An entity that is there is inserted again.
            var mark = wanted[id] ?? Mark(id)
            for _ in 0..<Int.random(in: 0..<4, using: &random) { mark.change(&random) }
            context.insert(mark)
            wanted[id] = mark
          } else if random.chance(15) {
            try context.delete(Mark.self, id: id)
            wanted[id] = nil
          } else if var mark = wanted[id] {
            mark.change(&random)
            try context.update(Mark.self, id: id) { $0 = mark }
            wanted[id] = mark
          }
        }
        let values = Array(wanted.values)
        let shown = try values.map { try $0.stored }
        let isRefused = values.indices.contains { a in values[..<a].contains { $0.excludes(values[a]) } }
        do {
          try context.save()
          #expect(!isRefused, "\(comment): let in \(shown)")
          marks = wanted
        } catch StoreError.notUnique(let entity, _) {
          #expect(isRefused && entity == "Mark", "\(comment): refused \(shown)")
        }
        let found = try coordinator.newContext().fetch(FetchDescriptor<Mark>(sortBy: [SortDescriptor(\.id)]))
        let isSame = try found.map { try $0.stored } == marks.sorted { $0.key < $1.key }.map { try $0.value.stored }
        try #require(isSame, comment)
      }
    }
  }
}
