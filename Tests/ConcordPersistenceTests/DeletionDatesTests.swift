import Concord
import ConcordModel
import Foundation
import Testing

@testable import ConcordPersistence

#if Persistence
  import GRDB
#endif

@Suite("How long deletions are remembered")
struct DeletionDatesTests {
  private let model: Model

  init() throws { model = try libraryModel() }

  private func keys(_ ids: Range<Int64>) throws -> [EntityKey] {
    let entity = try model.entity(Review.self)
    return ids.map { EntityKey(entity, .integer($0)) }
  }

  @Test("Deletions in memory that were noted while the clock was ahead do not keep those noted after them")
  func memory() throws {
    let now = Date(timeIntervalSinceReferenceDate: 1000)
    let (ahead, old) = (try keys(0..<100), try keys(100..<200))
    var deletions = MemoryDeletions()
    for key in ahead { deletions.note(key, 7, at: now + 500) }
    for key in old { deletions.note(key, 7, at: now - 100) }
    for _ in 0..<4 { deletions.forget(before: now - 50, atMost: 64, now: now) }
    #expect(old.allSatisfy { deletions[$0] == nil })
    #expect(ahead.allSatisfy { deletions[$0]?.stamp == 7 })
    // Their time comes, too.
    for _ in 0..<4 { deletions.forget(before: now + 600, atMost: 64, now: now + 650) }
    #expect(ahead.allSatisfy { deletions[$0] == nil })
  }

  #if Persistence
    private func withFile(
      _ body: (URL, _ open: (TimeInterval, (SQLiteStore) throws -> Void) throws -> Void) throws -> Void
    ) throws {
      try withFolder { folder in
        let url = folder.appending(path: "a.sqlite")
        try body(url) { time, body in
          let store = try SQLiteStore(url: url, entities: model.entities, remembersDeletionsFor: time)
          defer { try? store.close() }
          try body(store)
        }
      }
    }

    private func remembered(_ ids: Range<Int64>, _ store: SQLiteStore) throws -> Int {
      let keys = try keys(ids)
      return try store.read { reading in try keys.count { try reading.deletion(of: $0) == 7 } }
    }

    @Test("Deletions in a file that were noted while the clock was ahead do not keep those noted after them")
    func file() throws {
      try withFile { url, open in
        try open(100) { store in
          let keys = try keys(0..<2000)
          try store.write(origin: nil) { writing in for key in keys { try writing.delete(key, stamp: 7) } }
        }
        try DatabaseQueue(path: url.path).write { db in
          try db.execute(sql: "UPDATE concord_deletions SET date = date + iif(\"key\" < 1500, 1e9, -1e6)")
        }
        // Each looks at the first thousand.
        for _ in 0..<3 { try open(100) { _ in } }
        try open(100) { store in
          #expect(try remembered(0..<1500, store) == 1500)
          #expect(try remembered(1500..<2000, store) == 0)
          // What is deleted from now on has a place of its own.
          let keys = try keys(3000..<3100)
          try store.write(origin: nil) { writing in for key in keys { try writing.delete(key, stamp: 7) } }
          #expect(try remembered(0..<3100, store) == 1600)
        }
      }
    }

    @Test("A file attached with the option 0 forgets also what was remembered before")
    func none() throws {
      try withFile { _, open in
        let keys = try keys(0..<1500)
        try open(100) { store in
          try store.write(origin: nil) { writing in for key in keys { try writing.delete(key, stamp: 7) } }
        }
        for time in [0.0, 100] {
          try open(time) { store in
            let count = try remembered(0..<1500, store)
            #expect(count == 0)
          }
        }
      }
    }
  #endif
}
