public import ConcordPersistence

/// What the process writes: entry N, whose double is written by the same save.
public struct Entry: PersistentEntity, Equatable {
  public let id: Int
  public var text: String

  public static let persistentProperties: [PersistentProperty<Entry>] = [.init("id", \.id), .init("text", \.text)]
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

/// How far the process has got.
public struct Progress: PersistentEntity, Equatable {
  public let id: Int
  public var last: Int

  public static let persistentProperties: [PersistentProperty<Progress>] = [.init("id", \.id), .init("last", \.last)]
  public init(from row: inout RowReader) throws { self.init(id: try row.read(), last: try row.read()) }
  public func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(last)
  }
  public init(id: Int, last: Int) {
    self.id = id
    self.last = last
  }
}

public func processModel() throws -> Model { try Model("Process", entities: [Entry.self, Progress.self]) }

/// An entry as a later program has it.
public struct NotedEntry: PersistentEntity, Equatable {
  public static var entityName: String { "Entry" }
  public let id: Int
  public var text: String
  public var note: String

  public static let persistentProperties: [PersistentProperty<NotedEntry>] = [
    .init("id", \.id), .init("text", \.text), .init("note", \.note, default: "none"),
  ]
  public init(from row: inout RowReader) throws {
    (id, text, note) = (try row.read(), try row.read(), try row.read())
  }
  public func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(text)
    try row.write(note)
  }
}

public func laterProcessModel() throws -> Model {
  try Model("Process", entities: [NotedEntry.self, Progress.self])
}
