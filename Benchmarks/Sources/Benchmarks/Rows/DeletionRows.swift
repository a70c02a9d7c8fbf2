import ConcordPersistence
import Foundation
import GRDB

extension Row {
  /// Deletions in a file, whose stamps are remembered.
  static var deletions: [Row] { [deleteOne] }

  private static let table = """
    CREATE TABLE deletions (
      number INTEGER PRIMARY KEY, "table" TEXT NOT NULL, "key" NOT NULL, stamp REAL NOT NULL, date REAL NOT NULL,
      UNIQUE ("table", "key")
    );
    CREATE INDEX "deletions.stamp" ON deletions (stamp)
    """
  private static let note = """
    INSERT OR REPLACE INTO deletions ("table", "key", stamp, date) VALUES (?1, ?2, \
    max(?3, ifnull((SELECT stamp FROM deletions WHERE "table" = ?1 AND "key" = ?2), ?3)), ?4)
    """

  private static var deleteOne: Row {
    Row(
      "delete one of 100,000 in a file, and save that", goal: .none,
      floor: "a transaction of GRDB's that deletes the row, and notes its stamp in a table of the same form",
      repetitions: 15
    ) { stopwatch in
      let (count, times) = (100_000, 200)
      let (file, raw) = (try VolumeFile(count), try VolumeFile(count))
      let context = try file.concord().newBackgroundContext()
      let pool = try raw.pool()
      try pool.write { try $0.execute(sql: table) }
      var (deleted, rawDeleted) = (0, 0)
      return Sides {
        let time = try stopwatch.nanoseconds(per: times) {
          for id in deleted..<deleted + times {
            try context.delete(Volume.self, id: id)
            try context.save()
          }
        }
        deleted += times
        try expect(try context.count(FetchDescriptor<Volume>()), is: count - deleted, "volumes that are left")
        return withExtendedLifetime(file) { time }
      } floor: {
        let time = try stopwatch.nanoseconds(per: times) {
          for id in rawDeleted..<rawDeleted + times {
            try pool.write { db in
              try db.cachedStatement(sql: "DELETE FROM Volume WHERE id = ?").execute(arguments: [id])
              let now = Date().timeIntervalSinceReferenceDate
              try db.cachedStatement(sql: note).execute(arguments: ["Volume", id, now, now])
            }
          }
        }
        rawDeleted += times
        let left = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM Volume") }
        try expect(left ?? 0, is: count - rawDeleted, "volumes that are left")
        return withExtendedLifetime(raw) { time }
      }
    }
  }
}
