import Foundation

extension Row {
  /// What users pay for the store when they build: each pair of a flat entity and an aggregate, which are stored, found,
  /// updated, observed and removed, in code and in the compiler's time. These rows run the compiler.
  static func clients(of concord: URL) -> [Row] {
    let clients = Clients(concord: concord)
    return [
      row(
        "release build of a program of one line, and of the store", clients, goal: .floor(times: 0.6), was: "40 s",
        floor: ("the same with a program of one line that uses GRDB, and GRDB", { try $0.besideGRDB().time })
      ) { try $0.withStore().time },
      row("code of that program", clients, unit: .bytes, goal: .none, was: "627 KB") { try $0.alone(pairs: 0).text },
      row(
        // The linker leaves out of the store what nobody calls, so the first pair brings a part of the store, too.
        "code for the first pair of an entity and an aggregate", clients, unit: .bytes, goal: .none, was: "163 KB"
      ) { try $0.alone(pairs: 1).text - $0.alone(pairs: 0).text },
      row(
        "code for each further pair", clients, unit: .bytes, goal: .bytes(20_000), was: "38–78 KB"
      ) { try ($0.alone(pairs: 3).text - $0.alone(pairs: 1).text) / 2 },
      row("compiling the first pair", clients, goal: .seconds(2), was: "≤ 9 s") {
        try $0.alone(pairs: 1).time - $0.alone(pairs: 0).time
      },
      row("compiling each further pair", clients, goal: .seconds(2), was: "≤ 9 s") {
        try ($0.alone(pairs: 3).time - $0.alone(pairs: 1).time) / 2
      },
    ]
  }

  private static func row(
    _ name: String, _ clients: Clients, unit: Unit = .nanoseconds, goal: Goal, was: String,
    floor: (is: String, figure: (Clients) throws -> Double)? = nil, figure: @escaping (Clients) throws -> Double
  ) -> Row {
    Row(name, unit: unit, goal: goal, was: was, floor: floor?.is ?? "none", repetitions: 1) { stopwatch in
      clients.stopwatch = stopwatch
      return Sides(concord: { try figure(clients) }, floor: floor.map { floor in { try floor.figure(clients) } })
    }
  }
}
