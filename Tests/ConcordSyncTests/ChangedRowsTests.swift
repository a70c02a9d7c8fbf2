#if Server
  import Concord
  import ConcordServer
  import Foundation
  import GRDB
  import GRDBSQLite
  import Testing

  @testable import ConcordPersistence

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

  @Suite("Asking a file's feed about rows")
  struct ChangedRowsTests {
    @Test(
      "Whether some rows have changed takes as many steps, however many others have, and however often they had before")
    func steps() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-changed-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let model = try Model("Items", entities: [Item.self])
      let store = try SQLiteStore(url: folder.appending(path: "test.sqlite"), entities: model.entities)
      try store.startFeed()
      let item = try #require(model.entity(named: "Item"))
      func write(_ ids: some Sequence<Int>, _ text: String) throws {
        try store.write(origin: nil) { writing in
          for id in ids {
            let key = EntityKey(item, .integer(Int64(id)))
            let row = StoredRow(values: [key.id, .text(text)], collections: [], stamp: 1)
            if let old = try writing.row(of: key) {
              try writing.update(row, replacing: old, for: key)
            } else {
              _ = try writing.insert(row, for: key)
            }
          }
        }
      }
      try write(1...2000, "a")
      for number in 0..<300 { try write([1], "\(number)") }
      let position = try store.read { try $0.position() }
      try write([2], "b")
      let keys = (1...3).map { EntityKey(item, .integer($0)) }
      /// The number of instructions that SQLite executes for the answer.
      func steps() throws -> Int {
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
          #expect(try writing.changed(keys, since: position) == [keys[1]])
          return steps.withLock { $0 }
        }
      }
      // The first time statements are prepared.
      _ = try steps()
      let few = try steps()
      for number in 0..<3 { try write(4...2000, "c\(number)") }
      let many = try steps()
      #expect(few > 0 && many <= few + 10, "\(few) and \(many) steps")
      // What cannot be told is not looked through.
      #expect(try store.read { try $0.changes(since: position, of: [item], limit: 100) } == nil)
      try store.close()
    }
  }
#endif
