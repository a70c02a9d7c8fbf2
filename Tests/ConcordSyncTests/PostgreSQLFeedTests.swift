#if Server && PostgreSQL
  import Concord
  import Foundation
  import Testing

  @testable import ConcordPostgreSQL
  @testable import ConcordServer

  /// What a database keeps for synchronisation beside what all stores do.
  @Suite(.enabled(if: Kind.database != nil), .timeLimit(.minutes(TestOptions.isLong ? 15 : 3)))
  struct PostgreSQLFeedTests {
    private func options(_ schema: String) -> PostgreSQLOptions {
      PostgreSQLOptions(connection: Kind.database ?? "", schema: schema)
    }

    func store(_ schema: String, _ model: Model, _ entities: [EntityDescription]? = nil) throws
      -> PostgreSQLStore
    {
      try PostgreSQLStore(name: "Shop", options(schema), model: model, entities: entities ?? model.entities)
    }

    func put(_ id: Int, _ title: String, in store: any RowStore, _ model: Model) throws {
      let key = EntityKey(try #require(model.entity(named: "Book")), .integer(Int64(id)))
      let row = StoredRow(values: [.integer(Int64(id)), .text(title), .integer(1)], collections: [], stamp: 1)
      try store.write(origin: nil) { writing in
        if let old = try writing.row(of: key) {
          try writing.update(row, replacing: old, for: key)
        } else {
          _ = try writing.insert(row, for: key)
        }
      }
    }

    @Test("Whatever other programs write, in transactions of any length, the feed tells each change from each position")
    func randomWriters() throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 40 : 4, from: .random(in: 1...1_000_000)) {
        let model = try shopModel()
        let store = try store(Kind.newSchema(), model)
        try DatabaseRun(seed: seed, store: store, model: model).run()
        try store.close()
      }
    }

    @Test("A position that is older than a transaction that is still open stays good, and goes on to it when it ends")
    func openTransactions() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      // One that has nothing to do with it, and is older.
      let other = try store.pool.connect()
      try other.run([.once("BEGIN"), .once("SELECT pg_current_xact_id()")])
      try store.startFeed()
      let open = try store.pool.connect()
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Book\" VALUES (1, 'open', 1, 1)")])
      try put(2, "two", in: store, model)
      let position = try store.read { try $0.position() }
      try put(3, "three", in: store, model)
      func keys() throws -> [StoredValue]? {
        let changes = try store.read { try $0.changes(since: position) }
        return changes?.rows.map(\.key.id)
      }
      #expect(try keys() == [.integer(3)])
      try open.run([.once("COMMIT")])
      #expect(try keys() == [.integer(1), .integer(3)])
      let late = try store.read { try $0.position() }
      // A transaction that is rolled back moves nothing.
      try open.run([.once("BEGIN"), .once("INSERT INTO \"Book\" VALUES (9, 'nine', 1, 1)"), .once("ROLLBACK")])
      #expect(try store.read { try $0.position() } == late)
      try store.close()
    }

    #if os(Linux)
      @Test("A large row that was changed often is read once as it was, whatever the number of its changes")
      func largeRows() throws {
        let model = try shopModel()
        let store = try store(Kind.newSchema(), model)
        try store.startFeed()
        try put(1, "1", in: store, model)
        let position = try store.read { try $0.position() }
        let other = try store.pool.connect()
        for number in 2...200 {
          try other.run([.once("UPDATE \"Book\" SET title = '\(number)' || repeat('x', 1000000)")])
        }
        func peak() throws -> Int {
          let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
          let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
          return try #require(line.flatMap { Int($0.filter(\.isNumber)) }) * 1024
        }
        let before = try peak()
        let changes = try #require(try store.read { try $0.changes(since: position) })
        #expect(changes.rows.map(\.before) == [[.integer(1), .text("1"), .integer(1)]])
        let growth = try peak() - before
        #expect(growth < 50_000_000, "\(growth) bytes for a row of a million")
        try store.close()
      }
    #endif

    @Test("Old changes are forgotten some at a time: first the rows as they were, then the keys")
    func forgetting() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      try store.startFeed(FeedLimits(changes: 20, rows: 40))
      var positions: [StorePosition] = []
      for number in 0..<200 {
        // Few rows at first, which are written again and again, and then many.
        try put(number < 120 ? number % 10 : number, "\(number)", in: store, model)
        positions.append(try store.read { try $0.position() })
        if number % 10 == 0 { while try store.trimFeed() {} }
      }
      while try store.trimFeed() {}
      func changes(_ index: Int) throws -> RowChanges? { try store.read { try $0.changes(since: positions[index]) } }
      // Of the changes before the last 20, the last 40 rows are known. Each was changed once, so none as it was is forgotten.
      #expect(try changes(100) == nil && changes(130) == nil)
      #expect(try changes(150)?.rows.count == 49)
      #expect(try changes(199)?.rows.isEmpty == true)
      // The rows as they were: two changes of one row, of which the earlier one is forgotten.
      try store.startFeed(FeedLimits(changes: 0, rows: 1000))
      let begin = try store.read { try $0.position() }
      for number in 0..<3 { try put(5, "again \(number)", in: store, model) }
      while try store.trimFeed() {}
      let keys = try (4...6).map { EntityKey(try model.entity(Book.self), .integer($0)) }
      let (all, changed) = try store.read { (try $0.changes(since: begin), try $0.changed(keys, since: begin)) }
      #expect(all == nil && changed == [keys[1]])
      try store.close()
    }

    /// The number of changes that are read for a question.
    private func changesRead(in store: PostgreSQLStore, _ question: (any RowReading) throws -> Void) throws -> Int {
      try store.read { reading in
        let session = try #require(reading as? PostgreSQLSession)
        func count() throws -> Int {
          let result = try session.run([
            .init(
              sql: """
                SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
                WHERE relid = 'concord_history'::regclass
                """)
          ])[0]
          return Int(result.integer(0, 0))
        }
        let before = try count()
        try question(reading)
        return try count() - before
      }
    }

    @Test("Of a position of which the rows as they were are forgotten no change is read")
    func forgottenRows() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      try store.startFeed(FeedLimits(changes: 5))
      let other = try store.pool.connect()
      try other.run([.once("INSERT INTO \"Book\" SELECT n, 'a', 1, 1 FROM generate_series(1, 2000) AS n")])
      let position = try store.read { try $0.position() }
      for _ in 0..<2 { try other.run([.once("UPDATE \"Book\" SET stock = stock + 1")]) }
      while try store.trimFeed() {}
      let book = try model.entity(Book.self)
      let read = try changesRead(in: store) { reading in
        let changes = try KnownChanges(since: position, of: [book], limit: 20_000, reading)
        guard case .byRow(since: position) = changes else {
          Issue.record("\(changes)")
          return
        }
        let key = EntityKey(book, .integer(7))
        #expect(try reading.changed([key], since: position) == [key])
      }
      // The state of the feed is read thrice, with the last change.
      #expect(read <= 10, "\(read) changes were read")
      try store.close()
    }

    @Test(
      "Whether some rows have changed costs the same, however many other rows have, and however often they had before")
    func changedRows() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      try store.startFeed()
      let other = try store.pool.connect()
      func update(_ condition: String, times: Int = 1) throws {
        for _ in 0..<times { try other.run([.once("UPDATE \"Book\" SET stock = stock + 1 WHERE \(condition)")]) }
      }
      try other.run([.once("INSERT INTO \"Book\" SELECT n, 'a', 1, 1 FROM generate_series(1, 3000) AS n")])
      // A row that was changed often is asked about, too.
      try update("id = 1", times: 500)
      let position = try store.read { try $0.position() }
      try update("id = 2")
      let book = try #require(model.entity(named: "Book"))
      let keys = (1...3).map { EntityKey(book, .integer($0)) }
      func read() throws -> Int {
        try changesRead(in: store) { reading in
          let changed = try reading.changed(keys, since: position)
          #expect(changed == [keys[1]])
        }
      }
      let few = try read()
      for _ in 0..<5 { try update("id > 3") }
      // Those of another type may have the same ids.
      try other.run([.once("INSERT INTO \"Label\" SELECT n, 1, 'n' || n, 1 FROM generate_series(1, 3) AS n")])
      for _ in 0..<500 { try other.run([.once("UPDATE \"Label\" SET owner = owner + 1")]) }
      let many = try read()
      // One for each row that has changed, and what the position of the state takes.
      #expect(few <= 10 && many <= few, "\(few) and \(many) changes were read")
      // Statistics do not lead it astray.
      try other.run([.once("ANALYZE concord_history")])
      let analysed = try read()
      #expect(analysed <= few + 10, "\(few), \(many) and \(analysed) changes were read")
      #expect(try store.read { try $0.changes(since: position, of: nil, limit: 100) } == nil)
      try store.close()
    }

    @Test("A feed whose triggers were incomplete begins anew, and a migration takes it along")
    func beginningAnew() throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let first = try store(schema, model)
      try first.startFeed()
      let position = try first.read { try $0.position() }
      // The same triggers, by another program.
      let second = try store(schema, model)
      try second.startFeed()
      #expect(try second.read { try $0.changes(since: position) }?.rows.isEmpty == true)
      let connection = try first.pool.connect()
      try connection.run([.once("DROP TRIGGER concord_feed_update ON \"Book\"")])
      try second.startFeed()
      #expect(try second.read { try $0.changes(since: position) } == nil)
      let later = try second.read { try $0.position() }
      try put(1, "one", in: second, model)
      #expect(try second.read { try $0.changes(since: later) }?.rows.count == 1)
      // Another model has another column.
      try first.close()
      try second.close()
      let newer = try Model("Shop", entities: [ThickBook.self])
      let third = try store(schema, newer)
      #expect(try third.read { try $0.changes(since: later) } == nil)
      let now = try third.read { try $0.position() }
      try connection.run([.once("UPDATE \"Book\" SET title = 'new'")])
      let before = try third.read { try $0.changes(since: now) }?.rows.first?.before
      #expect(before == [.integer(1), .text("one"), .integer(1), .integer(0)])
      try third.close()
    }

    @Test("Of servers that begin the feed at once, one does, and the positions that it gives stay good")
    func beginningAtOnce() async throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let stores = try (0..<3).map { _ in try store(schema, model) }
      let connection = try stores[0].pool.connect()
      // All have seen that there is no feed, and wait.
      try connection.run([
        .once("BEGIN"), .once("SELECT pg_advisory_xact_lock(hashtextextended('concord.\(schema)', 0))"),
      ])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for store in stores {
          group.addTask {
            try await withCheckedThrowingContinuation { continuation in
              Thread.detachNewThread { continuation.resume(with: Result { try store.startFeed() }) }
            }
          }
        }
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
        #expect(try await eventually { try connection.query(waiting).integer(0, 0) == 3 })
        try connection.run([.once("COMMIT")])
        try await group.waitForAll()
      }
      // The first beginning inserts this row, and each of them updates it.
      #expect(try connection.query("SELECT ctid::text FROM concord_feed").text(0, 0) == "(0,2)")
      for store in stores { try store.close() }
    }

    @Test(
      "A key that two transactions change at once is told, in whatever order they end, also when earlier changes are forgotten"
    )
    func mergedChanges() throws {
      let model = try shopModel()
      let cart = EntityKey(try #require(model.entity(named: "Cart")), .integer(1))
      for isFirstLater in [true, false] {
        let store = try store(Kind.newSchema(), model)
        try store.startFeed(FeedLimits(changes: 0, rows: 1000))
        let connections = try (0..<2).map { _ in try store.pool.connect() }
        try connections[0].run([
          .once("INSERT INTO \"Cart\" (id, owner, note, weight, lines, _stamp) VALUES (1, 1, '', 0, 0, 1)"),
          .once("INSERT INTO \"Line\" (id, text, _stamp) VALUES ('a', '', 1), ('b', '', 1)"),
        ])
        for (number, line) in ["a", "b"].enumerated() {
          try connections[number].run([
            .once("BEGIN"),
            .once("INSERT INTO \"Cart_lines\" (_owner, _position, lines) VALUES (1, \(number), '\(line)')"),
          ])
        }
        let (early, late) = isFirstLater ? (1, 0) : (0, 1)
        try connections[early].run([.once("COMMIT")])
        let position = try store.read { try $0.position() }
        try connections[late].run([.once("COMMIT")])
        try put(7, "another", in: store, model)
        while try store.trimFeed() {}
        let changed = try store.read { try $0.changed([cart], since: position) }
        #expect(changed.map { $0 == [cart] } ?? true)
        try store.close()
      }
    }

    @Test("All rows of a table may go at once, and positions of before are void")
    func truncation() throws {
      let model = try shopModel()
      let store = try store(Kind.newSchema(), model)
      try store.startFeed()
      try put(1, "one", in: store, model)
      let position = try store.read { try $0.position() }
      try store.pool.connect().run([.once("TRUNCATE \"Book\"")])
      #expect(try store.read { try $0.changes(since: position) } == nil)
      try store.close()
    }

    @Test("A role without rights to make tables follows a feed that an administrator has made")
    func roles() throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let url = try #require(Kind.database)
      let role = "device-\(UUID().uuidString.prefix(8).lowercased())"
      try run("CREATE ROLE \(identifier(role)) LOGIN", at: url.replacing("shop@", with: "owner@"))
      func store() throws -> PostgreSQLStore {
        try PostgreSQLStore(
          name: "Shop", PostgreSQLOptions(connection: url.replacing("shop@", with: "\(role)@"), schema: schema),
          model: model, entities: model.entities)
      }
      try run(PostgreSQLStore.sql(for: model, schema: schema, role: role), at: url)
      let unfollowed = try store()
      let error = #expect(throws: PostgreSQLRightsError.self) { try unfollowed.startFeed() }
      #expect(error?.sql.contains("concord_history") == true)
      try unfollowed.close()
      try run("DROP SCHEMA \(identifier(schema)) CASCADE", at: url)
      try run(PostgreSQLStore.sql(for: model, schema: schema, role: role, isFollowed: true), at: url)
      let followed = try store()
      try followed.startFeed()
      let position = try followed.read { try $0.position() }
      try put(1, "one", in: followed, model)
      try followed.write(origin: nil) { try $0.setNote("x", for: NoteName("a", "b")) }
      #expect(try followed.read { try $0.changes(since: position) }?.rows.count == 1)
      while try followed.trimFeed() {}
      try followed.close()
    }

    @Test("Positions of a database are void in one that was filled from its dump")
    func restoring() throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let url = try #require(Kind.database)
      let first = try store(schema, model)
      try first.startFeed()
      try put(1, "one", in: first, model)
      let dump = Process()
      dump.executableURL = URL(filePath: "/usr/bin/env")
      dump.arguments = ["pg_dump", "--schema=\(identifier(schema))", url]
      let output = Pipe()
      dump.standardOutput = output
      try dump.run()
      let script = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      dump.waitUntilExit()
      try #require(dump.terminationStatus == 0)
      // What the dump does not have.
      try put(1, "two", in: first, model)
      let position = try first.read { try $0.position() }
      try first.close()
      try run("ALTER SCHEMA \(identifier(schema)) RENAME TO \(identifier(schema + "-old"))", at: url)
      try run(script, at: url)
      let second = try store(schema, model)
      try second.startFeed()
      #expect(try second.read { try $0.changes(since: position) } == nil)
      let now = try second.read { try $0.position() }
      try put(1, "three", in: second, model)
      let change = try second.read { try $0.changes(since: now) }?.rows.first
      #expect(change?.before == [.integer(1), .text("one"), .integer(1)])
      try second.close()
    }

    @Test("A database that was filled from the dump of an older cluster is followed as any other")
    func olderCluster() throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let url = try #require(Kind.database)
      let first = try store(schema, model)
      try first.startFeed()
      for turn in 1...3 { try put(1, "\(turn)", in: first, model) }
      try first.close()
      // As they would be there.
      let later = "+ 1000000000)::text::xid8"
      try run(
        """
        SET search_path TO \(identifier(schema));
        UPDATE concord_history SET xid = (xid::text::bigint \(later);
        UPDATE concord_changes SET xid = (xid::text::bigint \(later);
        UPDATE concord_feed SET forgotten = (forgotten::text::bigint \(later), begun = (begun::text::bigint \(later);
        UPDATE concord_state SET trimmed = (trimmed::text::bigint \(later);
        """, at: url)
      let second = try store(schema, model)
      #expect(throws: StoreError.self) { try second.read { try $0.position() } }
      try second.startFeed()
      let now = try second.read { try $0.position() }
      try put(1, "four", in: second, model)
      let change = try second.read { try $0.changes(since: now) }?.rows.first
      #expect(change?.before == [.integer(1), .text("3"), .integer(1)])
      let left = try second.read { _ in
        try second.pool.with { try $0.query("SELECT count(*) FROM concord_changes WHERE xid >= '1000000000'") }
      }
      #expect(left.integer(0, 0) == 0)
      try second.close()
    }

    @Test(
      "A feed whose triggers are not all there, or sleep, gives no positions",
      arguments: ["DROP TRIGGER concord_feed_update ON", "ALTER TABLE"])
    func incomplete(_ command: String) throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let url = try #require(Kind.database)
      let first = try store(schema, model)
      try first.startFeed()
      _ = try first.read { try $0.position() }
      try first.close()
      let rest = command == "ALTER TABLE" ? " DISABLE TRIGGER concord_feed_update" : ""
      try run("\(command) \(identifier(schema)).\"Book\"\(rest)", at: url)
      let second = try store(schema, model)
      #expect(throws: StoreError.self) { try second.read { try $0.position() } }
      try second.startFeed()
      _ = try second.read { try $0.position() }
      try second.close()
    }

    @Test("A state that is being written has no position, and says so")
    func writing() throws {
      let (model, schema) = (try shopModel(), Kind.newSchema())
      let store = try store(schema, model)
      try store.startFeed()
      try put(1, "one", in: store, model)
      let key = EntityKey(try model.entity(Book.self), .integer(1))
      try store.write(origin: nil) { writing in
        _ = try writing.position()
        try writing.delete(key)
        do {
          _ = try writing.position()
          Issue.record("there is one")
        } catch let StoreError.storeFailed(_, reason) {
          #expect(reason.contains("being written"), "\(reason)")
        }
      }
      #expect(try store.read { try $0.row(of: key) } == nil)
      try store.close()
    }

    private func run(_ sql: String, at url: String) throws {
      let psql = Process()
      psql.executableURL = URL(filePath: "/usr/bin/env")
      psql.arguments = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", url]
      let input = Pipe()
      psql.standardInput = input
      try psql.run()
      input.fileHandleForWriting.write(Data(sql.utf8))
      try input.fileHandleForWriting.close()
      psql.waitUntilExit()
      try #require(psql.terminationStatus == 0)
    }
  }
#endif
