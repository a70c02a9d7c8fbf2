#if Persistence
  import Concord
  import ConcordModel
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPersistence

  @Suite("The threat model: what other programs write into the tables of the feed, the outbox and the notes")
  struct OwnTablesTests {
    /// Values as SQL that the program has not written.
    private static let hostile = [
      "NULL", "''", "'T'", "'X'", "'TX'", "'TX'''", "'X''4'", "''''", "'-'", "'1,2'", "'1,,2'",
      "'NULL,NULL,NULL,NULL,NULL'", "x'FFFE'",
      "7", "-7", "1e300", "9223372036854775807", "-9223372036854775808", "-9223372036854775553", "'text'",
    ]

    private static let columns = [
      "concord_changes": ["number", "entity", "\"key\"", "before", "target", "added"],
      "concord_feed": ["epoch", "forgotten", "begun", "kept"], "concord_feed_columns": ["columns"],
      "concord_outbox_state": ["epoch", "version", "forgotten", "cleared"],
      "concord_outbox": [
        "number", "\"key\"", "action", "entity", "id", "body", "state", "reason", "forwarded", "version",
      ],
      "concord_notes": ["space", "name", "value"], "sqlite_sequence": ["seq"],
    ]

    private static let action = OutboxRow(
      key: "k", action: "rename", entity: "Author", id: .text("a"), body: "{}", forwarded: 0)

    @Test("The worst is a typed error, and nothing traps", arguments: columns.keys.sorted())
    func worst(_ table: String) throws {
      try withFolder { folder in
        let model = try libraryModel()
        let url = folder.appending(path: "a.sqlite")
        let made = try SQLiteStore(url: url, entities: model.entities)
        try made.startFeed(FeedLimits(changes: 3, rows: 2))
        let position = try made.read { try $0.position() }
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.attach(made, configuration: "")
        let context = coordinator.newContext()
        for name in ["A", "B", "C"] {
          context.insert(
            Book(id: "b", title: name, author: Author(id: "a", name: name), reviews: [Review(id: 1, text: name)]))
          try context.save()
        }
        try made.write(origin: nil) { writing in
          _ = try writing.writeOutbox(Self.action)
          try writing.setNote("1", for: NoteName("space", "name"))
        }
        try made.close()
        let content = try Data(contentsOf: url)
        let known = try DatabaseQueue(path: url.path).read { db in try db.columns(in: table).map(\.name) }
        let columns = try #require(Self.columns[table]).filter { column in known.contains { column.contains($0) } }
        try #require(!columns.isEmpty)
        var failures = 0
        for column in columns {
          for value in Self.hostile {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
            try content.write(to: url)
            let queue = try DatabaseQueue(path: url.path)
            try? queue.write { try $0.execute(sql: "UPDATE \(table) SET \(column) = \(value)") }
            try queue.close()
            do { failures += try use(url, model, position) } catch {
              #expect(error is StoreError, "\(table).\(column) = \(value): \(error)")
              failures += 1
            }
          }
        }
        print("own tables: \(table), \(columns.count * Self.hostile.count) values, \(failures) failures")
      }
    }

    /// Does with a store what a server and a device do.
    ///
    /// - Returns: the number of steps that have failed.
    private func use(_ url: URL, _ model: Model, _ position: StorePosition) throws -> Int {
      let store = try SQLiteStore(url: url, entities: model.entities)
      defer { try? store.close() }
      func trim(_ store: SQLiteStore) throws {
        var count = 0
        while count <= 100, try store.trimFeed() { count += 1 }
        #expect(count <= 100)
      }
      let steps: [() throws -> Void] = [
        { _ = try store.read { try $0.position() } },
        {
          guard let changes = try store.read({ try $0.changes(since: position) }) else { return }
          // Whoever evaluates a condition on a row as it was counts on its columns.
          for change in changes.rows {
            if let before = change.before { #expect(before.count == change.key.entity.columns.count) }
          }
        },
        { try trim(store) },
        { try store.startFeed(FeedLimits(changes: 3, rows: 2)) },
        { try trim(store) },
        { _ = try store.read { try $0.outbox(after: nil) } },
        { _ = try store.read { try $0.outbox(after: OutboxVersion(epoch: 1, number: 1)) } },
        { _ = try store.write(origin: nil) { try $0.writeOutbox(Self.action) } },
        { try store.read { try $0.notes(in: "space", after: nil) { _, _ in true } } },
        {
          try store.write(origin: nil) { writing in
            let key = EntityKey(try model.entity(Author.self), .text("z"))
            _ = try writing.insert(
              model.entity(Author.self).row(of: Author(id: "z", name: "Z"), stamp: 9), for: key)
          }
        },
      ]
      var failures = 0
      for step in steps {
        do { try step() } catch {
          #expect(error is StoreError, "\(error)")
          failures += 1
        }
      }
      return failures
    }
  }
#endif
