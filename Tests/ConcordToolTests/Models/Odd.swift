import ConcordPersistence
import Foundation

/// An entity whose names and values are unlikely to survive a way through SQL.
struct Odd: PersistentEntity, Aggregate {
  static let entityName = "Odd \"'; -- \\" + String(repeating: "ö", count: 40)
  static let longName = "a column whose name is longer than what the server keeps of a name 1"
  static let otherLongName = "a column whose name is longer than what the server keeps of a name 2"

  let id: UUID
  var xmin: UInt64
  var flag: Bool
  var float: Float
  var real: Double
  var text: String
  var quoted: Int
  var code: String?
  var price: Double?
  var twice: String??
  var bytes: Data
  var date: Date
  var link: Huge?
  var many: [Huge]
  var byName: [String: Huge]?
  var jacket: Jacket?

  static let persistentProperties: [PersistentProperty<Odd>] = [
    .init("id", \.id), .init("xmin", \.xmin), .init("flag", \.flag), .init("float", \.float), .init("real", \.real),
    .init("text", \.text), .init("quo\"ted' \\", \.quoted), .init("code", \.code, .unique),
    .init("price", \.price, .unique), .init(longName, \.twice), .init(otherLongName, \.bytes), .init("date", \.date),
    .init("link", \.link), .init("many", \.many), .init("byName", \.byName), .init("jacket", \.jacket),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    xmin = try row.read()
    flag = try row.read()
    float = try row.read()
    real = try row.read()
    text = try row.read()
    quoted = try row.read()
    code = try row.read()
    price = try row.read()
    twice = try row.read()
    bytes = try row.read()
    date = try row.read()
    link = try row.read()
    many = try row.read()
    byName = try row.read()
    jacket = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(xmin)
    try row.write(flag)
    try row.write(float)
    try row.write(real)
    try row.write(text)
    try row.write(quoted)
    try row.write(code)
    try row.write(price)
    try row.write(twice)
    try row.write(bytes)
    try row.write(date)
    try row.write(link)
    try row.write(many)
    try row.write(byName)
    try row.write(jacket)
  }
}

/// An entity whose keys may be too large for a whole number.
struct Huge: PersistentEntity {
  let id: UInt64
  var note: String

  static let persistentProperties: [PersistentProperty<Huge>] = [.init("id", \.id), .init("note", \.note)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), note: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(note)
  }

  init(id: UInt64, note: String) { (self.id, self.note) = (id, note) }
}

struct Jacket: PersistentWrapper {
  var cover: String
  var weight: Float

  func wrappedEntitiesKeyPaths<Root>(
    relativeTo parent: WritableKeyPath<Root, Jacket>
  ) -> [PartialIdentifiableKeyPath<Root>] { [] }
  static let persistentProperties: [PersistentProperty<Jacket>] = [
    .init("cover", \.cover), .init("weight", \.weight),
  ]
  init(case name: String, from row: inout RowReader) throws { (cover, weight) = (try row.read(), try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(cover)
    try row.write(weight)
  }

  init(cover: String, weight: Float) { (self.cover, self.weight) = (cover, weight) }
}

func oddModel() throws -> Model { try Model("Odd", entities: [Huge.self, Odd.self]) }

// MARK: Random values

/// A generator that gives the same again for a seed: SplitMix64.
struct ToolRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }

  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &self)] }

  /// A text of pieces that are easily taken for something else.
  mutating func text() -> String {
    let pieces = [
      "", "a", "b", "A", "\0", "\u{1}", "\u{2}", "\u{1}\u{1}", "'", "\"", "\\", "e\u{301}", "\u{e9}", "\u{FFFD}", "\n",
      "\t",
      "😀", "ß", "\u{10FFFF}", "5", "5.0", "1e3", " 5", "-0.0", "x'00'", "NaN", "%", "_", "$1", "null",
    ]
    return (0..<Int.random(in: 0...3, using: &self)).map { _ in pick(pieces) }.joined()
  }

  mutating func real() -> Double {
    pick([
      .nan, -.nan, .signalingNaN, -0.0, 0, 1, 5, -5, 1.5, 1e300, 9_007_199_254_740_994, .infinity, -.infinity,
      0.1 + 0.2,
      .leastNonzeroMagnitude, Double.random(in: -10...10, using: &self).rounded(),
      Double(bitPattern: UInt64.random(in: .min ... .max, using: &self)),
    ])
  }

  mutating func float() -> Float {
    pick([.nan, -.nan, -0.0, 0, 1.5, .infinity, Float(bitPattern: UInt32.random(in: .min ... .max, using: &self))])
  }
}

extension Odd {
  /// - Parameter number: what makes its unique values differ from those of others.
  init(_ number: Int, _ random: inout ToolRandom) {
    func huge(_ random: inout ToolRandom) -> Huge {
      let ids: [UInt64] = [.max, 1 << 63, 1 << 63 - 1, 0, 1, 2, 10, 1 << 53 + 1]
      let id = random.pick(ids)
      return Huge(id: id, note: "of \(id)\0")
    }
    id = UUID(uuid: withUnsafeBytes(of: (random.next(), random.next())) { $0.loadUnaligned(as: uuid_t.self) })
    xmin = random.pick([.max, 1 << 63, 1 << 63 - 1, 0, 5, random.next()])
    flag = random.pick([true, false])
    float = random.float()
    real = random.real()
    text = random.text()
    quoted = random.pick([.min, .max, 0, 5, 1 << 53 + 1, Int.random(in: -9...9, using: &random)])
    code = random.pick([nil, "e\u{301}\(number)", "\u{e9}\(number)", "plain \(number)\0"])
    price = number == 0 ? -0.0 : random.pick([nil, .nan, Double(number), Double(number) + 0.1])
    let texts: [String??] = [.none, .some(.none), .some(""), .some("nil"), .some(random.text())]
    twice = random.pick(texts)
    bytes = random.pick([Data(), Data([0]), Data("5".utf8), Data("a".utf8), Data((0...255).map { UInt8($0) })])
    date = Date(timeIntervalSinceReferenceDate: random.real())
    link = random.pick([nil, huge(&random)])
    many = (0..<random.pick([0, 1, 3])).map { _ in huge(&random) }
    byName = random.pick([nil, [:], [random.text(): huge(&random)]])
    jacket = random.pick([nil, Jacket(cover: random.text(), weight: random.float())])
  }
}
