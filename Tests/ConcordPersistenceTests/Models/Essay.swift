import ConcordPersistence
import Foundation

/// With texts that are searched.
struct Essay: PersistentEntity, Equatable {
  let id: Int
  var title: String
  var text: String?
  var year: Int

  static let persistentProperties: [PersistentProperty<Essay>] = [
    .init("id", \.id), .init("title", \.title, .searchable(weight: 2)), .init("text", \.text, .searchable),
    .init("year", \.year),
  ]

  init(from row: inout RowReader) throws {
    id = try row.read()
    title = try row.read()
    text = try row.read()
    year = try row.read()
  }

  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(text)
    try row.write(year)
  }

  init(_ id: Int, _ title: String, _ text: String? = nil, year: Int = 0) {
    (self.id, self.title, self.text, self.year) = (id, title, text, year)
  }
}

func essayModel() throws -> Model { try Model("Essays", entities: [Essay.self]) }
