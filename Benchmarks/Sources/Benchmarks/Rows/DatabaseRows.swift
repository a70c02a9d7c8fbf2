#if PostgreSQL
  import Concord
  import ConcordPersistence
  import ConcordPostgreSQL
  import Foundation
  import Synchronization

  extension Row {
    /// Stores in a PostgreSQL database, beside libpq by hand on the same server, in schemas with the same tables, triggers and indexes.
    static var database: [Row] {
      guard VolumeDatabase.url != nil else { return [] }
      return [
        upsert(100_000, "upsert 100,000 into a database, each"),
        upsert(10_000, "upsert 10,000 of them that differ, each"),
        fetchAll, findInDatabase, saveOne("save one of 100,000 in a database", waits: true),
        saveOne("the same, without waiting for the disk", waits: false), fromProcesses, firstScreen, besideQueries,
        notice("from a save to the observer of another container", percentile: 50),
        notice("the same, what 99 of 100 do not exceed", percentile: 99),
        notice("from the answer to a commit to the observer of another container", percentile: 50, fromCommit: true),
        notice("that, what 99 of 100 do not exceed", percentile: 99, fromCommit: true),
        notice(
          "that, beside a listener that reads the row it was notified of", percentile: 50, fromCommit: true,
          listenerReads: true),
      ]
    }

    private static let count = 100_000
    private static let limit = Goal.floor(times: 1.3)

    private static func upsert(_ number: Int, _ name: String) -> Row {
      Row(
        name, goal: limit, floor: "libpq: a serialisable transaction of statements with arrays of 5,000 rows",
        repetitions: 7
      ) { stopwatch in
        let (database, other) = (try VolumeDatabase(count), try VolumeDatabase(count))
        let context = try database.concord().newBackgroundContext()
        let raw = try other.raw()
        var turn = 0
        func volumes() -> [Volume] {
          turn += 1
          return (0..<number).map { Volume(id: $0 * (count / number), turn: turn) }
        }
        return Sides {
          let volumes = volumes()
          let time = try stopwatch.nanoseconds(per: number) {
            for volume in volumes { context.insert(volume) }
            try context.save()
          }
          let last = volumes[number - 1]
          try expect(try context.find(Volume.self, id: last.id), is: last, "a volume that was saved")
          return withExtendedLifetime(database) { time }
        } floor: {
          let volumes = volumes()
          let time = try stopwatch.nanoseconds(per: number) {
            try raw.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
            for start in stride(from: 0, to: number, by: 5_000) {
              try RawVolume.upsert(volumes[start..<min(number, start + 5_000)], raw)
            }
            try raw.run("COMMIT")
          }
          let last = volumes[number - 1]
          try expect(try RawVolume.find(last.id, raw), is: last, "a volume that was saved")
          return withExtendedLifetime(other) { time }
        }
      }
    }

    private static var fetchAll: Row {
      Row(
        "fetch 100,000 from a database, each", goal: limit, floor: "libpq: binary results, read by position",
        repetitions: 11
      ) { stopwatch in
        let database = try VolumeDatabase(count)
        let context = try database.concord().newBackgroundContext()
        let raw = try database.raw()
        func check(_ found: [Volume]) throws {
          try expect(found.count, is: count, "volumes")
          try expect(found[4711], is: Volume(id: 4711), "a volume")
        }
        return Sides {
          var found: [Volume] = []
          let time = try stopwatch.nanoseconds(per: count) { found = try context.fetch(FetchDescriptor<Volume>()) }
          try check(found)
          return withExtendedLifetime(database) { time }
        } floor: {
          var found: [Volume] = []
          let time = try stopwatch.nanoseconds(per: count) { found = try RawVolume.all(raw, "ORDER BY id") }
          try check(found)
          return time
        }
      }
    }

    private static var findInDatabase: Row {
      Row(
        "find by id among 100,000 in a database", goal: limit,
        floor: "libpq: a statement that is prepared once (client and server on a core each)"
      ) { stopwatch in
        let database = try VolumeDatabase(count)
        let context = try database.concord().newBackgroundContext()
        let raw = try database.raw()
        // So that its connection is there, too.
        _ = try context.find(Volume.self, id: 0)
        let cores = try ToldCores(.onAnotherCore, raw)
        let ids = (0..<500).map { $0 &* 7919 % count }
        func check(_ sum: Int) throws { try expect(sum, is: ids.reduce(0, &+), "the sum of the ids found") }
        return Sides {
          var sum = 0
          let time = try stopwatch.nanoseconds(per: ids.count) {
            for id in ids { sum &+= try context.find(Volume.self, id: id)?.id ?? 0 }
          }
          try check(sum)
          return withExtendedLifetime((database, cores)) { time }
        } floor: {
          var sum = 0
          let time = try stopwatch.nanoseconds(per: ids.count) {
            for id in ids { sum &+= try RawVolume.find(id, raw)?.id ?? 0 }
          }
          try check(sum)
          return time
        }
      }
    }

    private static func saveOne(_ name: String, waits: Bool) -> Row {
      Row(
        name, goal: limit,
        floor: "libpq: BEGIN as serialisable, a prepared upsert, COMMIT (client and server on a core each)",
        repetitions: 15
      ) { stopwatch in
        let (database, other) = (try VolumeDatabase(count, waits: waits), try VolumeDatabase(count, waits: waits))
        let context = try database.concord().newBackgroundContext()
        let raw = try other.raw()
        context.insert(Volume(id: 0, turn: 0))
        try context.save()
        let cores = try ToldCores(.onAnotherCore, raw)
        let times = 100
        var turn = 0
        return Sides {
          turn += 1
          let time = try stopwatch.nanoseconds(per: times) {
            for id in 0..<times {
              context.insert(Volume(id: id, turn: turn))
              try context.save()
            }
          }
          try expect(try context.find(Volume.self, id: 39), is: Volume(id: 39, turn: turn), "what was saved")
          return withExtendedLifetime((database, cores)) { time }
        } floor: {
          turn += 1
          let time = try stopwatch.nanoseconds(per: times) {
            for id in 0..<times {
              try raw.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
              try RawVolume.upsert(Volume(id: id, turn: turn), raw)
              try raw.run("COMMIT")
            }
          }
          return withExtendedLifetime(other) { time }
        }
      }
    }

    private static var fromProcesses: Row {
      Row(
        "8 processes that save rows of their own, each save", goal: .floor(times: 1 / 0.7),
        floor: "8 processes with libpq", repetitions: 9
      ) { _ in
        let stopwatch = Stopwatch().acrossThreads
        let (database, other) = (try VolumeDatabase(count), try VolumeDatabase(count))
        let (number, times) = (8, 300)
        func clients(_ side: DatabaseClient.Side, _ database: VolumeDatabase) throws -> [DatabaseClient] {
          try (0..<number).map { try DatabaseClient(side, database, first: $0 * 10_000, count: times) }
        }
        let (concord, raw) = (try clients(.concord, database), try clients(.libpq, other))
        func measure(_ clients: [DatabaseClient]) throws -> Double {
          try stopwatch.nanoseconds(per: number * times) {
            for client in clients { client.begin() }
            for client in clients { try client.wait() }
          }
        }
        return Sides {
          try withExtendedLifetime(database) { try measure(concord) }
        } floor: {
          try withExtendedLifetime(other) { try measure(raw) }
        }
      }
    }

    private static var firstScreen: Row {
      Row(
        "first 50 of 1,000,000 by an index in a database", goal: limit,
        floor: "libpq: the same statement, prepared once (client and server on a core each)"
      ) { stopwatch in
        let database = try VolumeDatabase(1_000_000, waits: false)
        let context = try database.concord().newBackgroundContext()
        let raw = try database.raw()
        _ = try context.find(Volume.self, id: 0)
        let cores = try ToldCores(.onAnotherCore, raw)
        let byYear = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.year)], fetchLimit: 50)
        return Sides {
          var found: [Volume] = []
          let time = try stopwatch.nanoseconds(per: 20) {
            for _ in 0..<20 { found = try context.fetch(byYear) }
          }
          try expect(found.count, is: 50, "volumes")
          return withExtendedLifetime((database, cores)) { time }
        } floor: {
          var found: [Volume] = []
          let time = try stopwatch.nanoseconds(per: 20) {
            for _ in 0..<20 { found = try RawVolume.all(raw, "ORDER BY year, id LIMIT 50") }
          }
          try expect(found.count, is: 50, "volumes")
          return time
        }
      }
    }

    private static var besideQueries: Row {
      Row(
        "save one beside 1,000 live queries of another type", goal: .floor(times: 1.1),
        floor: "the same beside 10, with Concord", repetitions: 15
      ) { stopwatch in
        let databases = [try VolumeDatabase(1_000, waits: false), try VolumeDatabase(1_000, waits: false)]
        let containers = try databases.map { try $0.concord() }
        var observers: [EntityObserver<[Collection]>] = []
        for (container, count) in zip(containers, [1_000, 10]) {
          for number in 0..<count {
            observers.append(
              try container.viewContext.query(
                FetchDescriptor<Collection>(predicate: #Predicate { $0.id == number })))
          }
        }
        var turn = 0
        func save(_ container: VolumeDatabase.Container) throws -> Double {
          let context = container.newBackgroundContext()
          turn += 1
          return try withExtendedLifetime((observers, databases)) {
            try stopwatch.nanoseconds(per: 50) {
              for id in 0..<50 {
                context.insert(Volume(id: id, turn: turn))
                try context.save()
              }
              container.persistentStoreCoordinator.settle()
            }
          }
        }
        return Sides {
          try save(containers[0])
        } floor: {
          try save(containers[1])
        }
      }
    }

    /// Two containers with connections of their own, as two processes have.
    ///
    /// - Parameters:
    ///   - percentile: how many of 100 notices do not take longer than what counts.
    ///   - fromCommit: whether the time begins when the commit is answered, on both sides, and not with the save.
    ///   - listenerReads: whether the floor's listener then reads the row, in one statement that is prepared: a notification carries no row,
    ///     so that nobody knows what to show any earlier.
    private static func notice(
      _ name: String, percentile: Int, fromCommit: Bool = false, listenerReads: Bool = false
    ) -> Row {
      Row(
        name, goal: .floor(times: 2),
        floor: fromCommit
          ? "libpq: a bare notification of the same size to the listener\(listenerReads ? ", which reads the row" : "") (cores as above)"
          : "libpq: from a save with a notification of the same size to the listener (cores as above)",
        repetitions: 15
      ) { _ in
        let stopwatch = Stopwatch().acrossThreads
        let told = Atomic<UInt64>(0)
        let (database, other) = (try VolumeDatabase(1_000, waits: false), try VolumeDatabase(1_000, waits: false))
        let context = try database.concord().newBackgroundContext()
        // On the thread that listens, as in the floor.
        let view = ViewContext(
          parent: try database.concord().persistentStoreCoordinator, delivery: .immediate
        ) { _ in }
        let query = try view.query(
          FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.id)], fetchLimit: 50))
        let seen = DispatchSemaphore(value: 0)
        let subscription = query.observe { _ in
          told.store(UInt64(stopwatch.now), ordering: .sequentiallyConsistent)
          seen.signal()
        }
        let (writer, listener) = (try other.raw(), try other.raw())
        try listener.run("LISTEN volumes")
        // So that all connections are there.
        context.insert(Volume(id: 1, turn: 0))
        try context.save()
        try expect(seen.wait(timeout: .now() + 10) == .success, "nothing was seen")
        let cores = try ToldCores(.onAnotherCore, writer)
        var turn = 0
        func measure(_ notice: (Volume) throws -> Double) throws -> Double {
          var series = Measurement.Series()
          for _ in 0..<100 {
            turn += 1
            series.append(try notice(Volume(id: 1, turn: turn)))
          }
          return series.percentile(percentile) ?? 0
        }
        return Sides {
          try measure { volume in
            // What was seen before does not count.
            while seen.wait(timeout: .now()) == .success {}
            context.insert(volume)
            var start = stopwatch.now
            try context.save()
            if fromCommit { start = stopwatch.now }
            try expect(seen.wait(timeout: .now() + 10) == .success, "nothing was seen")
            let time = max(0, Double(told.load(ordering: .sequentiallyConsistent)) - start)
            return withExtendedLifetime((database, view, subscription, cores)) { time }
          }
        } floor: {
          try measure { volume in
            var start = stopwatch.now
            try writer.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
            try RawVolume.upsert(volume, writer)
            try writer.run("COMMIT")
            if fromCommit { start = stopwatch.now }
            try writer.run("NOTIFY volumes, '\(String(repeating: "-", count: 37))'")
            try listener.wait()
            if listenerReads {
              try expect(try RawVolume.find(volume.id, listener), is: volume, "a volume that was saved")
            }
            let time = stopwatch.now - start
            return withExtendedLifetime(other) { time }
          }
        }
      }
    }
  }
#endif
