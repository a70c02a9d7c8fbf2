#if PostgreSQL
  import ConcordTestShared
  import Foundation
  import Testing

  @testable import ConcordModel
  @testable import ConcordPersistence
  @testable import ConcordPostgreSQL

  @Suite(
    "The threat model of a fleet: what other programs write into the tables of the feed, the outbox and the notes",
    .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct OwnTablesTests {
    private static let numbers = ["NULL", "0", "7", "-7", "9223372036854775807", "-9223372036854775808"]
    // Multiples of what is counted up to before something is removed come last before the ends.
    private static let nearEnds = ["-9223372036854775553", "-9223372036854775297", "9223372036854775551"]
    private static let ids = ["NULL", "'0'", "'7'", "'18446744073709551615'", "'9223372036854775808'"]
    private static let texts = ["NULL", "''", "'T'", "'7'", "'x''ff'", "'x''ff'''", "E'\\u0001'", "E'\\u0002'"]
    private static let arrays = ["NULL", "'{}'", "'{NULL}'", "'{a}'", "'{{1,2},{3,4}}'", "'[5:6]={1,NULL}'"]
    private static let dates = ["NULL", "'infinity'", "'-infinity'", "'0001-01-01 BC'"]
    private static let reals = ["NULL", "'NaN'", "'Infinity'", "'-Infinity'", "-1e300"]

    /// The values by the columns that they are written into.
    private static let hostile: KeyValuePairs<String, [String]> = [
      "concord_changes.xid": ids, "concord_changes.at": dates, "concord_changes.entity": texts,
      "concord_changes.keys": arrays, "concord_changes.session": texts,
      "concord_state.epoch": ["'00000000-0000-0000-0000-000000000000'"], "concord_state.trimmed": ids,
      "concord_state.version": numbers,
      "concord_history.number": numbers, "concord_history.xid": ids, "concord_history.entity": texts,
      "concord_history.key": texts, "concord_history.is_row": ["true", "false"], "concord_history.before": arrays,
      "concord_history.target": texts + ["'Progress'", "'Listed'"], "concord_history.added": texts,
      "concord_feed.epoch": numbers, "concord_feed.merged": numbers + nearEnds, "concord_feed.kept": numbers + nearEnds,
      "concord_feed.forgotten": ids, "concord_feed.begun": ids, "concord_feed_columns.columns": texts,
      "concord_feed_columns.entity": texts,
      "concord_outbox.number": numbers, "concord_outbox.key": texts, "concord_outbox.action": texts,
      "concord_outbox.entity": texts, "concord_outbox.id": texts, "concord_outbox.body": texts,
      "concord_outbox.state": texts, "concord_outbox.reason": texts, "concord_outbox.forwarded": reals,
      "concord_outbox.version": numbers,
      "concord_outbox_state.epoch": numbers, "concord_outbox_state.version": numbers + nearEnds,
      "concord_outbox_state.forgotten": numbers, "concord_outbox_state.cleared": numbers,
      "concord_notes.space": texts, "concord_notes.name": texts, "concord_notes.value": texts,
      "concord_deletions.table": texts, "concord_deletions.key": texts, "concord_deletions.stamp": reals,
      "concord_deletions.at": dates,
    ]

    private static func action(_ key: String = UUID().uuidString) -> OutboxRow {
      OutboxRow(key: key, action: "rename", entity: "Progress", id: .integer(1), body: "{}", forwarded: 0)
    }

    @Test("The worst is a typed error, and nothing traps")
    func worst() throws {
      // One that does not wait for a disk.
      let server = try PostgreSQLServer(isFast: true)
      defer { try? server.stop() }
      for table in Set(Self.hostile.map { String($0.key.prefix { $0 != "." }) }).sorted() {
        try worst(table, Fleet(server))
      }
    }

    private func worst(_ table: String, _ fleet: Fleet) throws {
      let model = try Model("Own", entities: [Progress.self, Listed.self])
      func open() throws -> PostgreSQLStore {
        var options = PostgreSQLOptions(connection: fleet.server.url, schema: fleet.schema)
        options.pollInterval = 0.02
        return try PostgreSQLStore(name: "Own", options, model: model, entities: model.entities)
      }
      let made = try open()
      try made.startFeed(FeedLimits(changes: 3, rows: 2))
      let position = try made.read { try $0.position() }
      let context = try made.context(model)
      for last in 1...3 {
        for id in 1...3 { context.insert(Progress(id: id, last: last)) }
        context.insert(Listed(id: 1, lines: ["\(last)"]))
        try context.save()
      }
      try context.delete(Progress.self, id: 3)
      try context.save()
      try made.write(origin: nil) { writing in
        _ = try writing.writeOutbox(Self.action("k"))
        try writing.setNote("1", for: NoteName("space", "name"))
      }
      try made.close()
      try fleet.sql("CREATE TABLE kept AS SELECT * FROM \(table)")
      try #require(fleet.sql("SELECT count(*) FROM kept") != "0")
      let all = Self.hostile.filter { $0.key.hasPrefix("\(table).") }.flatMap { column, values in
        values.map { "UPDATE \(table) SET \"\(column.dropFirst(table.count + 1))\" = \($0)" }
      }
      #expect(try use(try open(), fleet, model, position) == 0)
      var (written, failures) = (0, 0)
      for statement in all + ["DELETE FROM \(table)"] {
        let isWritten = try? fleet.sql(
          """
          SET session_replication_role TO replica;
          DELETE FROM \(table); INSERT INTO \(table) OVERRIDING SYSTEM VALUE SELECT * FROM kept; \(statement)
          """)
        // Many columns refuse some of the values.
        guard isWritten != nil else { continue }
        written += 1
        do { failures += try use(try open(), fleet, model, position) } catch {
          #expect(error is StoreError, "\(statement): \(error)")
          failures += 1
        }
      }
      #expect(written > all.count / 4)
      print("own tables of a fleet: \(table), \(written) of \(all.count + 1) values, \(failures) failures")
    }

    /// Does with a store what a server and a device do.
    ///
    /// - Returns: the number of steps that have failed.
    private func use(_ store: PostgreSQLStore, _ fleet: Fleet, _ model: Model, _ position: StorePosition) throws -> Int
    {
      defer { try? store.close() }
      let told = Told(store)
      func trim() throws {
        var count = 0
        while count <= 100, try store.trimFeed() { count += 1 }
        #expect(count <= 100)
      }
      let progress = try model.entity(Progress.self)
      let keys = (1...3).map { EntityKey(progress, .integer($0)) }
      let steps: [() throws -> Void] = [
        { _ = try store.read { try $0.position() } },
        {
          guard let changes = try store.read({ try $0.changes(since: position, of: nil, limit: 100) }) else { return }
          // Whoever evaluates a condition on a row as it was counts on its columns.
          for change in changes.rows {
            if let before = change.before { #expect(before.count == change.key.entity.columns.count) }
          }
        },
        { _ = try store.read { try $0.changed(keys, since: position) } },
        { try trim() },
        { try store.startFeed(FeedLimits(changes: 3, rows: 2)) },
        { try trim() },
        { _ = try store.read { try $0.outbox(after: nil) } },
        { _ = try store.read { try $0.outbox(after: OutboxVersion(epoch: 1, number: 1)) } },
        { _ = try store.write(origin: nil) { try $0.writeOutbox(Self.action()) } },
        { try store.read { try $0.notes(in: "space", after: nil) { _, _ in true } } },
        { _ = try store.read { try $0.deletion(of: keys[2]) } },
        {
          try store.write(origin: nil) { writing in
            _ = try writing.insert(fleet.row(3, 9, stamp: 9), for: EntityKey(progress, .integer(3)))
          }
        },
        {
          try fleet.sql("INSERT INTO \"Listed\" (id, lines, _stamp) VALUES (9, 0, 1) ON CONFLICT DO NOTHING")
          store.settle()
        },
      ]
      var failures = 0
      for step in steps {
        do { try step() } catch {
          #expect(error is StoreError, "\(error)")
          failures += 1
        }
      }
      withExtendedLifetime(told) {}
      return failures
    }
  }
#endif
