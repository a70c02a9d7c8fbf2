#if Tool
  import ConcordPersistence
  import Foundation
  import GRDB
  import Testing

  @Suite("concord and forwarded actions")
  struct OutboxToolTests {
    private func makeOutbox(_ folder: URL, _ states: [OutboxRow.State]) throws -> URL {
      let file = try makeShop(folder)
      let store = try SQLiteStore(url: file, entities: [])
      try store.write(origin: nil) { writing in
        for (number, state) in states.enumerated() {
          var row = OutboxRow(
            key: "key \(number)", action: "add-to-cart", entity: "Book", id: .text("EMMA"), body: "{}", forwarded: 0)
          row.state = state
          try writing.writeOutbox(row)
        }
      }
      try store.close()
      return file
    }

    private func change(_ file: URL, _ sql: String) throws {
      let queue = try DatabaseQueue(path: file.path)
      defer { try? queue.close() }
      try queue.write { try $0.execute(sql: sql) }
    }

    @Test("They are Concord's, and `info` says how many are to be sent")
    func info() throws {
      try withFolder { folder in
        let file = try makeOutbox(folder, [.pending, .pending, .sent, .refused])
        let result = try Tool.run("info", file.path)
        #expect(result.status == 0 && result.lines.last == "Outbox: 2 actions are to be sent, 1 was refused")
        #expect(!result.output.contains("concord_outbox"))
        let check = try Tool.run("check", file.path)
        #expect(check.status == 0 && check.output.contains("✓ nothing found"))
        #expect(check.output.contains("– 1 forwarded action was refused"))
      }
    }

    @Test("Without any, nothing is said")
    func none() throws {
      try withFolder { folder in
        let file = try makeOutbox(folder, [.sent, .dropped])
        #expect(try !Tool.run("info", file.path).output.contains("Outbox"))
        #expect(try Tool.run("check", file.path).output == "✓ nothing found\n")
      }
    }

    @Test(
      "What cannot be read is found",
      arguments: [
        ("UPDATE concord_outbox SET body = '{' WHERE number = 1", "concord_outbox has actions that cannot be read: 1 row"),
        ("UPDATE concord_outbox SET body = x'FFFE' WHERE number = 1", "concord_outbox has actions that cannot be read"),
        ("UPDATE concord_outbox SET state = 'lost'", "concord_outbox has actions in a state that is not known: 2 rows"),
        ("ALTER TABLE concord_outbox RENAME COLUMN body TO bulk", "concord_outbox lacks some of its columns"),
      ])
    func findings(_ sql: String, _ message: String) throws {
      try withFolder { folder in
        let file = try makeOutbox(folder, [.pending, .refused])
        try change(file, sql)
        let result = try Tool.run("check", file.path)
        #expect(result.status == 1 && result.output.contains("✗ " + message), "\(result.output)\(result.error)")
        #expect(try Tool.run("info", file.path).status == 0)
      }
    }
  }
#endif
