import Concord
import ConcordPersistence
import Foundation
import GRDB
import GRDBSQLite

extension Row {
  /// The third table: files. Beside GRDB with statements that are prepared once, and SQLite's own functions by position, on
  /// the same rows in a file of the same tables and indexes, in the same journal mode.
  static var files: [Row] {
    [
      upsert, upsertBesideSQLite, fetchAll, fetchAllBesideGRDB, findStored, findStoredBesideSQLite,
      saveOne(queries: 0), saveOne(queries: 50), saveOne(queries: 100_000), saveOne(queries: 50, followsLayers: true),
      saveOne(queries: 100_000, followsLayers: true), updateOne, saveAggregate, loadAggregate,
      firstScreen, firstScreenBesideGRDB, attach, memoryOfLiveQuery,
    ]
  }

  private static let count = 100_000
  private static let grdb = "the same with GRDB: a statement that is prepared once, arguments and rows by position"
  private static let sqlite = "the same with SQLite's own functions, on GRDB's connection"

  // MARK: Upsert

  private static func upsert(
    _ name: String, goal: Goal, floor: String,
    _ write: @escaping (DatabasePool, [Volume]) throws -> Void
  ) -> Row {
    Row(name, goal: goal, floor: floor, repetitions: 7) { stopwatch in
      let (file, raw) = (try VolumeFile(count), try VolumeFile(count))
      let context = try file.concord().newBackgroundContext()
      let pool = try raw.pool()
      var turn = 0
      func volumes() -> [Volume] {
        turn += 1
        return (0..<count).map { Volume(id: $0, turn: turn) }
      }
      return Sides {
        let volumes = volumes()
        let time = try stopwatch.nanoseconds(per: count) {
          for volume in volumes { context.insert(volume) }
          try context.save()
        }
        try expect(try context.find(Volume.self, id: 4711), is: volumes[4711], "a volume that was saved")
        return withExtendedLifetime(file) { time }
      } floor: {
        let volumes = volumes()
        let time = try stopwatch.nanoseconds(per: count) { try write(pool, volumes) }
        let found = try pool.read { try GRDB.Row.fetchOne($0, sql: "SELECT * FROM Volume WHERE id = 4711") }
        try expect(found.map(RawVolume.read), is: volumes[4711], "a volume that was saved")
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  private static var upsert: Row {
    upsert("upsert 100,000 into a file, each", goal: .floor(times: 1.25), floor: grdb) { pool, volumes in
      try pool.write { db in
        let statement = try db.cachedStatement(sql: RawVolume.upsert)
        for volume in volumes { try RawVolume.write(volume, with: statement) }
      }
    }
  }

  private static var upsertBesideSQLite: Row {
    upsert("the same, beside SQLite", goal: .none, floor: sqlite) { pool, volumes in
      try pool.write { db in
        let statement = try db.cachedStatement(sql: RawVolume.upsert)
        for volume in volumes { try RawVolume.write(volume, to: statement.sqliteStatement) }
      }
    }
  }

  // MARK: Fetch and find

  private static func fetch(
    _ name: String, goal: Goal, floor: String, _ read: @escaping (Database) throws -> [Volume]
  ) -> Row {
    Row(name, goal: goal, floor: floor, repetitions: 11) { stopwatch in
      let file = try VolumeFile(count)
      let context = try file.concord().newBackgroundContext()
      let pool = try file.pool()
      return Sides {
        var found: [Volume] = []
        let time = try stopwatch.nanoseconds(per: count) {
          found = try context.fetch(FetchDescriptor<Volume>())
        }
        try expect(found.count, is: count, "volumes")
        try expect(found[4711], is: Volume(id: 4711), "a volume")
        return time
      } floor: {
        var found: [Volume] = []
        let time = try stopwatch.nanoseconds(per: count) { found = try pool.read(read) }
        try expect(found.count, is: count, "volumes")
        return withExtendedLifetime(file) { time }
      }
    }
  }

  private static let select = "SELECT \(RawVolume.columns) FROM Volume ORDER BY id"

  private static var fetchAll: Row {
    fetch("fetch 100,000 from a file, each", goal: .floor(times: 1.3), floor: sqlite) { db in
      let statement = try db.cachedStatement(sql: select)
      var found: [Volume] = []
      while sqlite3_step(statement.sqliteStatement) == SQLITE_ROW {
        found.append(RawVolume.read(statement.sqliteStatement))
      }
      sqlite3_reset(statement.sqliteStatement)
      return found
    }
  }

  private static var fetchAllBesideGRDB: Row {
    fetch("the same, beside GRDB", goal: .none, floor: grdb) { db in
      var found: [Volume] = []
      let rows = try GRDB.Row.fetchCursor(db.cachedStatement(sql: select))
      while let row = try rows.next() { found.append(RawVolume.read(row)) }
      return found
    }
  }

  private static func find(
    _ name: String, goal: Goal, floor: String, _ read: @escaping (Int, Database) throws -> Volume?
  ) -> Row {
    Row(name, goal: goal, floor: floor) { stopwatch in
      let file = try VolumeFile(count)
      let context = try file.concord().newBackgroundContext()
      let pool = try file.pool()
      let ids = (0..<2_000).map { $0 &* 7919 % count }
      func check(_ sum: Int) throws { try expect(sum, is: ids.reduce(0, &+), "the sum of the ids found") }
      return Sides {
        var sum = 0
        let time = try stopwatch.nanoseconds(per: ids.count) {
          for id in ids { sum &+= try context.find(Volume.self, id: id)?.id ?? 0 }
        }
        try check(sum)
        return time
      } floor: {
        var sum = 0
        let time = try stopwatch.nanoseconds(per: ids.count) {
          for id in ids { sum &+= try pool.read { try read(id, $0) }?.id ?? 0 }
        }
        try check(sum)
        return withExtendedLifetime(file) { time }
      }
    }
  }

  private static let selectOne = "SELECT \(RawVolume.columns) FROM Volume WHERE id = ?"

  private static var findStored: Row {
    find("find by id among 100,000 in a file", goal: .floor(times: 1.5), floor: grdb) { id, db in
      try GRDB.Row.fetchOne(db.cachedStatement(sql: selectOne), arguments: [id]).map(RawVolume.read)
    }
  }

  private static var findStoredBesideSQLite: Row {
    find("the same, beside SQLite", goal: .none, floor: sqlite) { id, db in
      let statement = try db.cachedStatement(sql: selectOne)
      sqlite3_bind_int64(statement.sqliteStatement, 1, Int64(id))
      defer { sqlite3_reset(statement.sqliteStatement) }
      return sqlite3_step(statement.sqliteStatement) == SQLITE_ROW ? RawVolume.read(statement.sqliteStatement) : nil
    }
  }

  // MARK: One save

  private static func saves(
    _ name: String, queries: Int, followsLayers: Bool = false, floor: String,
    _ change: @escaping (BackgroundContext, Volume) throws -> Void,
    _ write: @escaping (DatabasePool, Volume) throws -> Void
  ) -> Row {
    Row(name, goal: followsLayers ? .none : .floor(times: 1.5), floor: floor, repetitions: 15) { stopwatch in
      let (file, raw) = (try VolumeFile(count), try VolumeFile(count))
      let container = try file.concord()
      if followsLayers { container.viewContext.followLayers() }
      let context = container.newBackgroundContext()
      let pool = try raw.pool()
      // In the order of ids: the first are those that are changed.
      let query =
        try queries == 0
        ? nil
        : container.viewContext.query(
          FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.id)], fetchLimit: queries == count ? nil : queries))
      let subscription = query?.observe { blackHole($0.count) }
      let times = 200
      var turn = 0
      func volumes() -> [Volume] {
        turn += 1
        return (0..<times).map { Volume(id: $0 % 40, turn: turn * times + $0) }
      }
      return Sides {
        let volumes = volumes()
        let time = try stopwatch.nanoseconds(per: times) {
          for volume in volumes {
            try change(context, volume)
            try context.save()
          }
          // What the screen shows belongs to it.
          container.persistentStoreCoordinator.settle()
        }
        if let query { try expect(query.value[39], is: volumes[times - 1], "what the screen shows") }
        try expect(try context.find(Volume.self, id: 39), is: volumes[times - 1], "what was saved")
        return withExtendedLifetime((file, subscription)) { time }
      } floor: {
        let volumes = volumes()
        let time = try stopwatch.nanoseconds(per: times) {
          for volume in volumes { try write(pool, volume) }
        }
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  private static func saveOne(queries: Int, followsLayers: Bool = false) -> Row {
    let name =
      switch queries {
      case 0: "save one of 100,000 in a file"
      case count: "the same, with a live query of all"
      default: "the same, with a live query of \(queries)"
      }
    return saves(
      followsLayers ? "\(name) that follows layers" : name, queries: queries, followsLayers: followsLayers,
      floor: "a transaction of GRDB's with one upsert, prepared once"
    ) {
      $0.insert($1)
    } _: { pool, volume in
      try pool.write { try RawVolume.write(volume, with: $0.cachedStatement(sql: RawVolume.upsert)) }
    }
  }

  private static var updateOne: Row {
    saves(
      "read one of them, change its title, save it", queries: 0,
      floor: "reads a row with GRDB, and updates the title in a transaction"
    ) { context, volume in
      try context.update(Volume.self, id: volume.id) { $0.title = volume.title }
    } _: { pool, volume in
      // As for Concord, whose closure runs outside of any transaction.
      let found = try pool.read { db in
        try GRDB.Row.fetchOne(db.cachedStatement(sql: selectOne), arguments: [volume.id]).map(RawVolume.read)
      }
      blackHole(found)
      try pool.write { db in
        try db.cachedStatement(sql: "UPDATE Volume SET title = ?, _stamp = ? WHERE id = ?")
          .execute(arguments: [volume.title, 1, volume.id])
      }
    }
  }

  // MARK: Aggregates

  private static let link = "INSERT INTO Collection_volumes (_owner, _position, volumes) VALUES (1, ?, ?)"

  private static func aggregate(_ turn: Int) -> Collection {
    Collection(id: 1, name: "Turn \(turn)", volumes: (0..<1_000).map { Volume(id: 5_000 + $0 * 3, turn: turn) })
  }

  private static var saveAggregate: Row {
    Row(
      "save an aggregate of 1,000", goal: .none,
      floor: "upserts of 1,001 rows, and the references once more, with GRDB",
      repetitions: 15
    ) { stopwatch in
      let (file, raw) = (try VolumeFile(count), try VolumeFile(count))
      let context = try file.concord().newBackgroundContext()
      let pool = try raw.pool()
      var turn = 0
      return Sides {
        turn += 1
        let value = aggregate(turn)
        let time = try stopwatch.nanoseconds {
          context.insert(value)
          try context.save()
        }
        try expect(try context.find(Collection.self, id: 1) == value, "the aggregate is not what was saved")
        return withExtendedLifetime(file) { time }
      } floor: {
        turn += 1
        let value = aggregate(turn)
        let time = try stopwatch.nanoseconds { try pool.write { try write(value, $0) } }
        return withExtendedLifetime(raw) { time }
      }
    }
  }

  private static func write(_ value: Collection, _ db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT INTO Collection (id, name, volumes, _stamp) VALUES (?, ?, ?, 0) \
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, volumes = excluded.volumes
        """
    ).execute(arguments: [value.id, value.name, value.volumes.count])
    try db.cachedStatement(sql: "DELETE FROM Collection_volumes WHERE _owner = 1").execute()
    let (upsert, link) = (try db.cachedStatement(sql: RawVolume.upsert), try db.cachedStatement(sql: link))
    for (position, volume) in value.volumes.enumerated() {
      try RawVolume.write(volume, with: upsert)
      try link.execute(arguments: [position, volume.id])
    }
  }

  private static var loadAggregate: Row {
    Row("load it", goal: .none, floor: "a join, read by position with GRDB") { stopwatch in
      let file = try VolumeFile(count)
      let context = try file.concord().newBackgroundContext()
      let pool = try file.pool()
      let value = aggregate(0)
      context.insert(value)
      try context.save()
      let sql = """
        SELECT b.id, title, author, year, price, published FROM Collection_volumes a JOIN Volume b ON b.id = a.volumes \
        WHERE _owner = 1 ORDER BY _position
        """
      return Sides {
        var found: Collection?
        let time = try stopwatch.nanoseconds { found = try context.find(Collection.self, id: 1) }
        try expect(found == value, "the aggregate is not what was saved")
        return time
      } floor: {
        var found: [Volume] = []
        let time = try stopwatch.nanoseconds {
          found = try pool.read { db in
            blackHole(try GRDB.Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM Collection WHERE id = 1")))
            var volumes: [Volume] = []
            let rows = try GRDB.Row.fetchCursor(db.cachedStatement(sql: sql))
            while let row = try rows.next() { volumes.append(RawVolume.read(row)) }
            return volumes
          }
        }
        try expect(found == value.volumes, "the volumes are not what was saved")
        return withExtendedLifetime(file) { time }
      }
    }
  }

  // MARK: The first screen

  private static let byYear = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.year)], fetchLimit: 50)

  private static func firstScreen(
    _ name: String, goal: Goal, floor: String,
    _ makeFloor:
      @escaping (Stopwatch) throws -> (
        VolumeFile
      ) throws -> () throws -> Double
  ) -> Row {
    Row(name, goal: goal, floor: floor) { stopwatch in
      let file = try VolumeFile(1_000_000)
      let context = try file.concord().newBackgroundContext()
      let floor = try makeFloor(stopwatch)(file)
      // The file is closed when it goes.
      return Sides {
        try withExtendedLifetime(file) { try screen(context, stopwatch) }
      } floor: {
        try withExtendedLifetime(file) { try floor() }
      }
    }
  }

  private static func screen(_ context: BackgroundContext, _ stopwatch: Stopwatch) throws -> Double {
    var found: [Volume] = []
    let time = try stopwatch.nanoseconds { found = try context.fetch(byYear) }
    try expect(found.count, is: 50, "volumes")
    try expect(found.map(\.year), is: found.map(\.year).sorted(), "the years")
    return time
  }

  private static var firstScreen: Row {
    firstScreen(
      "first 50 of 1,000,000 by an index", goal: .floor(times: 1.5), floor: "the same of 1,000, with Concord"
    ) { stopwatch in
      { _ in
        let small = try VolumeFile(1_000)
        let context = try small.concord().newBackgroundContext()
        return { try withExtendedLifetime(small) { try screen(context, stopwatch) } }
      }
    }
  }

  private static var firstScreenBesideGRDB: Row {
    firstScreen("the same, beside GRDB", goal: .none, floor: grdb) { stopwatch in
      { file in
        let pool = try file.pool()
        let sql = "SELECT \(RawVolume.columns) FROM Volume ORDER BY year, id LIMIT 50"
        return {
          try stopwatch.nanoseconds {
            let found = try pool.read { try GRDB.Row.fetchAll($0.cachedStatement(sql: sql)).map(RawVolume.read) }
            try expect(found.count, is: 50, "volumes")
          }
        }
      }
    }
  }

  // MARK: Attaching and memory

  private static var attach: Row {
    Row("attach a file with nothing to migrate, and detach it", goal: .none, floor: "opens and closes it with GRDB") {
      stopwatch in
      let file = try VolumeFile(1_000)
      return Sides {
        try stopwatch.nanoseconds { try file.attachOnce() }
      } floor: {
        try stopwatch.nanoseconds {
          let pool = try DatabasePool(path: file.path)
          blackHole(try pool.read { try Int.fetchOne($0, sql: "SELECT 1 FROM Volume LIMIT 1") })
          // The writer goes last, as Concord's does, so that the log is taken into the file.
          pool.invalidateReadOnlyConnections()
          try pool.close()
        }
      }
    }
  }

  /// SQLite itself keeps pages that it has read, up to 2 MB for each connection, and which connections are left in the end
  /// depends on which thread came first. So what is SQLite's own is left out.
  private static var memoryOfLiveQuery: Row {
    Row(
      "memory with 1,000,000 rows in a file and a live query of 50", unit: .bytes, goal: .floor(times: 1.25),
      floor: "the same with 1,000 rows, both without what is SQLite's own", repetitions: 9
    ) { _ in
      let (large, small) = (try VolumeFile(1_000_000), try VolumeFile(1_000))
      func growth(_ file: VolumeFile) throws -> Double {
        var kept: EntityObserver<[Volume]>?
        // What came before may be on its way out: connections close on other threads.
        Heap.settle()
        let own = try bytesOfSQLite()
        let growth = try Heap.growth(per: 1) {
          let container = try file.concord()
          kept = try container.viewContext.query(byYear)
          let context = container.newBackgroundContext()
          // Some work on it, all over the file.
          for step in 0..<200 { try context.update(Volume.self, id: step * 5) { $0.price += 1 } }
          try context.save()
          container.persistentStoreCoordinator.settle()
        }
        try expect(kept?.value.count ?? 0, is: 50, "volumes on the screen")
        return growth - (try bytesOfSQLite() - own)
      }
      // What is made once in a process is no part of either.
      _ = try growth(small)
      return Sides(concord: { try growth(large) }, floor: { try growth(small) })
    }
  }

  /// What SQLite has of the heap, with its page caches, for all connections.
  private static func bytesOfSQLite() throws -> Double {
    var bytes: sqlite3_int64 = 0
    var most: sqlite3_int64 = 0
    let result = sqlite3_status64(SQLITE_STATUS_MEMORY_USED, &bytes, &most, 0)
    try expect(result, is: SQLITE_OK, "SQLite's answer")
    return Double(bytes)
  }
}
