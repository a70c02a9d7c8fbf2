import ConcordPersistence

/// An entity with a unique value of the program's own type.
struct Tagged: PersistentEntity {
  let id: Int
  var tag: Tag

  static let persistentProperties: [PersistentProperty<Tagged>] = [.init("id", \.id), .init("tag", \.tag, .unique)]
  init(from row: inout RowReader) throws { self.init(id: try row.read(), tag: try row.read()) }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(tag)
  }

  init(id: Int, tag: Tag) { (self.id, self.tag) = (id, tag) }
}

/// A text of which no tool can know that upper and lower case are the same.
struct Tag: PersistentValue, Hashable {
  let text: String
  static var storageClass: StorageClass { .text }
  var storedValue: StoredValue { .text(text) }
  var storedKey: StoredValue { .text(text.lowercased()) }
  init(storedValue: StoredValue) throws { self.init(try String(storedValue: storedValue)) }
  init(_ text: String) { self.text = text }
  static func == (a: Tag, b: Tag) -> Bool { a.text.lowercased() == b.text.lowercased() }
  func hash(into hasher: inout Hasher) { hasher.combine(text.lowercased()) }
}
