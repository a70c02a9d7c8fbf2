#if Server
  import Concord
  import Foundation
  import GRDB
  import GRDBSQLite
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordServer

  private struct Item: PersistentEntity {
    let id: Int
    var name: String
    static let persistentProperties: [PersistentProperty<Item>] = [.init("id", \.id), .init("name", \.name)]
    init(from row: inout RowReader) throws { (id, name) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(name)
    }
  }

  private struct Counter: PersistentEntity {
    let id: Int
    var name: String
    static let persistentProperties: [PersistentProperty<Counter>] = [.init("id", \.id), .init("name", \.name)]
    init(from row: inout RowReader) throws { (id, name) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(name)
    }
  }

  @Suite("Asking a file's feed about rows")
  struct ChangedRowsTests {
    private func withStore(
      _ body: (SQLiteStore, _ item: EntityDescription, _ counter: EntityDescription) throws -> Void
    )
      throws
    {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-changed-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let model = try Model("Items", entities: [Item.self, Counter.self])
      let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: model.entities)
      try body(store, model.entity(Item.self), model.entity(Counter.self))
      try store.close()
    }

    private func write(
      _ ids: some Sequence<Int>, _ text: String, of entity: EntityDescription, in store: SQLiteStore
    ) throws {
      try store.write(origin: nil) { writing in
        for id in ids {
          let key = EntityKey(entity, .integer(Int64(id)))
          let row = StoredRow(values: [key.id, .text(text)], collections: [], stamp: 1)
          if let old = try writing.row(of: key) {
            try writing.update(row, replacing: old, for: key)
          } else {
            _ = try writing.insert(row, for: key)
          }
        }
      }
    }

    /// The number of instructions that SQLite executes for a question.
    private func steps(in store: SQLiteStore, _ question: (any RowReading) throws -> Void) throws -> Int {
      let steps = Kept(0)
      return try store.write(origin: nil) { writing in
        let db = try #require(writing as? SQLiteSession).db
        sqlite3_progress_handler(
          db.sqliteConnection, 1,
          { counter in
            counter.map { Unmanaged<Kept<Int>>.fromOpaque($0).takeUnretainedValue().withLock { $0 += 1 } }
            return 0
          }, Unmanaged.passUnretained(steps).toOpaque())
        defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
        try question(writing)
        return steps.withLock { $0 }
      }
    }

    @Test(
      "Whether some rows have changed takes as many steps, however many other rows have, and however often they had before"
    )
    func lookups() throws {
      try withStore { store, item, counter in
        try store.startFeed()
        try write(1...2000, "a", of: item, in: store)
        for number in 0..<300 { try write([1], "\(number)", of: item, in: store) }
        let position = try store.read { try $0.position() }
        try write([2], "b", of: item, in: store)
        let keys = (1...3).map { EntityKey(item, .integer($0)) }
        func steps() throws -> Int {
          try self.steps(in: store) { reading in
            let changed = try reading.changed(keys, since: position)
            #expect(changed == [keys[1]])
          }
        }
        // The first time statements are prepared.
        _ = try steps()
        let few = try steps()
        for number in 0..<3 { try write(4...2000, "c\(number)", of: item, in: store) }
        // Those of another type may have the same ids.
        for number in 0..<300 { try write(1...3, "\(number)", of: counter, in: store) }
        let many = try steps()
        #expect(few > 0 && many <= few + 10, "\(few) and \(many) steps")
        // What cannot be told is not looked through.
        #expect(try store.read { try $0.changes(since: position, of: [item], limit: 100) } == nil)
      }
    }

    @Test(
      "A position of which the rows as they were are forgotten takes as many steps, however many rows have changed since"
    )
    func forgotten() throws {
      try withStore { store, item, _ in
        try store.startFeed(FeedLimits(changes: 5))
        try write(1...3000, "a", of: item, in: store)
        let position = try store.read { try $0.position() }
        func steps() throws -> Int {
          try self.steps(in: store) { reading in
            let changes = try KnownChanges(since: position, of: [item], limit: 20_000, reading)
            guard case .byRow(since: position) = changes else {
              Issue.record("\(changes)")
              return
            }
          }
        }
        for number in 0..<10 { try write([1], "\(number)", of: item, in: store) }
        while try store.trimFeed() {}
        _ = try steps()
        let few = try steps()
        for number in 0..<2 { try write(2...3000, "b\(number)", of: item, in: store) }
        while try store.trimFeed() {}
        let many = try steps()
        #expect(few > 0 && many <= few + 10, "\(few) and \(many) steps")
      }
    }
  }
#endif
