import ConcordPersistence
import Foundation
import GRDB

extension Row {
  /// Removal of what a rule does not keep.
  static var retention: [Row] {
    [
      purge(of: 100_000), purge(of: 10_000, named: "the same of 10,000 that were stored before others"), purgeNothing,
      fetchNoted, bounded,
    ]
  }

  private static let kept = 10_000

  /// - Parameter count: the number of entities that go.
  private static func purge(of count: Int, named name: String? = nil) -> Row {
    Row(
      name ?? "purge 100,000 in a file that were stored before 10,000 others, each", goal: .floor(times: 3),
      floor: "GRDB: a transaction that deletes them by the column with their dates, and the pages that become free",
      repetitions: 5
    ) { stopwatch in
      Sides {
        let file = try VolumeFile(kept + count)
        let context = try file.concord().newBackgroundContext()
        // Their stamps are those of now, and the others are from long ago.
        for id in 0..<kept { context.insert(Volume(id: id, turn: 1)) }
        try context.save()
        var removed = 0
        let time = try stopwatch.nanoseconds(per: count) {
          removed = try context.purge(Volume.self, keeping: .atMost(kept))
        }
        try expect(removed, is: count, "volumes that were removed")
        let left = try context.count(FetchDescriptor<Volume>(predicate: #Predicate { $0.id < kept }))
        try expect(left, is: kept, "volumes that are left")
        return withExtendedLifetime(file) { time }
      } floor: {
        let raw = try VolumeFile(kept + count)
        let pool = try raw.pool()
        try pool.write { try $0.execute(sql: "UPDATE Volume SET _stamp = 1 WHERE id < \(kept)") }
        let time = try stopwatch.nanoseconds(per: count) {
          try pool.write { db in
            try db.execute(
              sql: """
                DELETE FROM Volume WHERE id IN (SELECT id FROM Volume ORDER BY _stamp DESC, id LIMIT -1 OFFSET \(kept))
                """)
          }
          try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        }
        let left = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM Volume") }
        try expect(left ?? 0, is: kept, "volumes that are left")
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  /// What it costs to note that what is fetched is used.
  private static var fetchNoted: Row {
    Row(
      "fetch 10,000 of a type with a rule, each", goal: .none, floor: "the same without a rule, with Concord",
      repetitions: 15
    ) { stopwatch in
      func fetching(hasRule: Bool) throws -> () throws -> Double {
        let file = try VolumeFile(kept)
        let container = try file.concord()
        if hasRule { try container.keep(Volume.self, .atMost(kept)) }
        return {
          var count = 0
          let time = try stopwatch.nanoseconds(per: kept) {
            count = try container.viewContext.fetch(FetchDescriptor<Volume>()).count
          }
          try expect(count, is: kept, "volumes that were fetched")
          return withExtendedLifetime(file) { time }
        }
      }
      return Sides(concord: try fetching(hasRule: true), floor: try fetching(hasRule: false))
    }
  }

  /// What a container holds in memory does not depend on how much has gone through it.
  private static var bounded: Row {
    Row(
      "heap after 1,000,000 through a bound of 10,000, in a file", unit: .bytes, goal: .floor(times: 1.5),
      floor: "the same after 50,000", repetitions: 1
    ) { _ in
      func heap(after count: Int) throws -> Double {
        let before = Heap.bytesInUse
        let file = try VolumeFile(0)
        let container = try file.concord()
        let (context, view) = (container.newBackgroundContext(), container.viewContext)
        try container.keep(Volume.self, .atMost(kept))
        try view.keep(Volume.self, .atMost(kept / 10))
        for start in stride(from: 0, to: count, by: 1_000) {
          for id in start..<start + 1_000 { context.insert(Volume(id: id)) }
          try context.save()
          for id in stride(from: start, to: start + 1_000, by: 10) { _ = try view.find(Volume.self, id: id) }
        }
        try context.purge(Volume.self, keeping: .atMost(kept))
        Heap.settle()
        let growth = Double(Heap.bytesInUse - before)
        let left = try context.count(FetchDescriptor<Volume>())
        try expect(left >= kept && left <= kept + kept / 10, "\(left) volumes are left")
        return withExtendedLifetime(file) { growth }
      }
      return Sides {
        try heap(after: 1_000_000)
      } floor: {
        try heap(after: 50_000)
      }
    }
  }

  /// What an app pays each time that it looks.
  private static var purgeNothing: Row {
    Row(
      "purge nothing of 100,000, each that is looked at", goal: .floor(times: 3),
      floor: "GRDB: reads the ids and the dates of all", repetitions: 11
    ) { stopwatch in
      let count = 100_000
      let file = try VolumeFile(count)
      let context = try file.concord().newBackgroundContext()
      let raw = try VolumeFile(count)
      let pool = try raw.pool()
      return Sides {
        var removed = 0
        let time = try stopwatch.nanoseconds(per: count) {
          removed = try context.purge(Volume.self, keeping: .atMost(count))
        }
        try expect(removed, is: 0, "volumes that were removed")
        return withExtendedLifetime(file) { time }
      } floor: {
        var (ids, dates) = ([Int](), [Double]())
        let time = try stopwatch.nanoseconds(per: count) {
          try pool.read { db in
            let rows = try GRDB.Row.fetchCursor(db, sql: "SELECT id, _stamp FROM Volume")
            while let row = try rows.next() {
              ids.append(row[0])
              dates.append(row[1])
            }
          }
        }
        try expect(ids.count, is: count, "ids that were read")
        return withExtendedLifetime((raw, dates)) { time }
      }
    }
  }
}
