import ConcordPersistence
import Foundation

extension Row {
  /// Searches, and what an index of words costs who writes.
  static var searches: [Row] {
    var rows =
      searches(
        PaperFile.self, in: "a file", bySearch: "GRDB and FTS5 by hand, ranked by bm25",
        bySave: "GRDB: an upsert, with triggers that keep FTS5",
        byUpsert: "GRDB: a transaction of upserts, with triggers that keep FTS5")
      + besideNotedAndFolding(PaperFile.self, in: "a file", folding: .microseconds(60))
    #if PostgreSQL
      if VolumeDatabase.url != nil {
        rows +=
          searches(
            PaperDatabase.self, in: "a database", bySearch: "libpq and a tsvector by hand, ranked by ts_rank",
            bySave:
              "libpq: a serialisable transaction with an upsert, whose tsvector the server makes (client and server on a core each)",
            byUpsert: "libpq: a serialisable transaction of arrays, whose tsvectors the server makes")
          + [noteInDatabase(1_000, "1,000"), noteInDatabase(100_000, "100,000")]
          + besideNotedAndFolding(PaperDatabase.self, in: "a database", folding: .microseconds(100))
      }
    #endif
    return rows
  }

  private static func searches<P: PaperPlace>(
    _ type: P.Type, in place: String, bySearch: String, bySave: String, byUpsert: String
  ) -> [Row] {
    [
      search(type, in: place, floor: bySearch), save(type, in: place, floor: bySave),
      upsert(type, in: place, floor: byUpsert),
    ]
  }

  private static func besideNotedAndFolding<P: PaperPlace>(
    _ type: P.Type, in place: String, folding goal: Goal
  ) -> [Row] {
    [(1_000, "1,000"), (10_000, "10,000")].map { besideNoted(type, in: place, of: $0, $1) }
      + [(10_000, "10,000"), (100_000, "100,000")].map { fold(type, in: place, goal, $0, $1) }
  }

  private static let count = 100_000

  private static func search<P: PaperPlace>(_: P.Type, in name: String, floor: String) -> Row {
    Row(
      "search a word that 440 of 100,000 texts in \(name) have, the best 20", goal: .floor(times: 4), floor: floor,
      repetitions: 21
    ) { stopwatch in
      let (place, other) = (try P(), try P())
      let context = try place.concord(count).newBackgroundContext()
      let raw = try other.byHand(count)
      return Sides {
        var found: [Paper] = []
        let time = try stopwatch.nanoseconds {
          found = try context.fetch(FetchDescriptor<Paper>(search: "word77", fetchLimit: 20))
        }
        try expect(found.count, is: 20, "hits")
        return withExtendedLifetime(place) { time }
      } floor: {
        var found = 0
        let time = try stopwatch.nanoseconds { found = try P.search("word77", raw) }
        try expect(found, is: 20, "hits")
        return withExtendedLifetime(other) { time }
      }
    }
  }

  private static func save<P: PaperPlace>(_: P.Type, in name: String, floor: String) -> Row {
    Row(
      "save one of 100,000 searchable texts in \(name)", goal: .floor(times: 3), floor: floor, repetitions: 15
    ) { stopwatch in
      let (place, other) = (try P(), try P())
      let context = try place.concord(count).newBackgroundContext()
      let raw = try other.byHand(count)
      let cores = try P.keepOnCores(raw)
      var turn = 0
      return Sides {
        turn += 1
        let time = try stopwatch.nanoseconds(per: 50) {
          for id in 0..<50 {
            context.insert(Paper(id: id, turn: turn))
            try context.save()
          }
        }
        return withExtendedLifetime((place, cores)) { time }
      } floor: {
        turn += 1
        let time = try stopwatch.nanoseconds(per: 50) {
          for id in 0..<50 { try P.upsert([Paper(id: id, turn: turn)], raw) }
        }
        return withExtendedLifetime(other) { time }
      }
    }
  }

  private static func upsert<P: PaperPlace>(_: P.Type, in name: String, floor: String) -> Row {
    Row(
      "upsert 10,000 of 100,000 searchable texts in \(name), each", goal: .floor(times: 3), floor: floor, repetitions: 7
    ) { stopwatch in
      let (place, other) = (try P(), try P())
      let context = try place.concord(count).newBackgroundContext()
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
        return withExtendedLifetime(place) { time }
      } floor: {
        let papers = papers()
        let time = try stopwatch.nanoseconds(per: 10_000) { try P.upsert(papers, raw) }
        return withExtendedLifetime(other) { time }
      }
    }
  }

  /// - Parameter number: the number of rows, which are all noted.
  private static func besideNoted<P: PaperPlace>(
    _: P.Type, in name: String, of number: Int, _ written: String
  ) -> Row {
    Row(
      "search two words in \(name) beside \(written) noted rows, each of these", goal: .microseconds(30),
      floor: "nothing", repetitions: 11
    ) { stopwatch in
      let place = try P()
      let context = try place.concord(number).newBackgroundContext()
      let search = FetchDescriptor<Paper>(search: "word77 topic7", fetchLimit: 20)
      // In a database the first search folds what is noted, and the next ones leave it.
      _ = try context.fetch(search)
      try place.noteAll()
      return Sides {
        try withExtendedLifetime(place) {
          try stopwatch.nanoseconds(per: number) { _ = try context.fetch(search) }
        }
      }
    }
  }

  private static func fold<P: PaperPlace>(
    _: P.Type, in name: String, _ goal: Goal, _ number: Int, _ written: String
  ) -> Row {
    Row("attach \(name) that folds \(written) noted rows, each", goal: goal, floor: "nothing", repetitions: 5) {
      stopwatch in
      let place = try P()
      _ = try place.concord(number)
      return Sides {
        try place.noteAll()
        try place.detach()
        return try stopwatch.nanoseconds(per: number) { try place.attach() }
      }
    }
  }

  #if PostgreSQL
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
  #endif
}
