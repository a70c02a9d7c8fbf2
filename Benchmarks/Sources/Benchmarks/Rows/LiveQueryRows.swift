import Concord
import ConcordPersistence
import Foundation

extension Row {
  /// Live queries over a store in memory, until the screen shows the save. What size costs is seen beside a small query, or a single
  /// one, since being told on another thread costs the same for all.
  static var liveQueries: [Row] {
    [10_000, 100_000].flatMap { count in
      let of = count == 10_000 ? "10,000" : "100,000"
      return [
        liveQuery("a row enters a live query of \(of), and leaves it", count) { context, turn, count in
          let volume = Volume(id: count + 1, turn: turn)
          if turn % 2 == 0 { context.insert(volume) } else { try context.delete(Volume.self, id: volume.id) }
        },
        liveQuery("a row moves in a live query of \(of)", count) { context, turn, count in
          try context.update(Volume.self, id: turn &* 37 % count) { $0.year = ($0.year &+ 499_979) % 1_000_003 }
        },
        liveQuery("a row changes in its place in a live query of \(of)", count) { context, turn, count in
          try context.update(Volume.self, id: turn &* 37 % count) { $0.title = Titles[turn] }
        },
      ]
    } + [besideQueries]
  }

  private static let saves = 100

  /// A container in memory with volumes.
  private static func container(_ count: Int) throws -> GenericPersistentContainer<ContextStrategy.Direct> {
    let container = GenericPersistentContainer<ContextStrategy.Direct>(name: "Volumes", model: try VolumeFile.model())
    try container.attachPersistentStore(for: StoreConfiguration(type: NSInMemoryStoreType))
    let context = container.newBackgroundContext()
    for id in 0..<count { context.insert(Volume(id: id)) }
    try context.save()
    container.persistentStoreCoordinator.settle()
    return container
  }

  private static func time(
    _ container: GenericPersistentContainer<ContextStrategy.Direct>, _ context: BackgroundContext, _ turn: inout Int,
    _ stopwatch: Stopwatch, _ change: (BackgroundContext, Int) throws -> Void
  ) throws -> Double {
    try stopwatch.nanoseconds(per: saves) {
      for _ in 0..<saves {
        try change(context, turn)
        try context.save()
        // What the screen shows belongs to it.
        container.persistentStoreCoordinator.settle()
        turn += 1
      }
    }
  }

  private static func liveQuery(
    _ name: String, _ count: Int, _ change: @escaping (BackgroundContext, Int, Int) throws -> Void
  ) -> Row {
    Row(name, goal: .floor(times: 3), floor: "Concord with a live query of 100", repetitions: 15) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      func changing(_ count: Int) throws -> () throws -> Double {
        let container = try container(count)
        let context = container.newBackgroundContext()
        let descriptor = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.year)])
        let query = try container.viewContext.query(descriptor)
        var turn = 0
        return {
          let time = try time(container, context, &turn, stopwatch) { try change($0, $1, count) }
          try expect(query.value == context.fetch(descriptor), "the query does not show what is stored")
          return time
        }
      }
      return Sides(concord: try changing(count), floor: try changing(100))
    }
  }

  private static var besideQueries: Row {
    Row(
      "a save beside 5,000 live queries, none of them concerned", goal: .floor(times: 2),
      floor: "the same save beside one such query", repetitions: 15
    ) { stopwatch in
      let stopwatch = stopwatch.acrossThreads
      func saving(beside count: Int) throws -> () throws -> Double {
        let container = try container(1_000)
        let context = container.newBackgroundContext()
        let queries = try (0..<count).map { number in
          let author = "Nobody \(number)"
          return try container.viewContext.query(FetchDescriptor<Volume>(predicate: #Predicate { $0.author == author }))
        }
        var turn = 0
        return {
          let time = try time(container, context, &turn, stopwatch) { context, turn in
            try context.update(Volume.self, id: turn % 1_000) { $0.title = Titles[turn] }
          }
          try expect(queries.allSatisfy { $0.value.isEmpty }, "a query shows what it does not look for")
          return time
        }
      }
      return Sides(concord: try saving(beside: 5_000), floor: try saving(beside: 1))
    }
  }
}
