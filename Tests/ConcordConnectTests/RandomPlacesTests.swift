import ConcordTestShared
import Foundation
import Testing

@testable import ConcordConnect

/// Merges random lists of what is found by several attributes, and compares with a naive model of the merge.
@Suite("Random merges by several attributes")
struct RandomPlacesTests {
  enum Kind: String, CaseIterable { case whole, subset, page }

  private struct Place: Hashable {
    let catalogue: String
    let number: Int?
    init(_ volume: Volume) { (catalogue, number) = (volume.catalogue, volume.number) }
  }

  /// What the words say, taken literally; `nil` if two objects would be one row.
  private static func merged(_ before: [Volume], _ objects: [Volume], _ kind: Kind) -> [Volume]? {
    // Of several with one id, and then of several in one place, the last one counts.
    let distinct = objects.enumerated().filter { index, object in
      !objects[(index + 1)...].contains { $0.id == object.id }
    }.map(\.element)
    let given = distinct.enumerated().filter { index, object in
      !distinct[(index + 1)...].contains { Place($0) == Place(object) }
    }.map(\.element)
    var claimed: Set<String> = []
    var after = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
    for object in given {
      let row = before.first { Place($0) == Place(object) } ?? before.first { $0.id == object.id }
      let id = row?.id ?? object.id
      guard claimed.insert(id).inserted else { return nil }
      after[id] = Volume(id, object.catalogue, object.number, object.title)
    }
    for row in before where !claimed.contains(row.id) {
      if kind == .whole || kind == .subset && row.title == "a" { after[row.id] = nil }
    }
    return after.values.sorted { $0.id < $1.id }
  }

  private static func volume(_ random: inout SeededNumbers) -> Volume {
    Volume(
      "\(Int.random(in: 0..<7, using: &random))", ["X", "Y"].randomElement(using: &random) ?? "X",
      [nil, 1, 2].randomElement(using: &random) ?? nil, ["a", "b"].randomElement(using: &random) ?? "a")
  }

  @Test("As a naive model merges them", arguments: StoreKind.allCases, Kind.allCases)
  func naive(_ store: StoreKind, _ kind: Kind) async throws {
    let steps = min(TestOptions.steps ?? 1_000, 100_000)
    // Each of its steps is a round trip to a database.
    let share = StoreKind.forManyRows.contains(store) ? 4 : 40
    try await withConnect(store) { connect in
      for seed in TestOptions.seeds(steps / share) {
        var random = SeededNumbers(seed: seed)
        let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
        for id in 0..<7 { try context.delete(Volume.self, id: "\(id)") }
        var before: [String: Volume] = [:]
        for _ in 0..<Int.random(in: 0..<6, using: &random) {
          let volume = Self.volume(&random)
          if before.values.contains(where: { $0.id == volume.id || Place($0) == Place(volume) }) { continue }
          before[volume.id] = volume
          context.insert(volume)
        }
        try context.save()
        let objects = (0..<Int.random(in: 0..<5, using: &random)).map { _ in Self.volume(&random) }
        let sorted = before.values.sorted { $0.id < $1.id }
        let proxy = try connect.execute(
          BookWork { context in
            switch kind {
            case .whole: try context.merge(objects: objects, for: Volume.self)
            case .subset:
              try context.merge(objects: objects, for: Volume.self, subsetFilter: #Predicate { $0.title == "a" })
            case .page: try context.merge(page: objects, for: Volume.self)
            }
          })
        await proxy.finished()
        let expected = Self.merged(sorted, objects, kind)
        let comment: Comment = "CONCORD_RANDOM_SEED=\(seed), \(kind): \(sorted) with \(objects)"
        if case .notUnique = proxy.error as? StoreError {
          #expect(expected == nil, comment)
        } else {
          #expect(proxy.error == nil && expected != nil, comment)
        }
        #expect(try connect.stored(Volume.self).sorted { $0.id < $1.id } == expected ?? sorted, comment)
      }
    }
  }
}
