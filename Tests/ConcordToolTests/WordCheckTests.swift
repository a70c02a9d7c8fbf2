#if Tool
  import ConcordPersistence
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  #if PostgreSQL
    @testable import ConcordPostgreSQL
  #endif

  @Suite("concord check of an index of words", .serialized)
  struct WordCheckTests {
    private func makeMemos(_ folder: URL) throws -> URL {
      let file = folder.appending(path: "Memos.sqlite")
      try withMemos(file) { context in
        for id in 1...3 { context.insert(Memo(id: id, text: "pony \(id)")) }
        try context.save()
      }
      return file
    }

    @discardableResult
    private func withMemos<R>(_ file: URL, _ body: (BackgroundContext) throws -> R) throws -> R {
      let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Memos", model: try memoModel())
      let store = try container.attachPersistentStore(
        at: file.deletingLastPathComponent(), for: StoreConfiguration(fileName: file.lastPathComponent))
      defer { try? container.detach(persistentStore: store) }
      return try body(container.newBackgroundContext())
    }

    private func change(_ file: URL, _ sql: String) throws {
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      try queue.write { try $0.execute(sql: sql) }
    }

    private func find(_ query: SearchQuery, _ context: BackgroundContext) throws -> [Int] {
      try context.fetch(FetchDescriptor<Memo>(search: query)).map(\.id).sorted()
    }

    private static let wrong = "✗ the index of the words of Memo is not that of its texts, so that searches miss rows"

    @Test(
      "An index in a file that disagrees with its rows is found, and what the check says makes it right",
      arguments: [
        ("UPDATE \"concord_words.Memo\" SET w0 = 'other' WHERE \"key\" = 2", wrong, 1),
        ("DELETE FROM \"concord_words.Memo\" WHERE \"key\" = 2", wrong, 1),
        ("INSERT INTO \"concord_words.Memo\" VALUES (70, 70, 'pony')", wrong, 1),
        ("INSERT INTO \"concord_fts.Memo\" (\"concord_fts.Memo\", rowid, w0) VALUES ('delete', 2, 'pony 2')", wrong, 1),
        ("INSERT INTO \"concord_fts.Memo\" (rowid, w0) VALUES (9, 'pony')", wrong, 1),
        ("INSERT INTO \"concord_fts.Memo\" (\"concord_fts.Memo\") VALUES ('delete-all')", wrong, 3),
        ("DROP TRIGGER \"concord_search.Memo.update\"", "✗ Memo lacks the trigger concord_search.Memo.update", nil),
        (
          "DROP TABLE \"concord_noted.Memo\"", "✗ the index of the words of Memo lacks its table concord_noted.Memo",
          nil
        ),
      ] as [(String, String, Int?)])
    func file(_ sql: String, _ message: String, _ count: Int?) throws {
      try withFolder { folder in
        let file = try makeMemos(folder)
        // What is noted is not wrong.
        try change(file, "UPDATE Memo SET text = 'red pony' WHERE id = 3; INSERT INTO Memo VALUES (4, 'pony', 0)")
        try change(file, "DELETE FROM Memo WHERE id = 4")
        #expect(try Tool.run("check", file.path).output == "✓ nothing found\n")
        try withMemos(file) { _ in }
        try change(file, sql)
        let result = try Tool.run("check", file.path)
        #expect(result.status == 1)
        #expect(result.output.hasPrefix(message), "\(result.output)")
        if let count {
          #expect(result.lines[0].hasSuffix(": \(count) \(count == 1 ? "row" : "rows")"), "\(result.output)")
        }
        let remedy = "DELETE FROM concord_search WHERE entity = 'Memo'"
        #expect(result.output.contains("to make it anew: \(remedy), and attach it"))
        try change(file, remedy)
        #expect(try withMemos(file) { try find("pony", $0) } == [1, 2, 3])
        #expect(try Tool.run("check", file.path).output == "✓ nothing found\n")
      }
    }

    @Test("An index that a program with other rules has made is not compared, and the other commands pass it over")
    func otherForm() throws {
      try withFolder { folder in
        let file = try makeMemos(folder)
        #expect(try !Tool.run("info", file.path).output.contains("concord_"))
        let exported = try Tool.run("export", file.path)
        #expect(
          exported.lines.count { $0.contains("pony") } == 3 && !exported.output.contains("concord_words"),
          "\(exported.output)")
        try change(file, "UPDATE concord_search SET form = '0 [\"text\"]'")
        let result = try Tool.run("check", file.path)
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("– the index of the words of Memo is not compared: "), "\(result.output)")
        // What is imported is found.
        let other = folder.appending(path: "Other.sqlite")
        try withMemos(other) { _ in }
        #expect(try Tool.run(["import", other.path], input: Data(exported.output.utf8)).status == 0)
        #expect(try withMemos(other) { try find("pony", $0) } == [1, 2, 3])
        #expect(try Tool.run("check", other.path).output == "✓ nothing found\n")
      }
    }

    #if PostgreSQL
      @Test(
        "An index in a database that disagrees with its rows is found, and what the check says makes it right",
        .enabled(if: PostgreSQLServer.isInstalled),
        arguments: [
          ("UPDATE \"concord_words.Memo\" SET FORM = '''other''' WHERE \"key\" = 2", wrong),
          ("DELETE FROM \"concord_words.Memo\" WHERE \"key\" = 2", wrong),
          ("INSERT INTO \"concord_words.Memo\" VALUES (70)", wrong),
          ("UPDATE \"concord_words.Memo\" SET FORM = NULL, is_long = true WHERE \"key\" = 2", wrong),
          ("DROP TRIGGER TRIGGER ON \"Memo\"", "✗ Memo lacks the trigger concord_words_update_"),
          (
            "DROP FUNCTION \"concord_words.Memo\" CASCADE; DROP TABLE \"concord_words.Memo\"",
            "✗ Memo lacks the index of its words"
          ),
        ])
      func database(_ sql: String, _ message: String) throws {
        let database = try Database(memoModel())
        func find(_ query: SearchQuery) throws -> [Int] {
          try database.with { try self.find(query, $0.newBackgroundContext()) }
        }
        try database.with { container in
          let context = container.newBackgroundContext()
          for id in 1...3 { context.insert(Memo(id: id, text: "pony \(id)")) }
          try context.save()
        }
        try database.sql(
          "UPDATE \"Memo\" SET text = 'red pony' WHERE id = 3; INSERT INTO \"Memo\" VALUES (4, 'pony', 0)")
        try database.sql("DELETE FROM \"Memo\" WHERE id = 4")
        let inOrder = try database.run("check")
        #expect(inOrder.output == "✓ nothing found\n", "\(inOrder.output)")
        let index = try #require(PostgreSQLSearchIndex(database.model.entities[0]))
        let trigger = try #require(index.triggers.first { $0.name.contains("update") }).name
        try database.sql(
          sql.replacing("FORM", with: index.column).replacing("TRIGGER TRIGGER", with: "TRIGGER \(trigger)"))
        let result = try database.run("check")
        #expect(result.status == 1)
        #expect(result.output.hasPrefix(message), "\(result.output)")
        let remedy = "DROP FUNCTION IF EXISTS \"concord_words.Memo\"() CASCADE"
        #expect(result.output.contains("to make it anew: \(remedy), and attach it"))
        try database.sql(remedy)
        #expect(try find("pony") == [1, 2, 3] && find("red") == [3])
        #expect(try database.run("check").output == "✓ nothing found\n")
      }

      @Test("The other commands pass the index in a database over", .enabled(if: PostgreSQLServer.isInstalled))
      func otherCommands() throws {
        let database = try Database(memoModel())
        let line = #"{"table":"Memo","row":{"id":1,"text":"a pony"}}"#
        #expect(try database.run("import", input: "\(line)\n").status == 0)
        #expect(try database.with { try find("pony", $0.newBackgroundContext()) } == [1])
        #expect(try !database.run("info").output.contains("concord_"))
        #expect(try !database.run("export").output.contains("concord_words"))
        let script = try Tool.run([
          "schema", "--postgresql", database.url, "--schema", database.schema, "--role", "till",
        ]).output
        #expect(script.contains("CREATE TABLE \"concord_words.Memo\""), "\(script)")
        let grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON \"concord_words.Memo\" TO \"till\""
        #expect(script.contains(grant), "\(script)")
        let server = database.server
        // The script makes all there is, elsewhere too.
        let other = "copy \(UUID().uuidString.prefix(8))"
        let name = "\"\(database.schema.replacing("\"", with: "\"\""))\""
        try server.sql("CREATE ROLE till_words")
        try server.sql(script.replacing(name, with: "\"\(other)\"").replacing("\"till\"", with: "till_words"))
        let index = try #require(PostgreSQLSearchIndex(database.model.entities[0]))
        try server.sql("SET search_path TO \"\(other)\"; INSERT INTO \"Memo\" VALUES (1, 'pony', 0)")
        #expect(try server.sql("SELECT count(*) FROM \"\(other)\".\(index.table) WHERE \(index.column) IS NULL") == "1")
      }
    #endif
  }
#endif
