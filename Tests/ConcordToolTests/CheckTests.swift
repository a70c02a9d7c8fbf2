#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import Testing

  @Suite("concord check, info and help")
  struct CheckTests {
    private func change(_ file: URL, _ sql: String) throws {
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      try queue.write { try $0.execute(sql: sql) }
    }

    @Test("A file in order has nothing to be found")
    func inOrder() throws {
      try withFolder { folder in
        let result = try Tool.run("check", try makeShop(folder, books: 10, bits: 10).path)
        #expect(result.output == "✓ nothing found\n")
        #expect(result.status == 0)
      }
    }

    @Test(
      "What is not in order is found, and said with the rows it concerns",
      arguments: [
        (
          "DELETE FROM Author WHERE id = 'JA'",
          "Book.author refers to a Author that is not there: 2 rows\n    EMMA → JA\n    PNP → JA"
        ),
        (
          "DELETE FROM Review WHERE id = 2",
          "Book_reviews.reviews refers to a Review that is not there: 1 row\n    MOBY → 2"
        ),
        (
          "UPDATE Book_byLanguage SET byLanguage = 'no'",
          "Book_byLanguage.byLanguage refers to a Author that is not there"
        ),
        ("DELETE FROM Book_reviews WHERE _position = 0", "Book_reviews has gaps between elements: 1 row\n    MOBY"),
        (
          "UPDATE Book SET reviews = 1 WHERE id = 'EMMA'",
          "Book.reviews is not the number of its elements: 1 row\n    EMMA → 1"
        ),
        ("DELETE FROM Book WHERE id = 'MOBY'", "Book_reviews has elements without an owner: 1 row\n    MOBY"),
        ("ALTER TABLE Author ADD COLUMN born INTEGER", "Author has \"born\" INTEGER, which was not noted"),
        ("ALTER TABLE Author RENAME COLUMN name TO called", "Author should have \"name\" TEXT NOT NULL"),
      ])
    func findings(_ sql: String, _ message: String) throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        try change(file, sql)
        let result = try Tool.run("check", file.path)
        #expect(result.status == 1)
        #expect(result.output.contains("✗ " + message), "\(result.output)")
      }
    }

    @Test("Triggers are told, because somebody else made them")
    func triggers() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        try change(file, "CREATE TRIGGER mine AFTER DELETE ON Book BEGIN DELETE FROM Author; END")
        let result = try Tool.run("check", file.path)
        #expect(result.status == 0)
        #expect(result.output.contains("– triggers run when it is written to, none of them Concord's: mine\n"))
      }
    }

    @Test("Of many rows some are named, and the others counted")
    func many() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 1200)
        try change(file, "DELETE FROM Author WHERE id = 'JA'")
        let result = try Tool.run("check", file.path, "--examples", "2")
        #expect(
          result.output == """
            ✗ Book.author refers to a Author that is not there: 1,202 rows
                B0 → JA
                B1 → JA
                and 1,200 more

            """)
      }
    }

    @Test("An index that lost a row is damage")
    func brokenIndex() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        try change(
          file,
          """
          PRAGMA writable_schema = ON;
          UPDATE sqlite_master SET sql = 'CREATE INDEX "Book.year" ON "Book" ("title")' WHERE name = 'Book.year'
          """)
        #expect(try Tool.run("check", file.path).status == 2)
      }
    }

    @Test("A file that does not say yet what refers to what is checked without, and says so")
    func withoutRelations() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        try change(file, "DROP TABLE concord_relations")
        let result = try Tool.run("check", file.path)
        #expect(result.status == 0)
        #expect(result.output.contains("the file does not say what refers to what"))
        // The next attach notes it again.
        try withShop(at: file) { _ in }
        #expect(try Tool.run("check", file.path).output == "✓ nothing found\n")
      }
    }

    @Test("What the file holds is shown with its columns and relations")
    func info() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        try change(file, "CREATE TABLE mine (a)")
        let lines = try Tool.run("info", file.path).lines
        #expect(lines.first?.hasPrefix("\(file.path): ") == true)
        #expect(
          lines.dropFirst().joined(separator: "\n").hasPrefix(
            """

            Author: 2 rows
              id TEXT key
              name TEXT
              _id TEXT optional
              _stamp REAL

            Review: 2 rows
              id INTEGER key
              text TEXT
              _stamp REAL

            Book: 3 rows
              id TEXT key
              title TEXT
              year INTEGER indexed
              isbn TEXT optional unique
              author TEXT indexed → Author
              reviews INTEGER → 2 in Book_reviews (Review)
              byLanguage INTEGER optional → 1 in Book_byLanguage (Author)
              _id TEXT optional
              _stamp REAL

            Bits: 0 rows
            """))
        #expect(lines.last == "Not Concord's: mine")
      }
    }

    @Test("Help names the commands, the conditions and the exit codes")
    func help() throws {
      let help = try Tool.run("--help")
      #expect(help.status == 0)
      for text in ["info", "list", "check", "export", "import", "compact", "schema", "75", "EXIT CODES", "NO_COLOR"] {
        #expect(help.output.contains(text), "\(text)")
      }
      let list = try Tool.run("list", "--help").output
      for text in ["starts with", "--where <condition>", "is not null", "backquotes"] { #expect(list.contains(text)) }
      #expect(try Tool.run("lsit").status == 64)
      #expect(try Tool.run("list", "x", "Book", "--limit", "-1").status == 64)
      #expect(try Tool.run("info", "x", "--wait", "nan").status == 64)
    }

    @Test("Every command of the documentation runs, and its exit codes are those of the help")
    func documentation() throws {
      let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "../../Sources/ConcordPersistence/ConcordPersistence.docc/TheTool.md")
      let lines = try String(contentsOf: article.standardizedFileURL, encoding: .utf8).split(separator: "\n")
      // Those over a database have a test of their own.
      let commands = lines.filter { $0.hasPrefix("concord ") && !$0.contains("postgresql://") }
      #expect(commands.count >= 10)
      try withFolder { folder in
        let file = try makeShop(folder, bits: 10)
        try FileManager.default.moveItem(at: file, to: folder.appending(path: "Library.sqlite"))
        let result = try Tool.shell("set -e; cd '\(folder.path)'\n" + commands.joined(separator: "\n"))
        #expect(result.status == 0, "\(result.error)")
        #expect(result.error.isEmpty)
      }
      let codes = lines.compactMap { $0.firstMatch(of: /^\| ([0-9]+) \| (.*) \|$/).map { ($0.1, $0.2) } }
      #expect(codes.count == 12)
      let help = try Tool.run("--help").output
      for (code, meaning) in codes {
        let line = help.split(separator: "\n").first {
          $0.contains(meaning.replacing("`check`", with: "'check'").prefix(40))
        }
        #expect(line?.contains(code) == true, "\(meaning)")
      }
    }

    @Test("Long work says on the terminal how far it is, and leaves nothing of that behind")
    func progress() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 3000).path
        let shown = try Tool.onTerminal("check", file)
        #expect(shown.contains("checking the pages"))
        #expect(shown.hasSuffix("\u{1B}[K\u{1B}[32m✓\u{1B}[0m nothing found\n"))
      }
    }
  }
#endif
