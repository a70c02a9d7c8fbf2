import ConcordPersistence
import Foundation

/// With a property of each kind that a predicate may compare.
struct Sample: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var number: Int
  var indexed: Int
  var optional: Int?
  var large: UInt64
  var real: Double
  var single: Float
  var date: Date
  var optionalReal: Double?
  var text: String
  var optionalText: String?
  var flag: Bool
  var uuid: UUID
  var decimal: Decimal
  var grade: Grade
  var owner: Author
  var helper: Author?
  var reviews: [Review]

  enum Grade: String, Codable { case good, bad }

  static let persistentProperties: [PersistentProperty<Sample>] = [
    .init("id", \.id), .init("number", \.number), .init("indexed", \.indexed, .indexed),
    .init("optional", \.optional), .init("large", \.large), .init("real", \.real, .indexed),
    .init("single", \.single), .init("date", \.date), .init("optionalReal", \.optionalReal),
    .init("text", \.text, .indexed), .init("optionalText", \.optionalText), .init("flag", \.flag),
    .init("uuid", \.uuid), .init("decimal", \.decimal), .init("grade", \.grade), .init("owner", \.owner),
    .init("helper", \.helper), .init("reviews", \.reviews),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    number = try row.read()
    indexed = try row.read()
    optional = try row.read()
    large = try row.read()
    real = try row.read()
    single = try row.read()
    date = try row.read()
    optionalReal = try row.read()
    text = try row.read()
    optionalText = try row.read()
    flag = try row.read()
    uuid = try row.read()
    decimal = try row.read()
    grade = try row.read()
    owner = try row.read()
    helper = try row.read()
    reviews = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(number)
    try row.write(indexed)
    try row.write(optional)
    try row.write(large)
    try row.write(real)
    try row.write(single)
    try row.write(date)
    try row.write(optionalReal)
    try row.write(text)
    try row.write(optionalText)
    try row.write(flag)
    try row.write(uuid)
    try row.write(decimal)
    try row.write(grade)
    try row.write(owner)
    try row.write(helper)
    try row.write(reviews)
  }

  static let uuids = (0..<3).map { UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8($0))) }
  static let texts = [
    "", "K", "\u{212A}", "e\u{301}", "\u{E9}", "E", "emma", "a;b", "a\u{37E}b", "x\0y", "Emma", "`", "\u{1FEF}",
  ]
  static let reals: [Double] = [0, -0.0, .nan, .infinity, -.infinity, 1, 1.5, -2, .greatestFiniteMagnitude]
  static let singles: [Float] = [0, -0.0, .nan, .infinity, 1, 1.5, -2]
  static let larges: [UInt64] = [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, .max]

  init(id: Int, _ random: inout some RandomNumberGenerator) {
    func pick<T>(_ values: [T], _ random: inout some RandomNumberGenerator) -> T {
      values[Int.random(in: values.indices, using: &random)]
    }
    self.id = id
    number = pick([0, 1, 2, -1, .max, .min], &random)
    indexed = Int.random(in: 0..<5, using: &random)
    optional = pick([nil, 0, 1, 2], &random)
    large = pick(Self.larges, &random)
    real = pick(Self.reals, &random)
    single = pick(Self.singles, &random)
    date = Date(timeIntervalSinceReferenceDate: pick([0, -0.0, 1, 1e9, -5], &random))
    optionalReal = pick([nil] + Self.reals.map { $0 }, &random)
    text = pick(Self.texts, &random)
    optionalText = pick([nil] + Self.texts.map { $0 }, &random)
    flag = pick([true, false], &random)
    uuid = pick(Self.uuids, &random)
    decimal = pick([0, 1, 1.5, -2], &random)
    grade = pick([.good, .bad], &random)
    owner = Author(id: pick(["a", "\u{E9}", "e\u{301}"], &random), name: "A")
    helper = pick([nil, Author(id: "a", name: "A"), Author(id: "h", name: "H")], &random)
    reviews = pick([[], [Review(id: 1, text: "")]], &random)
  }
}
