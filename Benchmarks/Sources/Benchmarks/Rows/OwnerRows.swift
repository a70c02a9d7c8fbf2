import Concord
import ConcordPersistence
import Foundation
import GRDB

extension Row {
  /// Owners with large collections in a file.
  static var owners: [Row] {
    [10_000, 50_000].flatMap { count in
      let of = count == 10_000 ? "10,000" : "50,000"
      return [
        owner("change the name of an owner of \(of), and save it", count, rename),
        owner("append one to an owner of \(of), and save it", count, append),
        owner("the same name, by an update that reads all \(of)", count) { context, turn in
          try context.update(Collection.self, id: 1) { $0.name = Titles[turn] }
        },
        owner("the same append, by an update that reads all \(of)", count) { context, turn in
          try context.update(Collection.self, id: 1) { $0.volumes.append(Volume(id: count + 1 + turn)) }
        },
      ]
    } + [
      save("the save alone of the name of an owner of 50,000", rename),
      save("the save alone of one more in an owner of 50,000", append),
    ]
  }

  private static func rename(_ context: BackgroundContext, _ turn: Int) throws {
    try context.update(Collection.self, id: 1, leavingOut: \.volumes) { owner, _ in owner.name = Titles[turn] }
  }

  private static func append(_ context: BackgroundContext, _ turn: Int) throws {
    try context.update(Collection.self, id: 1, leavingOut: \.volumes) { _, links in
      try links.append(Volume(id: 100_000 + turn), to: \.volumes)
    }
  }

  private static func owner(
    _ name: String, _ count: Int, _ change: @escaping (BackgroundContext, Int) throws -> Void
  ) -> Row {
    Row(
      name, goal: .none, floor: "reads the links by position with GRDB, and writes the name in a transaction",
      repetitions: 15
    ) { stopwatch in
      let (file, context) = try owner(of: count)
      let pool = try file.pool()
      var turn = 0
      return Sides {
        // The file goes with the last reference to it.
        let time = try withExtendedLifetime(file) {
          try stopwatch.nanoseconds {
            try change(context, turn)
            try context.save()
          }
        }
        turn += 1
        return time
      } floor: {
        try stopwatch.nanoseconds {
          let links = try pool.read { db in
            try Int64.fetchAll(
              db.cachedStatement(sql: "SELECT volumes FROM Collection_volumes WHERE _owner = 1 ORDER BY _position"))
          }
          blackHole(links.count)
          try pool.write { try $0.execute(sql: "UPDATE Collection SET name = ? WHERE id = 1", arguments: ["\(turn)"]) }
        }
      }
    }
  }

  /// The store takes as many steps for a save of each size (`LargeOwnerTests`), and the links that the update has read are released as one
  /// array. There is no goal until the rows are measured with it: it would be twice the floor.
  private static func save(_ name: String, _ change: @escaping (BackgroundContext, Int) throws -> Void) -> Row {
    Row(name, goal: .none, floor: "the same save of an owner of 10,000", repetitions: 15) { stopwatch in
      func side(_ count: Int) throws -> () throws -> Double {
        let (file, context) = try owner(of: count)
        var turn = 0
        return {
          turn += 1
          return try withExtendedLifetime(file) {
            try change(context, turn)
            return try stopwatch.nanoseconds { try context.save() }
          }
        }
      }
      return Sides(concord: try side(50_000), floor: try side(10_000))
    }
  }

  private static func owner(of count: Int) throws -> (VolumeFile, BackgroundContext) {
    let file = try VolumeFile(count)
    let context = try file.concord().newBackgroundContext()
    context.insert(Collection(id: 1, name: "", volumes: (0..<count).map { Volume(id: $0) }))
    try context.save()
    return (file, context)
  }
}
