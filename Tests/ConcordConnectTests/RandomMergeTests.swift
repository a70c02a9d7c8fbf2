import ConcordTestShared
import Foundation
import Testing

@testable import ConcordConnect

/// Merges random lists, and compares with what the words say, taken literally.
@Suite("Random merges")
struct RandomMergeTests {
  private static func randomBook(_ random: inout SeededNumbers) -> Book {
    Book(
      id: .random(in: 0..<12, using: &random), title: ["a", "b", "c"].randomElement(using: &random) ?? "a",
      price: .random(in: 0...1, using: &random).rounded(), shelf: .random(in: 0..<3, using: &random),
      isEdited: .random(using: &random))
  }

  private static func randomVolume(_ random: inout SeededNumbers) -> Volume {
    Volume(
      "\(Int.random(in: 0..<9, using: &random))", ["X", "Y"].randomElement(using: &random) ?? "X",
      [nil, 1, 2].randomElement(using: &random) ?? nil, ["a", "b"].randomElement(using: &random) ?? "a")
  }

  private func seeds(_ kind: StoreKind) -> Range<UInt64> {
    TestOptions.seeds(kind.share(of: min(TestOptions.steps ?? 1_000, 100_000) / 10))
  }

  @Test("By id, with subset, condition and ignored attributes", arguments: StoreKind.allCases)
  func byId(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      for seed in seeds(kind) {
        var random = SeededNumbers(seed: seed)
        let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
        for id in 0..<12 { try context.delete(Book.self, id: id) }
        for _ in 0..<Int.random(in: 0..<12, using: &random) { context.insert(Self.randomBook(&random)) }
        try context.save()
        let before = try connect.stored(Book.self)
        let objects = (0..<Int.random(in: 0..<12, using: &random)).map { _ in Self.randomBook(&random) }
        let subset: Int? = .random(using: &random) ? 1 : nil
        let isInexact = Bool.random(using: &random)
        let isGuarded = Bool.random(using: &random)
        let ignored = Bool.random(using: &random) ? ["price", "title"] : []
        let proxy = try connect.execute(
          BookWork { context in
            let filter: Predicate<Book>? = subset.map { shelf in
              isInexact ? #Predicate { $0.title.contains("a") && $0.shelf == shelf } : #Predicate { $0.shelf == shelf }
            }
            try context.merge(
              objects: objects, for: Book.self, ignoreAttributes: ignored, subsetFilter: filter,
              condition: isGuarded ? #Predicate { !$0.isEdited } : nil)
          })
        await proxy.finished()
        var expected = Dictionary(uniqueKeysWithValues: before.map { ($0.id, $0) })
        for old in before where !objects.contains(where: { $0.id == old.id }) {
          let isMeant = subset == nil || old.shelf == subset && (!isInexact || old.title.contains("a"))
          if isMeant, !(isGuarded && old.isEdited) { expected[old.id] = nil }
        }
        for object in objects where object == objects.last(where: { $0.id == object.id }) {
          guard var present = before.first(where: { $0.id == object.id }) else {
            expected[object.id] = object
            continue
          }
          if isGuarded, present.isEdited { continue }
          let (price, title) = (present.price, present.title)
          present = object
          if !ignored.isEmpty { (present.price, present.title) = (price, title) }
          expected[object.id] = present
        }
        let after = try connect.stored(Book.self)
        #expect(proxy.error == nil, "seed \(seed)")
        #expect(after == expected.values.sorted { $0.id < $1.id }, "seed \(seed): \(before) with \(objects)")
      }
    }
  }

  @Test(
    "By several attributes: the stored set has what was given, with the ids that it had", arguments: StoreKind.allCases)
  func byAttributes(_ kind: StoreKind) async throws {
    struct Place: Hashable {
      let catalogue: String
      let number: Int?
      init(_ volume: Volume) { (catalogue, number) = (volume.catalogue, volume.number) }
    }
    try await withConnect(kind) { connect in
      for seed in seeds(kind) {
        var random = SeededNumbers(seed: seed)
        let context = BackgroundContext(parent: connect.persistentStoreCoordinator)
        for id in 0..<9 { try context.delete(Volume.self, id: "\(id)") }
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
          let volume = Self.randomVolume(&random)
          if try !connect.stored(Volume.self).contains(where: { Place($0) == Place(volume) }) {
            context.insert(volume)
            try context.save()
          }
        }
        let before = try connect.stored(Volume.self)
        let objects = (0..<Int.random(in: 0..<6, using: &random)).map { _ in Self.randomVolume(&random) }
        let proxy = try connect.execute(BookWork { try $0.merge(objects: objects, for: Volume.self) })
        await proxy.finished()
        let after = try connect.stored(Volume.self)
        if proxy.error != nil {
          // Two objects that would be one row.
          #expect(after == before, "seed \(seed)")
          continue
        }
        var byId: [String: Volume] = [:]
        for object in objects { byId[object.id] = object }
        var given: [Place: Volume] = [:]
        for object in objects where byId[object.id] == object { given[Place(object)] = object }
        #expect(Set(after.map(Place.init)) == Set(given.keys), "seed \(seed): \(before) with \(objects)")
        for volume in after {
          #expect(volume.title == given[Place(volume)]?.title, "seed \(seed)")
          let old = before.filter { Place($0) == Place(volume) }
          if old.count == 1 { #expect(volume.id == old[0].id, "seed \(seed): \(before) with \(objects)") }
        }
      }
    }
  }
}
