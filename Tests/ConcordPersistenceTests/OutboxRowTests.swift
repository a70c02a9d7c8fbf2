import Concord
import ConcordModel
import Foundation
import Testing

#if Persistence
  import GRDB
#endif

@testable import ConcordPersistence

@Suite("Forwarded actions in a store")
struct OutboxRowTests {
  private func row(_ name: String) -> OutboxRow {
    OutboxRow(key: name, action: "raise", entity: "Book", id: .text("EMMA"), body: "{\"a\":\"ä\"}", forwarded: 1.5)
  }

  @Test("What is written is read, and what is new since a version", arguments: StoreKind.allCases)
  func changes(_ kind: StoreKind) throws {
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      #expect(try store.read { try $0.outbox(after: nil) }.version == .empty)
      #expect(try store.read { try $0.outbox(after: nil) }.rows.isEmpty)
      let (first, second) = try store.write(origin: nil) { writing in
        (try writing.writeOutbox(row("a")), try writing.writeOutbox(row("b")))
      }
      #expect(first.number < second.number)
      var all = try store.read { try $0.outbox(after: nil) }
      #expect(all.isWhole && all.rows == [first, second])
      #expect(try store.read { try $0.outbox(after: all.version) }.rows.isEmpty)
      var refused = first
      (refused.state, refused.reason) = (.refused, "no")
      var sent = second
      (sent.state, sent.body) = (.sent, "")
      let known = all.version
      try store.write(origin: nil) { writing in
        try writing.writeOutbox(refused)
        try writing.writeOutbox(sent)
        #expect(try writing.outboxRow(refused.number) == refused)
        #expect(try writing.outboxRow(999) == nil)
      }
      let new = try store.read { try $0.outbox(after: known) }
      #expect(!new.isWhole && new.rows == [refused, sent] && !new.wasCleared)
      // What is finished is of no interest to those who know nothing.
      all = try store.read { try $0.outbox(after: nil) }
      #expect(all.rows == [refused])
    }
  }

  @Test("A write that throws leaves nothing", arguments: StoreKind.allCases)
  func undone(_ kind: StoreKind) throws {
    struct Undo: Error {}
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      try store.write(origin: nil) { _ = try $0.writeOutbox(row("a")) }
      let before = try store.read { try $0.outbox(after: nil) }
      #expect(throws: Undo.self) {
        try store.write(origin: nil) { writing in
          try writing.writeOutbox(row("b"))
          try writing.clearOutbox()
          throw Undo()
        }
      }
      let after = try store.read { try $0.outbox(after: nil) }
      #expect(after.rows == before.rows && after.version == before.version)
    }
  }

  @Test("Clearing is told to those who knew what was there", arguments: StoreKind.allCases)
  func cleared(_ kind: StoreKind) throws {
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      try store.write(origin: nil) { _ = try $0.writeOutbox(row("a")) }
      let known = try store.read { try $0.outbox(after: nil) }.version
      try store.write(origin: nil) { try $0.clearOutbox() }
      let changes = try store.read { try $0.outbox(after: known) }
      #expect(changes.isWhole && changes.rows.isEmpty && changes.wasCleared)
      let next = try store.write(origin: nil) { try $0.writeOutbox(row("a")) }
      #expect(try store.read { try $0.outbox(after: changes.version) }.rows == [next])
      #expect(try store.read { try $0.outbox(after: nil) }.wasCleared == false)
    }
  }

  @Test("Finished rows go after a while, and who has not seen them reads all", arguments: StoreKind.allCases)
  func forgotten(_ kind: StoreKind) throws {
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      try store.write(origin: nil) { _ = try $0.writeOutbox(row("pending")) }
      let known = try store.read { try $0.outbox(after: nil) }.version
      try store.write(origin: nil) { writing in
        for number in 0..<3000 {
          var row = row("\(number)")
          row.state = .sent
          try writing.writeOutbox(row)
        }
      }
      let changes = try store.read { try $0.outbox(after: known) }
      #expect(changes.isWhole && changes.rows.map(\.key) == ["pending"] && !changes.wasCleared)
      let version = changes.version
      let recent = OutboxVersion(epoch: version.epoch, number: version.number - 1000)
      #expect(try store.read { try $0.outbox(after: recent) }.rows.count == 1000)
    }
  }

  @Test("Who has read an empty outbox is told all that comes, also what is finished", arguments: StoreKind.allCases)
  func followedFromTheBeginning(_ kind: StoreKind) throws {
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      let empty = try store.read { try $0.outbox(after: nil) }
      #expect(empty.isWhole && empty.version == .empty)
      let still = try store.read { try $0.outbox(after: empty.version) }
      #expect(!still.isWhole && still.version == .empty && still.rows.isEmpty)
      var sent = try store.write(origin: nil) { try $0.writeOutbox(row("a")) }
      (sent.state, sent.body) = (.sent, "")
      try store.write(origin: nil) { [sent] in _ = try $0.writeOutbox(sent) }
      let changes = try store.read { try $0.outbox(after: empty.version) }
      #expect(!changes.isWhole && changes.rows == [sent])
      // Some may be forgotten then.
      try store.write(origin: nil) { try $0.clearOutbox() }
      #expect(try store.read { try $0.outbox(after: empty.version) }.isWhole)
    }
  }

  @Test("Whatever was written, each reader is told what has changed since it read", arguments: StoreKind.allCases)
  func random(_ kind: StoreKind) throws {
    struct Undo: Error {}
    let seed = UInt64.random(in: 0 ..< .max)
    var random = SeededGenerator(seed: seed)
    var kept: [Int64: OutboxRow] = [:]
    var readers = Array(repeating: (version: OutboxVersion?.none, rows: [Int64: OutboxRow]()), count: 4)
    var nextKey = 0
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      for step in 0..<300 {
        let before = kept
        let isUndone = Int.random(in: 0..<8, using: &random) == 0
        do {
          try store.write(origin: nil) { writing in
            for _ in 0..<Int.random(in: 1...16, using: &random) {
              let old = kept.keys.sorted().randomElement(using: &random)
              switch Int.random(in: 0..<200, using: &random) {
              case 0:
                try writing.clearOutbox()
                kept = [:]
              case 1..<100:
                nextKey += 1
                let row = try writing.writeOutbox(row("\(nextKey)"))
                #expect(kept.updateValue(row, forKey: row.number) == nil, "seed \(seed), step \(step)")
              default:
                guard let old, var row = try writing.outboxRow(old) else { continue }
                #expect(row == kept[old], "seed \(seed), step \(step)")
                row.state = OutboxRow.State.allCases.randomElement(using: &random) ?? .sent
                try writing.writeOutbox(row)
                kept[old] = row.state.isFinished ? nil : row
              }
            }
            if isUndone { throw Undo() }
          }
        } catch is Undo { kept = before }
        let index = Int.random(in: 0..<16, using: &random) % 5
        guard index < 4 else { continue }
        let changes = try store.read { try $0.outbox(after: readers[index].version) }
        if changes.isWhole { readers[index].rows = [:] }
        for row in changes.rows { readers[index].rows[row.number] = row.state.isFinished ? nil : row }
        readers[index].version = changes.version
        #expect(readers[index].rows == kept, "seed \(seed), step \(step)")
      }
    }
  }

  #if Persistence
    @Test("A number that another program has taken is not given again, and its row stays")
    func takenNumber() throws {
      try withFolder { folder in
        let store = try SQLiteStore(url: folder.appending(path: "a.sqlite"), entities: [])
        defer { try? store.close() }
        let first = try store.write(origin: nil) { try $0.writeOutbox(row("a")) }
        try store.pool.write { try $0.execute(sql: "UPDATE concord_outbox SET number = 2") }
        let second = try store.write(origin: nil) { try $0.writeOutbox(row("b")) }
        #expect(first.number == 1 && second.number == 3)
        #expect(try store.read { try $0.outbox(after: nil) }.rows.map(\.key) == ["a", "b"])
      }
    }
  #endif

  @Test("One holds it at a time", arguments: StoreKind.allCases)
  func hold(_ kind: StoreKind) throws {
    try kind.withStore(Model("Sample", entities: [Sample.self, Author.self, Review.self])) { store in
      var hold = try store.holdOutbox()
      #expect(try hold != nil && store.holdOutbox() == nil)
      hold = nil
      #expect(try store.holdOutbox() != nil)
    }
  }
}
