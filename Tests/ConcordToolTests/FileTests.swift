#if Tool
  import ConcordPersistence
  import ConcordTestShared
  import Foundation
  import GRDB
  import Testing

  @Suite("concord and files")
  struct FileTests {
    private static let reading = [
      ["info"], ["check"], ["export"], ["list", "Book"],
    ]

    private func run(_ command: [String], _ file: String, _ more: String...) throws -> ToolResult {
      try Tool.run([command[0], file] + command.dropFirst() + more)
    }

    @Test("A file that is missing, a folder, no SQLite file, an empty one, one of others: an error with its code")
    func wrongFiles() throws {
      try withFolder { folder in
        func make(_ name: String, _ content: Data) throws -> String {
          let file = folder.appending(path: name)
          try content.write(to: file)
          return file.path
        }
        let text = try make("text", Data(repeating: 65, count: 5000))
        let empty = try make("empty", Data())
        let other = folder.appending(path: "other").path
        let queue = try DatabaseQueue(path: other)
        try queue.write { try $0.execute(sql: "CREATE TABLE Book (id)") }
        try queue.close()
        let missing = folder.appending(path: "missing").path
        for command in Self.reading + [["import"], ["compact"]] {
          for (file, status, message) in [
            (missing, 66, "is not there"), (folder.path, 66, "is a folder"), (text, 3, "is no SQLite file"),
            (empty, 3, "holds no entities"), (other, 3, "holds no entities"),
          ] {
            let result = try run(command, file)
            #expect(result.status == status, "\(command) \(file)")
            #expect(result.error.contains(message), "\(command) \(result.error)")
            #expect(result.output.isEmpty)
          }
        }
        #expect(!FileManager.default.fileExists(atPath: missing))
        #expect(try Data(contentsOf: URL(fileURLWithPath: empty)).isEmpty)
        // A name that SQLite could take for a URI that makes a file.
        #expect(try Tool.run("info", "file:made.sqlite?mode=rwc").status == 66)
      }
    }

    @Test("A damaged file is an error with a code of its own, and never a crash")
    func damaged() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 2000)
        let content = try Data(contentsOf: file)
        var generator = SystemRandomNumberGenerator()
        var found: Set<Int32> = []
        for round in 0..<24 {
          var bytes = content
          // Whole pages at first, then some bytes anywhere.
          let start =
            round < 12 ? 4096 * (1 + round * bytes.count / 4096 / 13) : Int.random(in: 100..<bytes.count - 600)
          let end = start + (round < 12 ? 4096 : 500)
          bytes.replaceSubrange(
            start..<end, with: (start..<end).map { _ in UInt8.random(in: 0...255, using: &generator) })
          try bytes.write(to: file)
          for command in Self.reading {
            let result = try run(command, file.path)
            #expect([0, 1, 2, 3].contains(result.status), "\(command) \(result.error)")
            if command == ["check"] { found.insert(result.status) }
          }
        }
        #expect(found.contains(2))
        try content.prefix(6000).write(to: file)
        #expect(try Tool.run("check", file.path).status == 2)
      }
    }

    @Test("Whatever is in the store's own tables, it is no crash")
    func ownTables() throws {
      for table in [
        "concord_relations (\"table\", \"column\", target)", "concord_schema (number, entity, \"table\", columns)",
      ] {
        try withFolder { folder in
          let file = try makeShop(folder)
          let name = table.prefix { $0 != " " }
          let count = table.split(separator: ",").count
          let values = ["NULL, ", "x'FFFE', ", "7, ", "'Book', "].map {
            String(repeating: $0, count: count).dropLast(2)
          }
          let queue = try DatabaseQueue(path: file.path)
          try queue.write { db in
            try db.execute(sql: "DROP TABLE \(name); CREATE TABLE \(table)")
            for value in values { try db.execute(sql: "INSERT INTO \(name) VALUES (\(value))") }
          }
          try queue.close()
          for command in Self.reading {
            let result = try run(command, file.path)
            #expect([0, 1, 2, 3].contains(result.status), "\(command) \(result.error)")
          }
        }
      }
    }

    @Test("Reading changes nothing: neither the file nor what is beside it, nor its date")
    func readsOnly() throws {
      try withFolder { folder in
        let file = try makeShop(folder, bits: 20)
        let content = try Data(contentsOf: file)
        func date() throws -> Date? {
          try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
        }
        let before = try date()
        for command in Self.reading {
          #expect(try run(command, file.path).status == 0)
          #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Shop.sqlite"])
        }
        #expect(try Data(contentsOf: file) == content)
        #expect(try date() == before)
        // Where nothing can be written at all.
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path) }
        for command in Self.reading { #expect(try run(command, file.path).status == 0) }
      }
    }

    @Test("A file that another process writes to is read as one of its states, and what it has committed is there")
    func written() throws {
      try withFolder { folder in
        let process = Process()
        process.executableURL = ChildProcess.url
        process.arguments = ["save", folder.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer {
          process.terminate()
          process.waitUntilExit()
        }
        let file = folder.appending(path: "Process.sqlite").path
        var last = 0
        let deadline = Date().addingTimeInterval(20)
        while last < 50, Date() < deadline {
          // Each save writes an entry N, one -N, and that it has got to N.
          let rows = try Tool.run("export", file)
          guard rows.status == 0 else {
            usleep(20_000)
            continue
          }
          let entries = rows.lines.filter { $0.contains("\"table\":\"Entry\"") }.count
          let progress = rows.lines.last { $0.contains("\"table\":\"Progress\"") } ?? "\"last\":0,"
          let number = try #require(progress.firstMatch(of: /"last":(\d+)/).flatMap { Int($0.1) })
          #expect(entries == 2 * number)
          #expect(number >= last)
          last = number
          #expect(try Tool.run("check", file).status == 0)
        }
        #expect(last >= 50)
      }
    }

    @Test("A file that another process holds is an error that says to try again, after the time that was given")
    func locked() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let queue = try DatabaseQueue(path: file.path)
        try queue.inDatabase { db in
          try db.inTransaction(.immediate) {
            let start = Date()
            for arguments in [["import", file.path], ["compact", file.path]] {
              let result = try Tool.run(arguments + ["--wait", "0.3"])
              #expect(result.status == 75)
              #expect(result.error.contains("held by another process"))
            }
            #expect(Date().timeIntervalSince(start) < 5)
            // Readers do not wait for it.
            #expect(try Tool.run("list", file.path, "Book", "--wait", "0").lines.count == 4)
            return .rollback
          }
        }
        try queue.close()
      }
    }

    @Test("The file may be the app's that runs: an import is seen by its live queries")
    func seen() throws {
      try withFolder { folder in
        let file = try makeShop(folder)
        let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Shop", model: try shopModel())
        let store = try container.attachPersistentStore(at: folder, for: StoreConfiguration(fileName: "Shop.sqlite"))
        let authors = try container.viewContext.query(FetchDescriptor<Author>())
        let result = try Tool.run(
          "import", file.path, input: #"{"table":"Author","row":{"id":"GE","name":"George Eliot"}}"# + "\n")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output == "imported 1 row\n  Author: 1\n")
        for _ in 0..<200 where authors.value.count < 3 { usleep(10_000) }
        #expect(authors.value.contains(Author(id: "GE", name: "George Eliot")))
        try container.detach(persistentStore: store)
      }
    }
  }
#endif
