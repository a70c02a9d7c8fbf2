import ConcordPersistence
import Foundation

/// With numbers that may be none.
struct Coin: PersistentEntity, Equatable {
  let id: Int
  var money: Decimal
  var weight: Float?

  static let persistentProperties: [PersistentProperty<Coin>] = [
    .init("id", \.id), .init("money", \.money), .init("weight", \.weight),
  ]

  init(from row: inout RowReader) throws {
    self.init(id: try row.read(), money: try row.read(), weight: try row.read())
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(money)
    try row.write(weight)
  }

  init(id: Int, money: Decimal, weight: Float?) { (self.id, self.money, self.weight) = (id, money, weight) }
}
