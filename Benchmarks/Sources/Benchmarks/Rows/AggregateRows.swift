import ConcordPersistence
import Foundation
import GRDB

extension Row {
  /// What a store computes of many rows, and what is changed in all that a predicate finds.
  static var aggregates: [Row] {
    [
      sums(of: 100_000, "100,000"), sums(of: 1_000, "1,000"), groups,
      changeAll(of: 10_000, "10,000"), changeAll(of: 1_000, "1,000"),
    ]
  }

  private static func sums(of count: Int, _ written: String) -> Row {
    Row(
      "count, sum and average of \(written) rows in a file", goal: .floor(times: 4),
      floor: "GRDB: the statement that SQLite computes them with, whose sums are rounded with each row",
      repetitions: 21
    ) { stopwatch in
      let file = try VolumeFile(count)
      let context = try file.concord().newBackgroundContext()
      let raw = try VolumeFile(count)
      let pool = try raw.pool()
      return Sides {
        var found = (count: 0, years: 0, price: Double?.none)
        let time = try stopwatch.nanoseconds {
          found = try context.aggregate(Volume.self, .count, .sum(\.year), .average(\.price))
        }
        try expect(found.count, is: count, "rows that were counted")
        try expect(found.price ?? 0, is: Double(count - 1) / 8, "the average price")
        return withExtendedLifetime(file) { time }
      } floor: {
        var found: GRDB.Row?
        let time = try stopwatch.nanoseconds {
          found = try pool.read {
            try GRDB.Row.fetchOne($0, sql: "SELECT count(*), sum(year), avg(price) FROM Volume")
          }
        }
        try expect(found?[0] ?? 0, is: count, "rows that were counted")
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  private static var groups: Row {
    Row(
      "count and sum of 100,000 rows in a file by 1,000 authors", goal: .floor(times: 2),
      floor: "GRDB: the statement, and a Dictionary of its rows", repetitions: 11
    ) { stopwatch in
      let count = 100_000
      let file = try VolumeFile(count)
      let context = try file.concord().newBackgroundContext()
      let raw = try VolumeFile(count)
      let pool = try raw.pool()
      return Sides {
        var found: [String: (Int, Int)] = [:]
        let time = try stopwatch.nanoseconds {
          found = try context.aggregate(Volume.self, by: \.author, .count, .sum(\.year))
        }
        try expect(found.count, is: 1_000, "authors")
        try expect(found["Author 7"]?.0 ?? 0, is: count / 1_000, "volumes of an author")
        return withExtendedLifetime(file) { time }
      } floor: {
        var found: [String: (Int, Int)] = [:]
        let time = try stopwatch.nanoseconds {
          try pool.read { db in
            let rows = try GRDB.Row.fetchCursor(
              db, sql: "SELECT author, count(*), sum(year) FROM Volume GROUP BY author")
            while let row = try rows.next() { found[row[0]] = (row[1], row[2]) }
          }
        }
        try expect(found.count, is: 1_000, "authors")
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  /// - Parameter count: the number of rows that are changed, of 20,000.
  private static func changeAll(of count: Int, _ written: String) -> Row {
    Row(
      "change and save all \(written) of 20,000 rows in a file that a predicate finds, each", goal: .floor(times: 3),
      floor: "GRDB: a transaction that reads them into memory, and upserts each", repetitions: 11
    ) { stopwatch in
      let file = try VolumeFile(20_000)
      let container = try file.concord()
      let raw = try VolumeFile(20_000)
      let pool = try raw.pool()
      var turn = 0
      return Sides {
        turn += 1
        let title = Titles[turn]
        let context = container.newBackgroundContext()
        var changed = 0
        let time = try stopwatch.nanoseconds(per: count) {
          changed = try context.update(Volume.self, where: #Predicate { $0.id < count }) { $0.title = title }
          try context.save()
        }
        try expect(changed, is: count, "volumes that were changed")
        try expect(try context.find(Volume.self, id: count - 1)?.title, is: title, "a changed title")
        return withExtendedLifetime(file) { time }
      } floor: {
        turn += 1
        let title = Titles[turn]
        let time = try stopwatch.nanoseconds(per: count) {
          try pool.write { db in
            let sql = "SELECT \(RawVolume.columns) FROM Volume WHERE id < \(count)"
            var volumes = try GRDB.Row.fetchAll(db, sql: sql).map(RawVolume.read)
            let upsert = try db.cachedStatement(sql: RawVolume.upsert)
            for index in volumes.indices {
              volumes[index].title = title
              try RawVolume.write(volumes[index], with: upsert)
            }
          }
        }
        return withExtendedLifetime(raw) { time }
      }
    }
  }
}
