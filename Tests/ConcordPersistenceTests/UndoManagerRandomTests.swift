import Concord
import ConcordModel
import ConcordTestShared
import Foundation
import Testing

@testable import ConcordPersistence

/// Records steps in a container's view, saves by others between, in this container and in another one with the same store, undoes and
/// redoes, and compares with a naive model what is stored, what can be undone, and what is left as it is.
@Suite("Random undo of saves")
struct UndoManagerRandomTests {
  private static let stepsInAWorld = 40
  private static var combinations: [(StoreKind, StrategyKind)] {
    StoreKind.combinationsOfManySteps.filter { [.direct, .mixed, .indirectNested].contains($1) }
  }

  @Test("Whatever others save, a step is undone and redone as in the model", arguments: combinations)
  func agreesWithModel(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
    let steps = kind.share(of: TestOptions.steps.map { $0 / 5 } ?? (TestOptions.isLong ? 20_000 : 400))
    for seed in TestOptions.seeds(steps / Self.stepsInAWorld, from: .random(in: 0..<1_000_000)) {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let world = try UndoSaveWorld(kind, strategy, folder, seed: seed)
      defer { world.close() }
      for step in 0..<Self.stepsInAWorld {
        var failure: String?
        do {
          try await world.step()
          failure = try await world.failure()
        } catch { failure = "\(error)" }
        guard let failure else { continue }
        Issue.record(
          "CONCORD_RANDOM_SEED=\(seed), \(kind), \(strategy), step \(step): \(failure)\n\(world.log.joined(separator: "\n"))"
        )
        return
      }
    }
  }
}

/// A text that a singer sings, with what is compared by itself, refers to one, and refers to many.
struct Hymn: PersistentEntity, Aggregate, Equatable {
  let id: Int
  var title = ""
  var stars = 0
  var singer: Singer?
  var verses: [Verse] = []

  static let persistentProperties: [PersistentProperty<Hymn>] = [
    .init("id", \.id), .init("title", \.title), .init("stars", \.stars), .init("singer", \.singer),
    .init("verses", \.verses),
  ]
  init(id: Int) { self.id = id }
  init(from row: inout RowReader) throws {
    id = try row.read()
    title = try row.read()
    stars = try row.read()
    singer = try row.read()
    verses = try row.read()
  }
  func write(to row: inout RowWriter) throws {
    try row.write(id)
    try row.write(title)
    try row.write(stars)
    try row.write(singer)
    try row.write(verses)
  }
}

func hymnModel() throws -> Model { try Model("Hymns", entities: [Hymn.self, Singer.self, Verse.self]) }
