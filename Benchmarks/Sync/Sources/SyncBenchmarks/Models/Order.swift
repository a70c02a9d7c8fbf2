import ConcordServer
import Foundation

/// What the devices of the benchmark subscribe to.
struct Order: PersistentEntity, Equatable, Codable {
  let id: Int
  var customer: Int
  var title: String
  var price: Double
  var note: String

  static let persistentProperties: [PersistentProperty<Order>] = [
    .init("id", \.id), .init("customer", \.customer, .indexed), .init("title", \.title), .init("price", \.price),
    .init("note", \.note),
  ]

  init(from row: inout RowReader) throws {
    self.init(
      id: try row.read(), customer: try row.read(), title: try row.read(), price: try row.read(), note: try row.read())
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(customer)
    try row.write(title)
    try row.write(price)
    try row.write(note)
  }

  init(id: Int, customer: Int, title: String, price: Double, note: String) {
    (self.id, self.customer, self.title, self.price, self.note) = (id, customer, title, price, note)
  }

  init(id: Int, customer: Int) {
    self.init(
      id: id, customer: customer, title: "A book with the number \(id)", price: Double(id % 100) + 0.99, note: "")
  }

  static func model() throws -> Model { try Model("Orders", entities: [Order.self]) }
}

/// Writes into the note of an order.
struct Annotate: SyncAction {
  var order: Int
  var note: String
  static let name = "annotate"
  var entity: AnyEntityReference { .init(Order.self, id: order) }
  func apply(to store: EntityStore) throws { store.update(Order.self, id: order) { $0.note = note } }
}
