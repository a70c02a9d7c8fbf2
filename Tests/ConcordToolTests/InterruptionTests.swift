#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import Testing

  /// What ^C leaves of a command that is at work.
  @Suite("An interrupted concord")
  struct InterruptionTests {
    /// Starts the tool, interrupts it when its work has begun, and returns its exit code and what it said.
    private func interrupted(
      _ arguments: [String], with number: Int32 = SIGINT, input: Any? = nil, output: Any? = nil,
      when hasBegun: () throws -> Bool
    ) throws -> (status: Int32, error: String) {
      let process = Process()
      process.executableURL = Tool.url
      process.arguments = arguments
      process.standardInput = input ?? FileHandle.nullDevice
      process.standardOutput = output ?? FileHandle.nullDevice
      let error = Pipe()
      process.standardError = error
      try process.run()
      for _ in 0..<2000 where process.isRunning {
        if try hasBegun() { break }
        Thread.sleep(forTimeInterval: 0.005)
      }
      #expect(process.isRunning)
      kill(process.processIdentifier, number)
      process.waitUntilExit()
      #expect(process.terminationReason == .exit)
      let said = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      return (process.terminationStatus, said)
    }

    /// The files of the folder.
    private func names(_ folder: URL) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func count(_ file: URL) throws -> Int? {
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      return try queue.read { db in
        #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        return try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM Book")
      }
    }

    @Test("An import imports nothing, and leaves no log behind", arguments: [SIGINT, SIGTERM])
    func importing(_ number: Int32) throws {
      try withFolder { folder in
        let exported = try Tool.run("export", makeShop(folder, books: 30).path).output
        let copy = folder.appending(path: "Copy.sqlite")
        try withShop(at: copy) { _ in }
        let before = try names(folder)
        // More lines are to come.
        let input = Pipe()
        try input.fileHandleForWriting.write(contentsOf: Data(exported.utf8))
        let result = try interrupted(["import", copy.path], with: number, input: input) {
          FileManager.default.fileExists(atPath: copy.path + "-wal")
        }
        #expect(result.status == 128 + number)
        #expect(result.error == "concord: interrupted\n")
        #expect(try names(folder) == before)
        #expect(try count(copy) == 0)
        try input.fileHandleForWriting.close()
      }
    }

    @Test("An export ends, and leaves nothing beside the file")
    func exporting() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 2000)
        let present = try count(file)
        let before = try names(folder)
        // Nobody reads what fills the pipe, as where a reader hangs: then it ends nevertheless.
        let output = Pipe()
        let result = try interrupted(["export", file.path], output: output) {
          try output.fileHandleForReading.read(upToCount: 1) != nil
        }
        #expect(result.status == 130)
        #expect(try names(folder) == before)
        #expect(try count(file) == present)
      }
    }

    @Test("A file that is being rewritten is as before")
    func compacting() throws {
      try withFolder { folder in
        let file = try makeShop(folder, books: 10)
        let queue = try DatabaseQueue(path: file.path)
        // Some tens of megabytes.
        try queue.write { db in
          try db.execute(
            sql: """
              WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 41000)
              INSERT INTO Review (id, text, _stamp) SELECT i, hex(randomblob(800)), 0 FROM n
              """)
        }
        try queue.close()
        let present = try count(file)
        let before = try names(folder)
        let result = try interrupted(["compact", file.path]) {
          FileManager.default.fileExists(atPath: file.path + "-wal")
        }
        #expect(result.status == 130)
        #expect(result.error == "concord: interrupted\n")
        #expect(try names(folder) == before)
        #expect(try count(file) == present)
      }
    }
  }
#endif
