#if PostgreSQL
  import ConcordPersistence

  /// An entity with elements in a table of their own.
  struct Listed: PersistentEntity, Equatable {
    let id: Int
    var lines: [String]

    static let persistentProperties: [PersistentProperty<Listed>] = [.init("id", \.id), .init("lines", \.lines)]
    init(id: Int, lines: [String]) { (self.id, self.lines) = (id, lines) }
    init(from row: inout RowReader) throws { (id, lines) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(lines)
    }
  }
#endif
