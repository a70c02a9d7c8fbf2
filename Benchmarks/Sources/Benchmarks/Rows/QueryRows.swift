import Concord
import Foundation

extension Row {
  /// Queries over the entities in memory.
  static var queries: [Row] {
    [buildQuery, buildQueryBesideArray, moveInQuery, besideStoreQueries, besideRangeQueries]
  }

  private static let size = 100_000

  /// A store with entities, and what keeps them.
  private static func filled() -> (store: EntityStore, kept: [EntityObserver<Volume>]) {
    let store = EntityStore(delivery: .immediate)
    return (store, (0..<size).map { store.store(Volume(id: $0)) })
  }

  private static var buildQuery: Row {
    build(
      "ask 100,000 entities for all, in order", goal: .floor(times: 1.5),
      floor: "reads all from the store, and sorts them"
    ) {
      stopwatch, store in
      var results: [Volume] = []
      let time = stopwatch.nanoseconds { results = sorted(store.all(Volume.self)) }
      return (time, results.count)
    }
  }

  /// Who has the entities at hand sorts them sooner.
  private static var buildQueryBesideArray: Row {
    build("the same, beside an array that is at hand", goal: .none, floor: "sorts the array, and reads nothing") {
      stopwatch, store in
      let all = store.all(Volume.self)
      var results: [Volume] = []
      let time = stopwatch.nanoseconds { results = sorted(all) }
      return (time, results.count)
    }
  }

  private static func sorted(_ volumes: [Volume]) -> [Volume] {
    volumes.sorted { $0.year != $1.year ? $0.year < $1.year : $0.id < $1.id }
  }

  private static func build(
    _ name: String, goal: Goal, floor: String, _ sort: @escaping (Stopwatch, EntityStore) -> (time: Double, count: Int)
  ) -> Row {
    Row(name, goal: goal, floor: floor, repetitions: 7) { stopwatch in
      let (store, kept) = filled()
      return Sides {
        var query: EntityObserver<EntityResults<Volume>>?
        var results: EntityResults<Volume>?
        let time = stopwatch.nanoseconds {
          query = store.query(Volume.self, sortBy: [SortDescriptor(\.year)])
          results = query?.value
        }
        try expect(results?.count ?? 0, is: kept.count, "entities found")
        return withExtendedLifetime(query) { time }
      } floor: {
        let (time, count) = sort(stopwatch, store)
        try expect(count, is: kept.count, "entities sorted")
        return time
      }
    }
  }

  private static var moveInQuery: Row {
    Row(
      "one of 100,000 sorted entities changes its place, one observer is told the difference", goal: .microseconds(20),
      floor: "the same update, observed by nobody", repetitions: 15
    ) { stopwatch in
      let ((store, kept), (plain, plainKept)) = (filled(), filled())
      let screen = Screen<Int>()
      let subscription = store.query(Volume.self, sortBy: [SortDescriptor(\.year)]).observeDifferences {
        screen.show($0.moved.count)
      }
      var turns = (0, 0)
      func move(in store: EntityStore, _ turn: inout Int) {
        for _ in 0..<1_000 {
          turn += 1
          store.update(Volume.self, id: turn &* 37 % size) { $0.year = ($0.year &+ 499_979) % 1_000_003 }
        }
      }
      return Sides {
        let calls = screen.calls
        let time = stopwatch.nanoseconds(per: 1_000) { move(in: store, &turns.0) }
        try expect(screen.calls - calls, is: 1_000, "calls of the observer")
        return withExtendedLifetime((kept, subscription)) { time }
      } floor: {
        let time = stopwatch.nanoseconds(per: 1_000) { move(in: plain, &turns.1) }
        return withExtendedLifetime(plainKept) { time }
      }
    }
  }

  private static var besideStoreQueries: Row {
    beside(
      "update one entity beside 1,000 queries of which one is concerned", goal: .floor(times: 1.5),
      floor: "the same update beside that one query"
    ) { id in #Predicate { $0.id == id } }
  }

  private static var besideRangeQueries: Row {
    beside(
      "update one entity beside 1,000 queries for ranges, of which one is concerned", goal: .floor(times: 1.5),
      floor: "the same update beside that one query"
    ) { id in
      let end = id + 1
      return #Predicate { $0.id >= id && $0.id < end }
    }
  }

  private static func beside(
    _ name: String, goal: Goal, floor: String, _ predicate: @escaping (Int) -> Predicate<Volume>
  ) -> Row {
    Row(name, goal: goal, floor: floor, repetitions: 15) { stopwatch in
      func updating(beside count: Int) -> () throws -> Double {
        let store = EntityStore(delivery: .immediate)
        let kept = (0..<1_000).map { store.store(Volume(id: $0)) }
        let screen = Screen<Int>()
        let subscriptions = (0..<count).map { id in
          store.query(Volume.self, where: predicate(id)).observe { screen.show($0.count) }
        }
        var turn = 0
        return {
          let calls = screen.calls
          let time = stopwatch.nanoseconds(per: 1_000) {
            for _ in 0..<1_000 {
              turn += 1
              store.update(Volume.self, id: 0) { $0.title = Titles[turn] }
            }
          }
          try expect(screen.calls - calls, is: 1_000, "calls of the observer")
          return withExtendedLifetime((kept, subscriptions)) { time }
        }
      }
      return Sides(concord: updating(beside: 1_000), floor: updating(beside: 1))
    }
  }
}
