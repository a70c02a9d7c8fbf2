import ConcordPersistence
import Foundation

/// With numbers, dates and texts of all kinds, for aggregates.
struct Sale: PersistentEntity, Equatable {
  enum Kind: String, Codable, Hashable { case cash, card }

  let id: Int
  var amount: Int
  var small: Int8
  var optional: Int32?
  var large: UInt64
  var price: Double
  var weight: Float?
  var day: Date
  var place: String
  var note: String?
  var kind: Kind

  /// No column holds it.
  var double: Int { amount &* 2 }

  static let persistentProperties: [PersistentProperty<Sale>] = [
    .init("id", \.id), .init("amount", \.amount, .indexed), .init("small", \.small), .init("optional", \.optional),
    .init("large", \.large), .init("price", \.price, .indexed), .init("weight", \.weight), .init("day", \.day),
    .init("place", \.place, .indexed), .init("note", \.note), .init("kind", \.kind),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    amount = try row.read()
    small = try row.read()
    optional = try row.read()
    large = try row.read()
    price = try row.read()
    weight = try row.read()
    day = try row.read()
    place = try row.read()
    note = try row.read()
    kind = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(amount)
    try row.write(small)
    try row.write(optional)
    try row.write(large)
    try row.write(price)
    try row.write(weight)
    try row.write(day)
    try row.write(place)
    try row.write(note)
    try row.write(kind)
  }

  init(id: Int, amount: Int = 0, price: Double = 0, place: String = "") {
    self.id = id
    self.amount = amount
    self.price = price
    self.place = place
    (small, optional, large, weight, note, kind) = (0, nil, 0, nil, nil, .cash)
    day = Date(timeIntervalSinceReferenceDate: 0)
  }

  init(id: Int, _ random: inout SeededGenerator) {
    self.id = id
    // Sums of few may overflow.
    amount = random.pick([1, -1, 7, .max, .min, .max / 3, .random(in: -1000...1000, using: &random)])
    small = .random(in: -20...20, using: &random)
    optional = Bool.random(using: &random) ? .random(in: .min ... .max, using: &random) : nil
    large = random.pick([0, 1, 1 << 63, .max])
    price = random.pick([
      0, -0.0, 0.1, 0.2, 1e16, -1e16, 1, 1e-300, -3.5, .leastNonzeroMagnitude, .random(in: -1e9...1e9, using: &random),
      Int.random(in: 0..<20, using: &random) == 0 ? random.pick([.nan, .infinity, -.infinity]) : 2.5,
    ])
    weight = Bool.random(using: &random) ? random.pick([0.1, -0.0, 0, 3, 16_777_216, .leastNonzeroMagnitude]) : nil
    day = Date(timeIntervalSinceReferenceDate: random.pick([0, -0.0, 1, 1e9, -5.25]))
    place = hostileText(&random)
    note = Bool.random(using: &random) ? hostileText(&random) : nil
    kind = random.pick([.cash, .card])
  }
}
