import Concord
import ConcordPersistence
import Foundation
import GRDB

extension Row {
  /// Texts in a file, beside the same SQL on the same file.
  static var texts: [Row] {
    [200_000, 1_000_000].flatMap { count in
      let of = count == 200_000 ? "200,000" : "1,000,000"
      return [
        text(
          "first 50 of \(of) by a text without an index", count, goal: .floor(times: 1.3), repetitions: 7,
          FetchDescriptor(sortBy: [SortDescriptor(\.artist, comparator: .lexical)], fetchLimit: 50),
          floor: "ORDER BY artist COLLATE by_hand, id LIMIT 50"),
        text(
          "first 50 of \(of) by a text with an index", count, goal: .floor(times: 1.5),
          FetchDescriptor(sortBy: [SortDescriptor(\.title, comparator: .lexical)], fetchLimit: 50),
          floor: "ORDER BY title, id LIMIT 50"),
        text(
          "50 of \(of) that begin with a text, by an index", count, goal: .none,
          FetchDescriptor(
            predicate: #Predicate { $0.title.starts(with: "Title ab") },
            sortBy: [SortDescriptor(\.title, comparator: .lexical)], fetchLimit: 50),
          floor: "WHERE title >= 'Title ab' AND title < 'Title ac' ORDER BY title, id LIMIT 50"),
        text(
          "those of \(of) that contain a text", count, goal: .none, repetitions: 7,
          FetchDescriptor(predicate: #Predicate { $0.artist.contains("abc") }),
          floor: "WHERE instr(artist, 'abc') ORDER BY id"),
        text(
          "those of \(of) that are equal to a text, by an index", count, goal: .none,
          FetchDescriptor(predicate: #Predicate { $0.title == "Title ab of the 3th kind" }),
          floor: "WHERE title = 'Title ab of the 3th kind' ORDER BY id"),
      ]
    }
  }

  private static func text(
    _ name: String, _ count: Int, goal: Goal, repetitions: Int = 31, _ descriptor: FetchDescriptor<Track>, floor: String
  ) -> Row {
    Row(name, goal: goal, floor: "the same SQL by hand, with GRDB: \(floor)", repetitions: repetitions) { stopwatch in
      let file = try TrackFile(count)
      let sql = "SELECT id, title, artist, year FROM Track \(floor)"
      let expected = try file.pool.read { try GRDB.Row.fetchAll($0, sql: sql).map { Track($0) } }
      return Sides {
        var found: [Track] = []
        let time = try stopwatch.nanoseconds { found = try file.context.fetch(descriptor) }
        try expect(found == expected, "the tracks are not those that SQL finds")
        return time
      } floor: {
        var found: [Track] = []
        let time = try stopwatch.nanoseconds {
          found = try file.pool.read { try GRDB.Row.fetchAll($0.cachedStatement(sql: sql)).map { Track($0) } }
        }
        try expect(found == expected, "the tracks are not those that SQL finds")
        return time
      }
    }
  }
}
