#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import Testing

  @Suite("concord export and import")
  struct ExportTests {
    /// All rows of the tables of entities and collections, each value with its class and its bits.
    private func content(_ file: URL) throws -> [String] {
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      return try queue.read { db in
        let tables = try String.fetchAll(
          db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'concord%' ORDER BY name")
        return try tables.flatMap { table in
          let names = try Row.fetchAll(db, sql: "PRAGMA table_info(\"\(table)\")").map { $0["name"] as String }
          let values = names.map { "typeof(\"\($0)\") || hex(CAST(\"\($0)\" AS BLOB)) || quote(\"\($0)\")" }
          return try String.fetchAll(
            db, sql: "SELECT '\(table): ' || \(values.joined(separator: " || ',' || ")) FROM \"\(table)\" ORDER BY 1")
        }
      }
    }

    private func emptyShop(_ folder: URL) throws -> URL {
      let file = folder.appending(path: "Copy.sqlite")
      try withShop(at: file) { _ in }
      return file
    }

    @Test("A unique text that is imported in decomposed form is compared with what is saved afterwards")
    func uniqueForms() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let row = #"{"id":"new","title":"t","year":1,"isbn":"e\u0301","author":"HM","reviews":0}"#
        let line = #"{"table":"Book","row":\#(row)}"#
        let imported = try Tool.run(["import", file.path], input: Data(line.utf8))
        #expect(imported.status == 0, "\(imported.error)")
        try withShop(at: file) { context in
          var book = try #require(try context.find(Book.self, id: "new"))
          #expect(book.isbn?.unicodeScalars.count == 2)
          book = Book(id: "other", title: "t", year: 1, isbn: "\u{e9}", author: book.author)
          context.insert(book)
          #expect(throws: StoreError.self) { try context.save() }
        }
      }
    }

    @Test("What was exported and imported is the same to the bit: NaN, -0.0, NUL, large numbers, bytes, ids, stamps")
    func sameBits() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 30, bits: 300)
        // Rows as no model would write them, but another program might.
        let queue = try DatabaseQueue(path: file.path)
        try queue.write { db in
          try db.execute(
            sql: """
              INSERT INTO Review (id, text, _stamp) VALUES
                (-9223372036854775808, CAST(x'FF41F09F92' AS TEXT), -9e999), (9223372036854775807, x'00', 9e999),
                (77, CAST(x'EFBFBD' AS TEXT), 0.1), (78, '', 1e15), (79, CAST(x'00' AS TEXT), -1);
              INSERT INTO Bits SELECT x'01', 1, 1.0, text, maybe, twice, bytes, date, decimal, _stamp FROM Bits LIMIT 1;
              INSERT INTO Bits SELECT x'02', 1, 1e300, text, maybe, twice, bytes, date, decimal, _stamp FROM Bits LIMIT 1;
              """)
        }
        try queue.close()
        let exported = try Tool.run("export", file.path)
        #expect(exported.status == 0)
        let copy = try emptyShop(folder)
        let imported = try Tool.run(["import", copy.path], input: Data(exported.output.utf8))
        #expect(imported.status == 0, "\(imported.error)")
        #expect(try content(copy) == content(file))
        #expect(try content(copy).count > 300)
        #expect(try Tool.run("export", copy.path).output == exported.output)
        #expect(try Tool.run("check", copy.path).status == 0)
        // Once more, over what is there.
        let lines = folder.appending(path: "lines.ndjson")
        try Data(exported.output.utf8).write(to: lines)
        #expect(try Tool.run("import", copy.path, lines.path).status == 65)
        #expect(try Tool.run("import", copy.path, lines.path, "--replace").status == 0)
        #expect(try content(copy) == content(file))
        // The program reads the same entities.
        let originals = try withShop(at: file) { try $0.fetch(FetchDescriptor<Book>()) }
        #expect(try withShop(at: copy) { try $0.fetch(FetchDescriptor<Book>()) } == originals)
      }
    }

    @Test("An export looks like this")
    func golden() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let lines = try Tool.run("export", file.path).lines.map {
          $0.replacing(/"_stamp":[0-9.e+]+/, with: "\"_stamp\":S")
        }
        #expect(
          lines.joined(separator: "\n") == """
            {"concord":1,"tables":{"Author":["id","name","_id","_stamp"],"Review":["id","text","_stamp"],"Book":["id","title","year",\
            "isbn","author","reviews","byLanguage","_id","_stamp"],"Book_reviews":["_owner","_position","reviews"],\
            "Book_byLanguage":["_owner","_position","_key","byLanguage"],"Bits":["id","real","large","text","maybe","twice",\
            "bytes","date","decimal","_stamp"]}}
            {"table":"Author","row":{"id":"HM","name":"Herman Melville","_id":null,"_stamp":S}}
            {"table":"Author","row":{"id":"JA","name":"Jane Austen","_id":null,"_stamp":S}}
            {"table":"Review","row":{"id":1,"text":"Tab\\there\\\\\u{301}","_stamp":S}}
            {"table":"Review","row":{"id":2,"text":"Long","_stamp":S}}
            {"table":"Book","row":{"id":"EMMA","title":"Emma","year":1815,"isbn":null,"author":"JA","reviews":0,"byLanguage":0,\
            "_id":null,"_stamp":S}}
            {"table":"Book","row":{"id":"MOBY","title":"Moby-Dick; or, \\"The Whale\\"","year":1851,"isbn":"978-0","author":"HM",\
            "reviews":2,"byLanguage":1,"_id":null,"_stamp":S}}
            {"table":"Book","row":{"id":"PNP","title":"Pride and Prejudice","year":1813,"isbn":null,"author":"JA","reviews":0,\
            "byLanguage":null,"_id":null,"_stamp":S}}
            {"table":"Book_reviews","row":{"_owner":"MOBY","_position":0,"reviews":2}}
            {"table":"Book_reviews","row":{"_owner":"MOBY","_position":1,"reviews":1}}
            {"table":"Book_byLanguage","row":{"_owner":"MOBY","_position":0,"_key":"de","byLanguage":"HM"}}
            """)
        let authors = try Tool.run("export", file.path, "Author").lines
        #expect(authors.count == 3)
      }
    }

    @Test(
      "A wrong line imports nothing, and the error says which line and why",
      arguments: [
        ("{", "this is no row"), ("[]", "this is no row"), ("{\"table\":\"Author\"}", "needs \"table\" and \"row\""),
        (#"{"table":"Writer","row":{}}"#, "there is no table 'Writer'; there are Author"),
        (#"{"table":"concord_schema","row":{}}"#, "there is no table"),
        (#"{"table":"Author","row":{"id":"A","nmae":"x"}}"#, "has no column 'nmae'; it has id, name, _id and _stamp"),
        (#"{"table":"Author","row":{"id":"A"}}"#, "NOT NULL constraint failed: Author.name"),
        (#"{"table":"Author","row":{"id":"JA","name":"x"}}"#, "UNIQUE constraint failed: Author.id"),
        (#"{"table":"Author","row":{"id":"A","name":{"$blob":"!"}}}"#, "$real, $blob or $bytes"),
        (#"{"table":"Author","row":{"id":"A","name":{"$real":"nan"}}}"#, "$real, $blob or $bytes"),
        (#"{"table":"Author","row":{"id":"A","name":[1]}}"#, "this is no row"), ("{\"concord\":2}", "version is 2"),
        (String(repeating: "[", count: 700), "this is no row"),
      ])
    func wrongLines(_ line: String, _ message: String) throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let before = try content(file)
        let good = #"{"table":"Author","row":{"id":"GE","name":"George Eliot"}}"#
        let result = try Tool.run("import", file.path, input: "\(good)\n\n\(line)\n")
        #expect(result.status == 65)
        #expect(result.error.contains("line 3: "), "\(result.error)")
        #expect(result.error.contains(message), "\(result.error)")
        #expect(result.output.isEmpty)
        #expect(try content(file) == before)
      }
    }

    @Test("A row that is replaced has the elements that were imported, and no others")
    func replaced() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let lines = """
          {"table":"Book","row":{"id":"MOBY","title":"M","year":1,"author":"JA","reviews":1}}
          {"table":"Book_reviews","row":{"_owner":"MOBY","_position":0,"reviews":1}}
          """
        let dry = try Tool.run("import", file.path, "--replace", "--dry-run", input: lines)
        #expect(dry.output == "would import 2 rows\n  Book: 1\n  Book_reviews: 1\n")
        #expect(try Tool.run("list", file.path, "Book_reviews").lines.count == 3)
        #expect(try Tool.run("import", file.path, "--replace", input: lines).status == 0)
        #expect(try Tool.run("list", file.path, "Book_reviews").lines == ["_owner\t_position\treviews", "MOBY\t0\t1"])
        let book = try withShop(at: file) { try $0.find(Book.self, id: "MOBY") }
        #expect(book?.reviews.map(\.id) == [1])
        #expect(book?.author.id == "JA")
        #expect(try Tool.run("check", file.path).status == 0)
      }
    }

    @Test("Compacting gives back what is free, and changes no row")
    func compact() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 5000)
        try withShop(at: file, remembersDeletions: false) { context in
          for number in 0..<4900 { try context.delete(Book.self, id: "B\(number)") }
          try context.save()
        }
        let (before, size) = (try content(file), try Data(contentsOf: file).count)
        let result = try Tool.run("compact", file.path)
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.contains(" before, "))
        #expect(try Data(contentsOf: file).count < size / 4)
        #expect(try content(file) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Shop.sqlite"])
      }
    }
  }
#endif
