import ConcordPersistence
import Foundation

/// A property of each kind of value.
struct Everything: PersistentEntity {
  enum Genre: String, Codable, CaseIterable { case novel, poem }
  enum Level: Int, Codable, CaseIterable { case low = -1, high = 7 }
  enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case square(Int, name: String?)
    case empty
  }
  struct Point: Codable, Hashable { var x: Double, y: Int64, label: String? }

  var id: UUID
  var bool: Bool
  var int: Int
  var int8: Int8
  var uint64: UInt64
  var uint: UInt
  var uint32: UInt32
  var double: Double
  var float: Float
  var date: Date
  var string: String
  var character: Character
  var data: Data
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var genre: Genre
  var level: Level?
  var shape: Shape
  var point: Point?
  var points: [Point]
  var words: [String]?
  var counts: [String: Int]
  var optionalString: String?
  var optionalDouble: Double?
  var optionalData: Data?
  var twiceString: String??
  var twiceData: Data??

  static let persistentProperties: [PersistentProperty<Everything>] = [
    .init("id", \.id), .init("bool", \.bool), .init("int", \.int), .init("int8", \.int8), .init("uint64", \.uint64),
    .init("uint", \.uint), .init("uint32", \.uint32), .init("double", \.double), .init("float", \.float),
    .init("date", \.date), .init("string", \.string), .init("character", \.character), .init("data", \.data),
    .init("uuid", \.uuid), .init("url", \.url), .init("decimal", \.decimal), .init("genre", \.genre),
    .init("level", \.level), .init("shape", \.shape), .init("point", \.point), .init("points", \.points),
    .init("words", \.words), .init("counts", \.counts), .init("optionalString", \.optionalString),
    .init("optionalDouble", \.optionalDouble), .init("optionalData", \.optionalData),
    .init("twiceString", \.twiceString), .init("twiceData", \.twiceData),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    bool = try row.read()
    int = try row.read()
    int8 = try row.read()
    uint64 = try row.read()
    uint = try row.read()
    uint32 = try row.read()
    double = try row.read()
    float = try row.read()
    date = try row.read()
    string = try row.read()
    character = try row.read()
    data = try row.read()
    uuid = try row.read()
    url = try row.read()
    decimal = try row.read()
    genre = try row.read()
    level = try row.read()
    shape = try row.read()
    point = try row.read()
    points = try row.read()
    words = try row.read()
    counts = try row.read()
    optionalString = try row.read()
    optionalDouble = try row.read()
    optionalData = try row.read()
    twiceString = try row.read()
    twiceData = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(bool)
    try row.write(int)
    try row.write(int8)
    try row.write(uint64)
    try row.write(uint)
    try row.write(uint32)
    try row.write(double)
    try row.write(float)
    try row.write(date)
    try row.write(string)
    try row.write(character)
    try row.write(data)
    try row.write(uuid)
    try row.write(url)
    try row.write(decimal)
    try row.write(genre)
    try row.write(level)
    try row.write(shape)
    try row.write(point)
    try row.write(points)
    try row.write(words)
    try row.write(counts)
    try row.write(optionalString)
    try row.write(optionalDouble)
    try row.write(optionalData)
    try row.write(twiceString)
    try row.write(twiceData)
  }

  /// Made of what is most likely to be kept wrongly.
  init(_ random: inout some RandomNumberGenerator) {
    id = UUID()
    bool = .random(using: &random)
    int = random.pick([.min, .max, 0, -1, 1, .random(in: .min ... .max, using: &random)])
    int8 = .random(in: .min ... .max, using: &random)
    uint64 = random.pick([.max, 1 << 63, 1 << 63 - 1, 0, .random(in: 0 ... .max, using: &random)])
    uint = random.pick([.max, 0, .random(in: 0 ... .max, using: &random)])
    uint32 = .random(in: 0 ... .max, using: &random)
    double = random.double()
    float = random.pick([
      .nan, -.nan, -0.0, 0, .infinity, .leastNonzeroMagnitude,
      Float(bitPattern: .random(in: 0 ... .max, using: &random)),
    ])
    date = Date(timeIntervalSinceReferenceDate: random.double())
    string = random.string()
    character = random.pick(["a", "e\u{301}", "\u{e9}", "\0", "👨‍👩‍👧‍👦", "\r\n", "\u{212A}"])
    data = random.data()
    uuid = UUID()
    url = random.pick([
      URL(filePath: "/tmp/a b"), URL(string: "https://example.org/%C3%A9?q=1#f") ?? URL(filePath: "/"),
      URL(string: "path/x", relativeTo: URL(string: "https://example.org/a/")) ?? URL(filePath: "/"),
      URL(string: "mailto:a@b.c") ?? URL(filePath: "/"),
    ])
    decimal = random.decimal()
    genre = random.pick(Genre.allCases)
    level = random.pick([.low, .high, nil])
    shape = random.pick([.circle(radius: .pi), .square(.max, name: nil), .square(0, name: "\0\""), .empty])
    point = random.pick([nil, random.point()])
    points = random.pick([[], [random.point(), random.point()]])
    words = random.pick([nil, [], [""], [random.string(), random.string()]])
    counts = random.pick([[:], ["": 0], [random.string(): .max, "b": .min]])
    optionalString = random.pick([nil, "", random.string()])
    optionalDouble = random.pick([nil, random.double()])
    optionalData = random.pick([nil, Data(), random.data()])
    twiceString = random.pick([.none, .some(.none), .some(""), .some("nil"), .some(random.string())])
    twiceData = random.pick([.none, .some(.none), .some(Data()), .some(Data("nil".utf8)), .some(random.data())])
  }

  /// What differs, to the bit.
  func differences(from other: Everything) -> [String] {
    var found: [String] = []
    func check(_ name: String, _ isSame: Bool) { if !isSame { found.append(name) } }
    func same(_ a: String?, _ b: String?) -> Bool { a.map { Array($0.utf8) } == b.map { Array($0.utf8) } }
    check("id", id == other.id)
    check("bool", bool == other.bool)
    check("int", int == other.int)
    check("int8", int8 == other.int8)
    check("uint64", uint64 == other.uint64)
    check("uint", uint == other.uint)
    check("uint32", uint32 == other.uint32)
    check("double", double.bitPattern == other.double.bitPattern)
    check("float", float.bitPattern == other.float.bitPattern)
    let (date, otherDate) = (date.timeIntervalSinceReferenceDate, other.date.timeIntervalSinceReferenceDate)
    check("date", date.bitPattern == otherDate.bitPattern)
    check("string", same(string, other.string))
    check("character", same(String(character), String(other.character)))
    check("data", data == other.data)
    check("uuid", uuid == other.uuid)
    check("url", url == other.url && url.baseURL == other.url.baseURL)
    check("decimal", decimal == other.decimal || decimal.isNaN && other.decimal.isNaN)
    check("genre", genre == other.genre)
    check("level", level == other.level)
    check("shape", shape == other.shape)
    check("point", point == other.point && same(point?.label, other.point?.label))
    check("points", points == other.points)
    check("words", words == other.words && same(words?.joined(), other.words?.joined()))
    check("counts", counts == other.counts)
    check("optionalString", same(optionalString, other.optionalString))
    check("optionalDouble", optionalDouble?.bitPattern == other.optionalDouble?.bitPattern)
    check("optionalData", optionalData == other.optionalData)
    check("twiceString", twiceString == other.twiceString && same(twiceString ?? "", other.twiceString ?? ""))
    check("twiceData", twiceData == other.twiceData)
    return found
  }
}

extension RandomNumberGenerator {
  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &self)] }

  mutating func double() -> Double {
    pick([
      .nan, -.nan, .signalingNaN, Double(nan: 12345, signaling: false), -0.0, 0, .infinity, -.infinity,
      .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1 + 0.2, 1e300, 9007199254740992, 1, -5,
      Double(bitPattern: .random(in: 0 ... .max, using: &self)), .random(in: -1e9...1e9, using: &self),
    ])
  }

  mutating func string() -> String {
    let pieces = [
      "", "a", "\0", "\u{e9}", "e\u{301}", "\u{212A}", "ﬁ", "👩🏽‍🚀", "\r\n", "'", "\"", "\\", "\u{FEFF}", "\u{10FFFF}", "💩",
      "\u{1F}", "Å", "%", "_", "한", "\u{1112}\u{1161}\u{11AB}", "\u{202E}", "{", "nil", "null", "1", "-0.0",
    ]
    return (0..<Int.random(in: 0...6, using: &self)).map { _ in pick(pieces) }.joined()
  }

  mutating func data() -> Data {
    Data((0..<Int.random(in: 0...40, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) })
  }

  mutating func decimal() -> Decimal {
    let digits = (0..<Int.random(in: 1...38, using: &self)).map { _ in "\(Int.random(in: 0...9, using: &self))" }
    let random =
      Decimal(
        sign: pick([.plus, .minus]), exponent: .random(in: -100...80, using: &self),
        significand: Decimal(string: digits.joined()) ?? 1)
    return pick([
      .zero, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, .nan,
      Decimal(string: "0.1") ?? 1,
      Decimal(string: "-1234567.89") ?? 1, 100, 1_000_000, random,
    ])
  }

  mutating func point() -> Everything.Point {
    .init(x: pick([0.1, .infinity, 1e-300, -2]), y: pick([.max, .min, 0]), label: pick([nil, "", string()]))
  }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
