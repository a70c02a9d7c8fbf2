import ConcordPersistence
import Foundation
import GRDB

extension Row {
  /// Searches, and what an index of words costs who writes.
  static var searches: [Row] {
    var rows = [
      searchFile, saveSearchable, upsertSearchable,
      besideNoted(of: 1_000, "1,000"), besideNoted(of: 10_000, "10,000"),
      foldInFile(10_000, "10,000"), foldInFile(100_000, "100,000"),
    ]
    #if PostgreSQL
      if VolumeDatabase.url != nil {
        rows += [
          searchDatabase, saveSearchableInDatabase, upsertSearchableInDatabase,
          noteInDatabase(1_000, "1,000"), noteInDatabase(100_000, "100,000"),
          besideNotedInDatabase(of: 1_000, "1,000"), besideNotedInDatabase(of: 10_000, "10,000"),
          foldInDatabase(10_000, "10,000"), foldInDatabase(100_000, "100,000"),
        ]
      }
    #endif
    return rows
  }

  private static let count = 100_000
  private static let search = FetchDescriptor<Paper>(search: "word77 topic7", fetchLimit: 20)
  private static let frequent = FetchDescriptor<Paper>(search: "word77", fetchLimit: 20)

  private static var searchFile: Row {
    Row(
      "search a word that 440 of 100,000 texts in a file have, the best 20", goal: .floor(times: 4),
      floor: "GRDB and FTS5 by hand, ranked by bm25", repetitions: 21
    ) { stopwatch in
      let (file, raw) = (try PaperFile(), try PaperFile())
      let context = try file.concord(count).newBackgroundContext()
      let pool = try raw.byHand(count)
      return Sides {
        var found: [Paper] = []
        let time = try stopwatch.nanoseconds { found = try context.fetch(frequent) }
        try expect(found.count, is: 20, "hits")
        return withExtendedLifetime(file) { time }
      } floor: {
        var found = 0
        let time = try stopwatch.nanoseconds {
          found = try pool.read { db in
            try GRDB.Row.fetchAll(
              db,
              sql: """
                SELECT Paper.id, Paper.text FROM found JOIN Paper ON Paper.id = found.rowid
                WHERE found MATCH 'word77' ORDER BY found.rank LIMIT 20
                """
            ).map { ($0[0] as Int, $0[1] as String) }.count
          }
        }
        try expect(found, is: 20, "hits")
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  private static var saveSearchable: Row {
    Row(
      "save one of 100,000 searchable texts in a file", goal: .floor(times: 3),
      floor: "GRDB: an upsert, with triggers that keep FTS5", repetitions: 15
    ) { stopwatch in
      let (file, raw) = (try PaperFile(), try PaperFile())
      let context = try file.concord(count).newBackgroundContext()
      let pool = try raw.byHand(count)
      var turn = 0
      return Sides {
        turn += 1
        let time = try stopwatch.nanoseconds(per: 50) {
          for id in 0..<50 {
            context.insert(Paper(id: id, turn: turn))
            try context.save()
          }
        }
        return withExtendedLifetime(file) { time }
      } floor: {
        turn += 1
        let time = try stopwatch.nanoseconds(per: 50) {
          for id in 0..<50 { try PaperFile.upsert([Paper(id: id, turn: turn)], pool) }
        }
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  private static var upsertSearchable: Row {
    Row(
      "upsert 10,000 of 100,000 searchable texts in a file, each", goal: .floor(times: 3),
      floor: "GRDB: a transaction of upserts, with triggers that keep FTS5", repetitions: 7
    ) { stopwatch in
      let (file, raw) = (try PaperFile(), try PaperFile())
      let context = try file.concord(count).newBackgroundContext()
      let pool = try raw.byHand(count)
      var turn = 0
      func papers() -> [Paper] {
        turn += 1
        return (0..<10_000).map { Paper(id: $0 * 10, turn: turn) }
      }
      return Sides {
        let papers = papers()
        let time = try stopwatch.nanoseconds(per: 10_000) {
          for paper in papers { context.insert(paper) }
          try context.save()
        }
        return withExtendedLifetime(file) { time }
      } floor: {
        let papers = papers()
        let time = try stopwatch.nanoseconds(per: 10_000) { try PaperFile.upsert(papers, pool) }
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  /// - Parameter number: the number of rows, which are all noted.
  private static func besideNoted(of number: Int, _ written: String) -> Row {
    Row(
      "search two words in a file beside \(written) noted rows, each of these", goal: .microseconds(30),
      floor: "nothing", repetitions: 11
    ) { stopwatch in
      let file = try PaperFile()
      let context = try file.concord(number).newBackgroundContext()
      try file.noteAll()
      return Sides {
        try withExtendedLifetime(file) {
          try stopwatch.nanoseconds(per: number) { _ = try context.fetch(search) }
        }
      }
    }
  }

  private static func foldInFile(_ number: Int, _ written: String) -> Row {
    Row(
      "attach a file that folds \(written) noted rows, each", goal: .microseconds(60), floor: "nothing", repetitions: 5
    ) { stopwatch in
      let file = try PaperFile()
      _ = try file.concord(number)
      return Sides {
        try file.noteAll()
        try file.detach()
        return try stopwatch.nanoseconds(per: number) { try file.attach() }
      }
    }
  }

  #if PostgreSQL
    private static var searchDatabase: Row {
      Row(
        "search a word that 440 of 100,000 texts in a database have, the best 20", goal: .floor(times: 4),
        floor: "libpq and a tsvector by hand, ranked by ts_rank", repetitions: 21
      ) { stopwatch in
        let (database, other) = (PaperDatabase(), PaperDatabase())
        let context = try database.concord(count).newBackgroundContext()
        let raw = try other.byHand(count)
        return Sides {
          var found: [Paper] = []
          let time = try stopwatch.nanoseconds { found = try context.fetch(frequent) }
          try expect(found.count, is: 20, "hits")
          return withExtendedLifetime(database) { time }
        } floor: {
          var found = 0
          let time = try stopwatch.nanoseconds { found = try PaperDatabase.search("word77", raw) }
          try expect(found, is: 20, "hits")
          return withExtendedLifetime(other) { time }
        }
      }
    }

    private static var saveSearchableInDatabase: Row {
      Row(
        "save one of 100,000 searchable texts in a database", goal: .floor(times: 3),
        floor: "libpq: a serialisable transaction with an upsert, whose tsvector the server makes", repetitions: 15
      ) { stopwatch in
        let (database, other) = (PaperDatabase(), PaperDatabase())
        let context = try database.concord(count).newBackgroundContext()
        let raw = try other.byHand(count)
        var turn = 0
        return Sides {
          turn += 1
          let time = try stopwatch.nanoseconds(per: 50) {
            for id in 0..<50 {
              context.insert(Paper(id: id, turn: turn))
              try context.save()
            }
          }
          return withExtendedLifetime(database) { time }
        } floor: {
          turn += 1
          let time = try stopwatch.nanoseconds(per: 50) {
            for id in 0..<50 { try PaperDatabase.upsert([Paper(id: id, turn: turn)], raw) }
          }
          return withExtendedLifetime(other) { time }
        }
      }
    }

    private static var upsertSearchableInDatabase: Row {
      Row(
        "upsert 10,000 of 100,000 searchable texts in a database, each", goal: .floor(times: 3),
        floor: "libpq: a serialisable transaction of arrays, whose tsvectors the server makes", repetitions: 7
      ) { stopwatch in
        let (database, other) = (PaperDatabase(), PaperDatabase())
        let context = try database.concord(count).newBackgroundContext()
        let raw = try other.byHand(count)
        var turn = 0
        func papers() -> [Paper] {
          turn += 1
          return (0..<10_000).map { Paper(id: $0 * 10, turn: turn) }
        }
        return Sides {
          let papers = papers()
          let time = try stopwatch.nanoseconds(per: 10_000) {
            for paper in papers { context.insert(paper) }
            try context.save()
          }
          return withExtendedLifetime(database) { time }
        } floor: {
          let papers = papers()
          let time = try stopwatch.nanoseconds(per: 10_000) { try PaperDatabase.upsert(papers, raw) }
          return withExtendedLifetime(other) { time }
        }
      }
    }

    /// - Parameter number: the number of rows that another program changes, behind a statement that has changed one.
    private static func noteInDatabase(_ number: Int, _ written: String) -> Row {
      Row(
        "an update of \(written) searchable texts with psql, each", goal: .microseconds(60), floor: "nothing",
        repetitions: 5
      ) { stopwatch in
        let database = PaperDatabase()
        _ = try database.concord(number)
        let raw = try database.raw()
        try raw.run("UPDATE \"Paper\" SET text = text || ' once' WHERE id = 1")
        return Sides {
          try withExtendedLifetime(database) {
            try stopwatch.nanoseconds(per: number) { try raw.run("UPDATE \"Paper\" SET text = text || ' more'") }
          }
        }
      }
    }

    private static func besideNotedInDatabase(of number: Int, _ written: String) -> Row {
      Row(
        "search two words in a database beside \(written) noted rows, each of these", goal: .microseconds(30),
        floor: "nothing", repetitions: 11
      ) { stopwatch in
        let database = PaperDatabase()
        let context = try database.concord(number).newBackgroundContext()
        // The first search folds what is noted, and the next ones leave it.
        _ = try context.fetch(search)
        try database.noteAll()
        return Sides {
          try withExtendedLifetime(database) {
            try stopwatch.nanoseconds(per: number) { _ = try context.fetch(search) }
          }
        }
      }
    }

    private static func foldInDatabase(_ number: Int, _ written: String) -> Row {
      Row(
        "attach a database that folds \(written) noted rows, each", goal: .microseconds(100), floor: "nothing",
        repetitions: 5
      ) { stopwatch in
        let database = PaperDatabase()
        _ = try database.concord(number)
        return Sides {
          try database.noteAll()
          try database.detach()
          return try stopwatch.nanoseconds(per: number) { try database.attach() }
        }
      }
    }
  #endif
}
