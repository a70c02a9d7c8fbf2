#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import Testing

  @Suite("concord list")
  struct ListTests {
    private static let wrongCommands: [([String], String)] = [
      (["Book", "--where", "yaer < 1900"], "has no column 'yaer'; it has id, title, year, isbn"),
      (["Book", "--where", "year < "], "a value is missing at the end"),
      (["Book", "--where", "year < title"], "'title' is no value; text stands in quotation marks"),
      (["Book", "--where", "year ~ 3"], "'~' is not expected"),
      (["Book", "--where", "year =< 3"], "'=<' is no comparison"),
      (["Book", "--where", "title = 'x"], "does not end"),
      (["Book", "--where", "year < 3 year"], "'year' is not expected"),
      (["Book", "--where", "(year < 3"], "')' is expected, not the end"),
      (["Book", "--where", "year < 12abc"], "'12abc' is no number"),
      (["Book", "--sort", "Title"], "has no column 'Title'"), (["Book", "--columns", "id,,year"], "has no column ''"),
      (["Bok"], "there is no table 'Bok'; there are Author, Review, Book, Book_reviews"),
      (["sqlite_master"], "there is no table"), (["concord_schema"], "there is no table"),
    ]

    @Test("Rows are shown with tabs between the values where nobody looks, and null is nothing")
    func piped() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let result = try Tool.run("list", file.path, "Book")
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(
          result.output == """
            id\ttitle\tyear\tisbn\tauthor\treviews\tbyLanguage
            EMMA\tEmma\t1815\t\tJA\t0\t0
            MOBY\tMoby-Dick; or, "The Whale"\t1851\t978-0\tHM\t2\t1
            PNP\tPride and Prejudice\t1813\t\tJA\t0\t

            """)
        #expect(try Tool.run("list", file.path, "Review").lines == ["id\ttext", "1\tTab\\there\\\\\u{301}", "2\tLong"])
        #expect(
          try Tool.run("list", file.path, "Book_reviews").lines == [
            "_owner\t_position\treviews", "MOBY\t0\t2", "MOBY\t1\t1",
          ])
      }
    }

    @Test("Order, limit, offset and columns are those that were asked for")
    func range() throws {
      try withFolder { folder in
        let file = try makeShop(folder).path
        func ids(_ options: String...) throws -> [String] {
          Array(try Tool.run(["list", file, "Book", "--columns", "id"] + options).lines.dropFirst())
        }
        #expect(try ids("--sort", "year") == ["PNP", "EMMA", "MOBY"])
        #expect(try ids("--sort", "author desc, year desc") == ["EMMA", "PNP", "MOBY"])
        #expect(try ids("--limit", "1") == ["EMMA"])
        #expect(try ids("--limit", "5", "--offset", "2") == ["PNP"])
        #expect(try ids("--limit", "0") == [])
        #expect(try Tool.run("list", file, "Book", "--columns", "year, id", "--limit", "1").lines[0] == "year\tid")
      }
    }

    @Test("An explanation is the statement, and how SQLite goes about it")
    func explanation() throws {
      try withFolder { folder in
        let file = try makeShop(folder).path
        let lines = try Tool.run("list", file, "Book", "--where", "author = 'JA'", "--explain").lines
        #expect(lines.count > 2 && lines[1].hasPrefix("SELECT"))
        #expect(lines.contains { $0.contains("USING INDEX Book.author (author=?)") })
        #expect(!lines.contains { $0.contains("EMMA") })
        #expect(lines.last == "what is found is sorted" && lines.contains("Book: a search in the index Book.author"))
        let scanned = try Tool.run("list", file, "Book", "--where", "title = 'x'", "--explain").lines
        #expect(
          scanned.contains {
            $0 == "Book: a scan of all rows" || $0.hasPrefix("Book: all rows, in the order of the index")
          },
          "\(scanned)")
      }
    }

    @Test(
      "A condition means what it says",
      arguments: [
        ("year < 1850", ["EMMA", "PNP"]), ("year <= 1815 and year > 1813", ["EMMA"]), ("isbn = null", ["EMMA", "PNP"]),
        ("isbn is not null", ["MOBY"]), ("not isbn is null", ["MOBY"]), ("isbn != '978-0'", ["EMMA", "PNP"]),
        ("not isbn < 'a'", ["EMMA", "PNP"]), ("title contains \"or, \"\"The\"", ["MOBY"]),
        ("title contains 'emma'", []),
        ("title starts with 'Pride'", ["PNP"]), ("title ends with 'ice' or year == 1815", ["EMMA", "PNP"]),
        ("title ends with ''", ["EMMA", "MOBY", "PNP"]), ("isbn ends with ''", ["MOBY"]),
        ("year in (1813, 1851)", ["MOBY", "PNP"]), ("isbn in (null)", ["EMMA", "PNP"]),
        ("(year = 1813 or year = 1815) and not (id = 'EMMA')", ["PNP"]), ("`year` <> 1813", ["EMMA", "MOBY"]),
        ("YEAR = 1", nil), ("_stamp > 0", ["EMMA", "MOBY", "PNP"]), ("title > 5", ["EMMA", "MOBY", "PNP"]),
        ("id = x'4D'", []), ("title = \"x'; DROP TABLE Book; --\"", []), ("year < 1.8145e3", ["PNP"]),
      ] as [(String, [String]?)])
    func conditions(_ condition: String, _ expected: [String]?) throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let result = try Tool.run("list", file.path, "Book", "--columns", "id", "--where", condition)
        if let expected {
          #expect(Array(result.lines.dropFirst()) == expected, "\(result.error)")
          #expect(try Tool.run("list", file.path, "Book").lines.count == 4)
        } else {
          #expect(result.status == 64)
        }
      }
    }

    @Test(
      "A wrong condition, table or column is an error that says what there is",
      arguments: ListTests.wrongCommands)
    func wrong(_ arguments: [String], _ message: String) throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let result = try Tool.run(["list", file.path] + arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.error.contains(message), "\(result.error)")
      }
    }

    @Test("A condition that is too long or too deep is refused, whatever its length")
    func excessive() throws {
      try withFolder { folder in
        let file = try makeShop(folder).path
        for (condition, message) in [
          (String(repeating: "(", count: 100_000), "nested too deep"),
          (Array(repeating: "year = 1", count: 5000).joined(separator: " or "), "too many comparisons"),
          ("year in (\(Array(repeating: "1", count: 5000).joined(separator: ",")))", "too many values"),
        ] {
          let result = try Tool.run("list", file, "Book", "--where", condition)
          #expect(result.status == 64)
          #expect(result.error.contains(message))
        }
        // What is accepted is within what SQLite takes.
        for condition in [
          Array(repeating: "year = 1813", count: 400).joined(separator: " or "),
          String(repeating: "(", count: 11) + "year = 1813" + String(repeating: ")", count: 11),
          String(repeating: "year = 1 or year > 9 and not (", count: 11) + "year != 1813"
            + String(repeating: ")", count: 11),
          "year in (\(Array(repeating: "1813", count: 400).joined(separator: ",")))",
        ] {
          let result = try Tool.run("list", file, "Book", "--where", condition)
          #expect(result.lines.count == 2, "\(result.error)")
        }
      }
    }

    @Test("JSON tells null from an empty text, and is read by every parser")
    func json() throws {
      try withFolder { folder in
        let file = try makeShop(folder, bits: 40)
        let books = try Tool.run("list", file.path, "Book", "--json", "--where", "id = 'MOBY'")
        #expect(
          books.output == """
            {"id":"MOBY","title":"Moby-Dick; or, \\"The Whale\\"","year":1851,"isbn":"978-0","author":"HM","reviews":2,"byLanguage":1}

            """)
        let bits = try Tool.run("list", file.path, "Bits", "--json").lines
        #expect(bits.count == 40)
        for line in bits { _ = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]) }
      }
    }

    @Test("A terminal gets columns that fit, and colours unless NO_COLOR is set")
    func terminal() throws {
      try withFolder { folder in
        let file = try makeShop(folder).path
        let painted = try Tool.onTerminal("list", file, "Book")
        #expect(painted.contains("\u{1B}[1mid"))
        let plain = try Tool.onTerminal("list", file, "Book", environment: ["NO_COLOR": "1"])
        #expect(
          plain == """
            id    title         year  isbn   author  reviews  byLanguage
            EMMA  Emma          1815  –      JA            0           0
            MOBY  Moby-Dick; …  1851  978-0  HM            2           1
            PNP   Pride and P…  1813  –      JA            0  –

            """)
        #expect(plain.split(separator: "\n").allSatisfy { $0.count <= 60 })
      }
    }

    @Test("What is in a file cannot command the terminal, whatever its rows, columns and tables are called")
    func escapes() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        try withShop(at: file) { context in
          context.insert(Author(id: "X", name: "\u{1B}]0;title\u{7}\u{9B}31m\u{202E}\n\r"))
          try context.save()
        }
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { try $0.execute(sql: "CREATE TABLE \"evil\u{1B}[31m\" (a)") }
        try queue.close()
        for arguments in [
          ["list", file.path, "Author"], ["list", file.path, "Author", "--json"], ["export", file.path],
          ["info", file.path], ["list", file.path, "\u{1B}[31m"],
        ] {
          let result = try Tool.run(arguments)
          let all = (result.output + result.error).unicodeScalars
          #expect(!all.contains { $0.value != 10 && $0.value != 9 && $0.properties.generalCategory == .control })
          if !arguments.contains("--json"), arguments[0] != "export" { #expect(!all.contains("\u{202E}")) }
        }
        #expect(try Tool.run("list", file.path, "Author").output.contains("\\u{1B}]0;title"))
      }
    }

    @Test("A reader that closes the pipe early is no error, and leaves nothing beside the file")
    func brokenPipe() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 20_000).path
        for command in ["list \(file) Book", "list \(file) Book --json", "export \(file)"] {
          let result = try Tool.shell("set -o pipefail; concord \(command) | head -1; echo \"$?\"")
          #expect(result.lines.count == 2)
          #expect(result.lines.last == "0")
          #expect(result.error.isEmpty)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Shop.sqlite"])
      }
    }
  }
#endif
