import ConcordConnect
import Foundation
import GRDB

extension Row {
  /// What a web service returned, and what is stored, made equal. Beside GRDB by hand: all rows in the order of their ids beside
  /// the objects, and a statement that is prepared once for each row that differs, is new or is gone, in one transaction. It does less:
  /// it overwrites what is stored and fresher, and does not look whether somebody contains what goes.
  static var merges: [Row] {
    [
      merge("merge 100,000 objects into a file that has them, each") { _ in (0..<size).map { Volume(id: $0) } },
      merge("the same, of which a tenth differs, a tenth is new and a tenth is gone, each", merged),
      merge("merge 100,000 objects that all differ, each") { turn in (0..<size).map { Volume(id: $0, turn: turn) } },
    ]
  }

  private static let size = 100_000

  /// Of ten ids, another one is left out in each turn, and another one has another title.
  private static func merged(_ turn: Int) -> [Volume] {
    (0..<size).filter { $0 % 10 != turn % 10 }.map { Volume(id: $0, turn: $0 % 10 == (turn + 5) % 10 ? turn : 0) }
  }

  private static func merge(_ name: String, _ objects: @escaping (Int) -> [Volume]) -> Row {
    Row(
      name, goal: .floor(times: 1.5),
      floor:
        "the same with GRDB by hand, but without stamps, and without taking what goes out of what contains it",
      repetitions: 7
    ) { stopwatch in
      let (file, raw) = (try VolumeFile(size), try VolumeFile(size))
      let context: ActionContext = try file.concord().newGenericBackgroundContext()
      let pool = try raw.pool()
      var turns = (concord: 0, floor: 0)
      return Sides {
        turns.concord += 1
        let objects = objects(turns.concord)
        let time = try stopwatch.nanoseconds(per: size) { try context.merge(objects: objects, for: Volume.self) }
        try expect(try context.fetch(FetchDescriptor<Volume>()) == objects, "what is stored is not what was merged")
        return withExtendedLifetime(file) { time }
      } floor: {
        turns.floor += 1
        let objects = objects(turns.floor)
        let time = try stopwatch.nanoseconds(per: size) { try pool.write { try merge(objects, $0) } }
        let found = try pool.read { db in
          try GRDB.Row.fetchAll(db, sql: "SELECT \(RawVolume.columns) FROM Volume ORDER BY id").map(RawVolume.read)
        }
        try expect(found == objects, "what is stored is not what was merged")
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  /// As one writes it by hand, for objects of one type in one file.
  private static func merge(_ objects: [Volume], _ db: Database) throws {
    let sorted = objects.sorted { $0.id < $1.id }
    var (changed, gone): ([Volume], [Int]) = ([], [])
    var next = 0
    let rows = try GRDB.Row.fetchCursor(
      db.cachedStatement(sql: "SELECT \(RawVolume.columns) FROM Volume ORDER BY id"))
    while let row = try rows.next() {
      let stored = RawVolume.read(row)
      while next < sorted.count, sorted[next].id < stored.id {
        changed.append(sorted[next])
        next += 1
      }
      if next < sorted.count, sorted[next].id == stored.id {
        if sorted[next] != stored { changed.append(sorted[next]) }
        next += 1
      } else {
        gone.append(stored.id)
      }
    }
    changed += sorted[next...]
    let upsert = try db.cachedStatement(sql: RawVolume.upsert)
    for volume in changed { try RawVolume.write(volume, with: upsert) }
    let delete = try db.cachedStatement(sql: "DELETE FROM Volume WHERE id = ?")
    for id in gone { try delete.execute(arguments: [id]) }
  }
}
