public import ConcordPersistence

/// With a text that is searched.
public struct Memo: PersistentEntity, Equatable {
  public let id: Int
  public var text: String

  public static let persistentProperties: [PersistentProperty<Memo>] = [
    .init("id", \.id), .init("text", \.text, .searchable),
  ]
  public init(from row: inout RowReader) throws { self.init(id: try row.read(), text: try row.read()) }
  public func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
  }
  public init(id: Int, text: String) {
    self.id = id
    self.text = text
  }
}

public func memoModel() throws -> Model { try Model("Memos", entities: [Memo.self]) }
