import Foundation
import Testing

@testable import ConcordConnect

@Suite("Merging by several attributes")
struct MergeUniquenessTests {
  @Test(
    "Entities are found by several attributes, and keep the ids that they are stored with",
    arguments: StoreKind.allCases)
  func composite(_ kind: StoreKind) async throws {
    let before = [Volume("a", "X", 1, "one"), Volume("b", "X", 2, "two"), Volume("c", "Y", nil, "none")]
    let after = try await merged(kind, Volume.self, before: before) { context in
      try context.merge(
        objects: [
          Volume("new", "Y", 1, "inserted"), Volume("other", "Y", nil, "updated"), Volume("x", "X", 2, "two"),
          Volume("d", "X", 3, "twice"), Volume("e", "X", 3, "the last"),
        ], for: Volume.self)
    }
    #expect(
      after == [
        Volume("b", "X", 2, "two"), Volume("c", "Y", nil, "updated"), Volume("e", "X", 3, "the last"),
        Volume("new", "Y", 1, "inserted"),
      ])
  }

  @Test("An entity whose attributes have changed, and not its id, is updated", arguments: StoreKind.allCases)
  func compositeMoved(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Volume.self, before: [Volume("a", "X", 1, "one"), Volume("b", "X", 2, "two")]) {
      try $0.merge(objects: [Volume("a", "Z", 9, "moved"), Volume("b", "X", 2, "two")], for: Volume.self)
    }
    #expect(after == [Volume("a", "Z", 9, "moved"), Volume("b", "X", 2, "two")])
  }

  @Test("With a subset, entities are found by their attributes outside of it, too", arguments: StoreKind.allCases)
  func compositeSubset(_ kind: StoreKind) async throws {
    let before = [
      Volume("a", "X", 1, "in"), Volume("b", "X", 2, "in"), Volume("c", "Y", 1, "out"), Volume("d", "Z", 1, "out"),
    ]
    let after = try await merged(kind, Volume.self, before: before) { context in
      try context.merge(
        objects: [Volume("q", "Y", 1, "found"), Volume("a", "X", 1, "in"), Volume("d", "V", 1, "by id")],
        for: Volume.self, subsetFilter: #Predicate { $0.title == "in" })
    }
    #expect(after == [Volume("a", "X", 1, "in"), Volume("c", "Y", 1, "found"), Volume("d", "V", 1, "by id")])
  }

  @Test("Two objects that would be one row are refused, and nothing changes", arguments: StoreKind.allCases)
  func compositeClash(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([Volume("a", "X", 1, "one")])
      let proxy = try connect.execute(
        BookWork { context in
          // The first is the stored entity, whose id the second one has.
          try context.merge(objects: [Volume("b", "X", 1, "two"), Volume("a", "Y", 1, "three")], for: Volume.self)
        })
      #expect(await proxy.finished() == .failed)
      guard case .notUnique(let entity, _) = proxy.error as? StoreError else {
        Issue.record("\(String(describing: proxy.error))")
        return
      }
      #expect(entity == "Volume")
      #expect(try connect.stored(Volume.self) == [Volume("a", "X", 1, "one")])
    }
  }

  @Test("A page deletes nothing, also not the row whose id an object has", arguments: StoreKind.allCases)
  func pageDeletesNothing(_ kind: StoreKind) async throws {
    let after = try await merged(kind, Volume.self, before: [Volume("1", "a", 1, "one"), Volume("7", "b", 1, "seven")])
    {
      try $0.merge(page: [Volume("7", "a", 1, "new")], for: Volume.self)
    }
    #expect(after == [Volume("1", "a", 1, "new"), Volume("7", "b", 1, "seven")])
  }

  @Test("A page of many objects finds each by its attributes, or by its id", arguments: StoreKind.forManyRows)
  func manyOnPage(_ kind: StoreKind) async throws {
    func id(_ number: Int) -> String { "\(number * 7_919 % 1_000_003)" }
    try await withConnect(kind) { connect in
      try connect.store((0..<1_200).map { Volume(id($0), "X", $0, "old") })
      // Of the first some have another id, of the last others another number, and some are new.
      let page = (0..<1_210).map { number in
        Volume(number < 10 ? "other \(number)" : id(number), number < 1_190 ? "X" : "Y", number, "new")
      }
      let proxy = try connect.execute(BookWork { try $0.merge(page: page, for: Volume.self) })
      #expect(await proxy.finished() == .successful)
      let found = try connect.stored(Volume.self).sorted { ($0.number ?? 0) < ($1.number ?? 0) }
      let expected = (0..<1_210).map { number in Volume(id(number), number < 1_190 ? "X" : "Y", number, "new") }
      #expect(found == expected)
    }
  }

  @Test("Two objects that would be one row are refused outside of the subset, too", arguments: StoreKind.allCases)
  func clashOutsideOfSubset(_ kind: StoreKind) async throws {
    for first in ["A", "Z"] {
      try await withConnect(kind) { connect in
        try connect.store([Volume("a", "X", 1, "out")])
        let proxy = try connect.execute(
          BookWork { context in
            try context.merge(
              objects: [Volume("b", "X", 1, "in"), Volume("a", first, 1, "in")], for: Volume.self,
              subsetFilter: #Predicate { $0.title == "in" })
          })
        #expect(await proxy.finished() == .failed)
        guard case .notUnique = proxy.error as? StoreError else {
          Issue.record("\(String(describing: proxy.error))")
          return
        }
        #expect(try connect.stored(Volume.self) == [Volume("a", "X", 1, "out")])
      }
    }
  }

  @Test("Ids of several parts", arguments: StoreKind.allCases)
  func compositeId(_ kind: StoreKind) async throws {
    @Sendable func copy(_ book: Int, _ number: Int, _ place: String) -> Copy {
      Copy(id: .init(book: book, number: number), place: place)
    }
    let after = try await merged(kind, Copy.self, before: [copy(1, 1, "a"), copy(1, 2, "b"), copy(2, 1, "c")]) {
      try $0.merge(objects: [copy(2, 1, "d"), copy(1, 2, "b"), copy(3, 1, "e")], for: Copy.self)
    }
    #expect(Set(after.map { "\($0.id.book) \($0.id.number) \($0.place)" }) == ["2 1 d", "1 2 b", "3 1 e"])
  }
}
