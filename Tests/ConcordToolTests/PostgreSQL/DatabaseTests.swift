#if Tool && PostgreSQL
  import ConcordPersistence
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @testable import ConcordPostgreSQL

  @Suite("concord over PostgreSQL", .serialized, .enabled(if: PostgreSQLServer.isInstalled))
  struct DatabaseTests {
    @Test("What goes from a file to a database and back is the same to the bit, whatever the values and names are")
    func thereAndBack() throws {
      let seed = UInt64.random(in: .min ... .max)
      var random = ToolRandom(seed: seed)
      try withFolder { folder in
        let file = try makeOdd(folder, 60, &random)
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { db in
          try db.execute(
            sql: "UPDATE Huge SET _stamp = -9e999 WHERE id = 1; UPDATE Huge SET _stamp = 9e999 WHERE id = 2")
        }
        try queue.close()
        let exported = try Tool.run("export", file.path)
        #expect(exported.status == 0 && exported.lines.count > 60, "\(exported.error)")
        let database = try Database(oddModel())
        let imported = try database.run("import", input: exported.output)
        #expect(imported.status == 0, "seed \(seed): \(imported.error)")
        let back = try database.run("export")
        #expect(back.status == 0, "\(back.error)")
        #expect(back.lines == exported.lines, "seed \(seed)")
        #expect(back.output == exported.output)
        let copy = folder.appending(path: "Copy.sqlite")
        try withFile(oddModel(), at: copy) { _ in }
        #expect(try Tool.run(["import", copy.path], input: Data(back.output.utf8)).status == 0)
        #expect(try Tool.run("export", copy.path).output == exported.output, "seed \(seed)")
        // Over what is there, as a whole or not at all.
        let again = try database.run("import", input: exported.output)
        #expect(again.status == 65 && again.error.contains("line 2: "), "\(again.error)")
        let replaced = try database.run("import", "--replace", input: exported.output)
        #expect(replaced.status == 0, "seed \(seed): \(replaced.error)")
        #expect(try database.run("export").output == exported.output, "seed \(seed)")
        let checked = try database.run("check")
        #expect(checked.status == 0, "seed \(seed): \(checked.output)\(checked.error)")
        // The app reads the same.
        let originals = try withFile(oddModel(), at: file) { try $0.fetch(FetchDescriptor<Odd>()).map(\.id) }
        let ids = try database.with { try $0.newBackgroundContext().fetch(FetchDescriptor<Odd>()).map(\.id) }
        #expect(Set(ids) == Set(originals) && ids.count == originals.count)
      }
    }

    @Test("A list is the same over a database as over a file, whatever the condition, the order and the range are")
    func sameLists() throws {
      let seed = UInt64.random(in: .min ... .max)
      var random = ToolRandom(seed: seed)
      try withFolder { folder in
        let file = try makeOdd(folder, 40, &random)
        let database = try Database(oddModel())
        #expect(try database.run("import", input: try Tool.run("export", file.path).output).status == 0)
        for _ in 0..<(TestOptions.isLong ? 1000 : 6) {
          var options = ["--where", condition(2, &random), "--json"]
          let columns = (0..<random.pick([0, 1, 2])).map { _ in
            "\(random.pick(Self.columns)) \(random.pick(["", "desc", "asc"]))"
          }
          if !columns.isEmpty { options += ["--sort", columns.joined(separator: ", ")] }
          if random.pick([true, false]) {
            options += ["--limit", "\(random.pick([0, 1, 7]))", "--offset", "\(random.pick([0, 1, 9]))"]
          }
          let expected = try Tool.run(["list", file.path, Odd.entityName] + options)
          let found = try database.run("list", [Odd.entityName] + options)
          #expect(expected.status == 0, "seed \(seed) \(options): \(expected.error)")
          #expect(found.status == 0, "seed \(seed) \(options): \(found.error)")
          #expect(found.output == expected.output, "seed \(seed) \(options)")
        }
      }
    }

    private static let columns = [
      "id", "xmin", "flag", "float", "real", "text", "quo\"ted' \\", "code", "price", Odd.longName, Odd.otherLongName,
      "date", "link", "many", "byName", "jacket", "jacket_cover", "jacket_weight",
    ]

    private func value(_ random: inout ToolRandom) -> String {
      func quoted(_ text: String) -> String {
        // No program gets an argument with a NUL.
        "'\(text.replacing("\0", with: "").replacing("'", with: "''"))'"
      }
      let numbers = ["0", "1", "5", "-5", "5.0", "1.5", "9223372036854775807", "9007199254740993", "1e300", "-0.5"]
      return random.pick([
        "null", "true", random.pick(numbers), quoted(random.text()), quoted(random.text()), "x'00'", "x'35'",
        "'00000000-0000-0000-0000-000000000000'", "'8'", "'18446744073709551615'",
      ])
    }

    private func condition(_ depth: Int, _ random: inout ToolRandom) -> String {
      if depth > 0, random.pick([true, false]) {
        let sides = [condition(depth - 1, &random), condition(depth - 1, &random)]
        return "(\(sides[0]) \(random.pick(["and", "or"])) not \(sides[1]))"
      }
      let column = "`\(random.pick(Self.columns))`"
      return switch random.pick([0, 1, 1, 1, 2, 3]) {
      case 0: "\(column) is \(random.pick(["", "not "]))null"
      case 1: "\(column) \(random.pick(["=", "!=", "<", "<=", ">", ">="])) \(value(&random))"
      case 2: "\(column) \(random.pick(["contains", "starts with", "ends with"])) \(value(&random))"
      default: "\(column) in (\(value(&random)), \(value(&random)))"
      }
    }

    @Test("An app's live query sees what is imported, and imported unique values are compared with what it saves")
    func seen() throws {
      let database = try Database(shopModel())
      try database.with { container in
        let query = try container.viewContext.query(FetchDescriptor<Author>())
        let lines = """
          {"table":"Author","row":{"id":"HM","name":"Herman Melville"}}
          {"table":"Book","row":{"id":"new","title":"t","year":1,"isbn":"e\\u0301","author":"HM","reviews":0}}
          """
        let dry = try database.run("import", "--dry-run", input: lines)
        #expect(dry.output == "would import 2 rows\n  Author: 1\n  Book: 1\n", "\(dry.error)")
        #expect(try database.run("list", "Author").lines.count == 1)
        let imported = try database.run("import", input: lines)
        #expect(imported.status == 0, "\(imported.error)")
        let end = Date(timeIntervalSinceNow: 10)
        while query.value.isEmpty, Date() < end { Thread.sleep(forTimeInterval: 0.01) }
        #expect(query.value.map(\.id) == ["HM"])
        let context = container.newBackgroundContext()
        let book = try #require(try context.find(Book.self, id: "new"))
        #expect(book.isbn?.unicodeScalars.count == 2)
        context.insert(Book(id: "other", title: "t", year: 1, isbn: "\u{e9}", author: book.author))
        #expect(throws: (any Error).self) { try context.save() }
      }
      // And with what is there.
      let same = #"{"table":"Book","row":{"id":"B","title":"t","year":1,"isbn":"\u00e9","author":"HM","reviews":0}}"#
      let refused = try database.run("import", input: "\n\(same)")
      #expect(refused.status == 65)
      #expect(refused.error.contains("line 2: another row has a Book.isbn that equals"), "\(refused.error)")
      // Replaced, it makes room.
      let other = #"{"table":"Book","row":{"id":"new","title":"t","year":1,"isbn":null,"author":"HM","reviews":0}}"#
      #expect(try database.run("import", "--replace", input: "\(other)\n\(same)").status == 0)
    }

    @Test("Imported values of the program's own type are compared when a program attaches next")
    func ownType() throws {
      let database = try Database(Model("Tags", entities: [Tagged.self]))
      let line = #"{"table":"Tagged","row":{"id":1,"tag":"A"}}"#
      #expect(try database.run("import", input: line).status == 0)
      func isFilled() throws -> String { try database.sql("SELECT is_filled FROM concord_tables") }
      #expect(try isFilled() == "f")
      try database.with { container in
        let context = container.newBackgroundContext()
        context.insert(Tagged(id: 2, tag: Tag("a")))
        #expect(throws: (any Error).self) { try context.save() }
      }
      #expect(try isFilled() == "t")
    }

    @Test("A wrong row imports nothing, and the error says which line")
    func wrongRows() throws {
      let database = try Database(shopModel())
      let good = #"{"table":"Author","row":{"id":"GE","name":"George Eliot"}}"#
      let wrong = [
        (#"{"table":"Author","row":{"id":"A"}}"#, "line 3: null value in column \"name\""),
        (#"{"table":"Author","row":{"id":"GE","name":"x"}}"#, "line 3: duplicate key"),
        (#"{"table":"Review","row":{"id":"x","text":"x"}}"#, "line 3: Review.id is bigint, which cannot keep"),
        (
          #"{"table":"Author","row":{"id":"A","name":{"$bytes":"/w=="}}}"#,
          "line 3: Author.name: the server keeps no text"
        ),
        (#"{"table":"Author","row":{"id":"A","nmae":"x"}}"#, "line 3: Author has no column 'nmae'"),
        (
          #"{"table":"Book","row":{"id":"B","title":"t","year":1,"author":"nobody","reviews":0}}"#,
          "violates foreign key constraint \"Book.author->Author\""
        ),
      ]
      for (line, message) in wrong {
        let result = try database.run("import", input: "\(good)\n\n\(line)\n")
        #expect(result.status == 65, "\(result.error)")
        #expect(result.error.contains(message), "\(result.error)")
        #expect(result.error.count { $0 == "\n" } == 1)
      }
      #expect(try database.run("list", "Author").lines == ["id\tname"])
    }

    @Test("Info tells rows, types, indexes and sizes")
    func info() throws {
      let database = try Database(shopModel())
      let lines = try database.run("info").lines
      #expect(lines[0].hasPrefix("postgresql://127.0.0.1:\(database.server.port)/shop: "), "\(lines[0])")
      #expect(lines.contains { $0.hasPrefix("Book: 0 rows, ") && $0.hasSuffix("kB") })
      #expect(lines.contains("  year bigint indexed"))
      #expect(lines.contains("  isbn text optional unique"))
      #expect(lines.contains("  author text indexed → Author"))
      #expect(lines.contains("  reviews bigint → 0 in Book_reviews (Review)"), "\(lines)")
      #expect(lines.contains("  id bytea key"))
    }

    @Test("A check finds references that lead nowhere, wrong collections, and what is missing of the tables")
    func check() throws {
      let database = try Database(shopModel())
      try database.with { container in
        let context = container.newBackgroundContext()
        context.insert(
          Book(id: "B", title: "t", year: 1, author: Author(id: "A", name: "n"), reviews: [Review(id: 1, text: "r")]))
        try context.save()
      }
      #expect(try database.run("check").status == 0)
      try database.sql(
        """
        ALTER TABLE "Book" DROP CONSTRAINT "Book.author->Author"; DELETE FROM "Author"; \
        ALTER TABLE "Book_reviews" DISABLE TRIGGER concord_insert; \
        INSERT INTO "Book_reviews" VALUES ('B', 2, 7); DROP INDEX "Book.year"; DROP TRIGGER concord_update ON "Author"; \
        ALTER TABLE "Review" ADD COLUMN more text; \
        INSERT INTO concord_outbox VALUES (1, 'k', 'a', 'e', NULL, '{', 'pending', NULL, 0, 1), (2, 'l', 'a', 'e', NULL, '1', 'odd', NULL, 0, 1)
        """)
      let result = try database.run("check")
      #expect(result.status == 1)
      for problem in [
        "Book.author refers to a Author that is not there: 1 row", "    B → A",
        "Book lacks the foreign key Book.author->Author", "Book lacks the index Book.year",
        "Author lacks the trigger concord_update", "the trigger concord_insert of Book_reviews is disabled",
        "Book_reviews has gaps between elements", "Book.reviews is not the number of its elements",
        "Book_reviews.reviews refers to a Review that is not there", "Review has more, which was not noted",
        "concord_outbox has actions that cannot be read", "concord_outbox has actions in a state that is not known",
      ] {
        #expect(result.output.contains(problem), "\(problem) is not in \(result.output)")
      }
    }

    @Test("A check tells the triggers that others have made, and not those of the feed")
    func triggers() throws {
      let database = try Database(memoModel())
      let options = PostgreSQLOptions(connection: database.url, schema: database.schema)
      let store = try PostgreSQLStore(
        name: "Memos", options, model: database.model, entities: database.model.entities)
      defer { try? store.close() }
      try store.startFeed()
      #expect(try database.run("check").output == "✓ nothing found\n")
      try database.sql(
        """
        CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER mine AFTER INSERT ON "Memo" FOR EACH ROW EXECUTE FUNCTION nothing()
        """)
      let output = try database.run("check").output
      #expect(output.contains("– triggers run when it is written to, none of them Concord's: mine\n"), "\(output)")
    }

    @Test("An explanation is the statement, and how the server goes about it")
    func explanation() throws {
      let database = try Database(shopModel())
      let lines = try database.run("list", "Book", "--where", "author = 'JA'", "--explain").lines
      #expect(lines.count > 2 && lines[1].hasPrefix("SELECT"), "\(lines)")
      #expect(lines.contains { $0.contains("\"Book.author\"") || $0.contains("Seq Scan") })
      #expect(
        lines.contains { $0 == "Book: a search in the index Book.author" || $0 == "Book: a scan of all rows" },
        "\(lines)")
      let mixed = try database.run("list", "Book", "--where", "author = 5", "--explain").lines
      #expect(mixed.last?.hasPrefix("of these rows, here: SELECT") == true, "\(mixed)")
    }

    // MARK: Failures

    @Test("A server that is down is told in a line with its host and port, and no output has the password")
    func down() throws {
      let port = try PostgreSQLServer.freePort()
      let url = "postgresql://shop:se%3Acre%40t@127.0.0.1:\(port)/shop"
      let commands: [[String]] = [
        ["info", url], ["list", url, "Book"], ["check", url], ["export", url], ["import", url, "/dev/null"],
        ["schema", "--postgresql", url],
      ]
      for command in commands {
        let result = try Tool.run(command)
        #expect(result.status == 66, "\(result.error)")
        #expect(result.error.count { $0 == "\n" } == 1, "\(result.error)")
        #expect(result.error.contains("127.0.0.1") && result.error.contains("\(port)"), "\(result.error)")
        #expect(!result.error.contains("cre") && !result.error.contains("%40"), "\(result.error)")
      }
      let database = try Database(shopModel())
      let misuses: [[String]] = [
        ["info", "x.sqlite", database.url], ["list", "x.sqlite", database.url], ["compact", database.url],
        ["info", database.url, "--schema", "nowhere"], ["info", database.url, database.url],
        ["list", database.url, database.url, "--schema", database.schema], ["import", "x.sqlite", database.url],
        ["info", "postgresql://shop:\u{301}se%3Acre@[::1/x"],
        ["info", "postgresql://shop:se%3Acr%2Fet%401@[::1/x"], ["info", "postgresql://shop:x@se%3Acr@127.0.0.1/shop"],
        ["info", database.url + "?nonsense=\(database.url)"],
        ["export", database.url, database.url, "--schema", database.schema],
      ]
      for command in misuses {
        let result = try Tool.run(command)
        #expect(result.status != 0)
        #expect(!result.error.isEmpty && !(result.error + result.output).contains("se%3A"), "\(result.error)")
      }
    }

    @Test("A process that has connected ends at once")
    func ending() throws {
      // The end waits a second at most for who is connecting, and nobody is. A busy machine may take as long, but not each time.
      let url = "postgresql://shop@127.0.0.1:\(try PostgreSQLServer.freePort())/shop"
      var isQuick = false
      for _ in 0..<10 where !isQuick {
        let start = ContinuousClock.now
        #expect(try Tool.run("info", url).status == 66)
        isQuick = start.duration(to: .now) < .seconds(1)
      }
      #expect(isQuick)
    }

    @Test("^C ends the statement on the server, and an import leaves nothing")
    func interrupted() throws {
      let database = try Database(shopModel())
      let blocker = try PostgreSQLConnection(PostgreSQLOptions(connection: database.url, schema: database.schema))
      try blocker.run([.once("BEGIN"), .once("LOCK TABLE \"Author\" IN ACCESS EXCLUSIVE MODE")])
      func waiting() throws -> Int {
        Int(try database.server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) ?? -1
      }
      for arguments in [["list", database.url, "Author"], ["import", database.url]] {
        let process = Process()
        process.executableURL = Tool.url
        process.arguments = arguments + ["--schema", database.schema, "--wait", "60"]
        let (input, error) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        process.standardError = error
        try process.run()
        let line = #"{"table":"Author","row":{"id":"GE","name":"George Eliot"}}"#
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
        try input.fileHandleForWriting.close()
        let end = Date(timeIntervalSinceNow: 20)
        while try waiting() == 0, Date() < end { Thread.sleep(forTimeInterval: 0.02) }
        #expect(try waiting() == 1)
        let start = Date()
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(Date().timeIntervalSince(start) < 20)
        let said = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(said == "concord: interrupted\n")
        #expect(try waiting() == 0)
      }
      try blocker.run([.once("ROLLBACK")])
      #expect(try database.run("list", "Author").lines == ["id\tname"])
      // Others are not waited for longer than was told.
      try blocker.run([.once("BEGIN"), .once("LOCK TABLE \"Author\" IN ACCESS EXCLUSIVE MODE")])
      let held = try database.run("list", "Author", "--wait", "0.2")
      #expect(held.status == 75, "\(held.error)")
      try blocker.run([.once("ROLLBACK")])
    }
  }
#endif
