import Foundation
import Testing

@testable import ConcordConnect

@Suite("Merging what contains entities")
struct MergeRelationTests {
  @Test("Entities inside are stored with the objects; none of them is deleted", arguments: StoreKind.allCases)
  func nested(_ kind: StoreKind) async throws {
    let (jane, anne) = (Author(id: 1, name: "Jane"), Author(id: 2, name: "Anne"))
    try await withConnect(kind) { connect in
      try connect.store([Novel(id: 1, title: "Emma", author: jane), Novel(id: 2, title: "Agnes Grey", author: anne)])
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(
            objects: [
              Novel(id: 1, title: "Emma", author: Author(id: 1, name: "J. Austen")),
              Novel(id: 3, title: "New", author: Author(id: 3, name: "Mary")),
            ], for: Novel.self)
          let counts = context.statistics
          #expect(counts.changes == [2, 1, 1])
        })
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Author.self).map(\.name) == ["J. Austen", "Anne", "Mary"])
      #expect(try connect.stored(Novel.self).map(\.id) == [1, 3])
    }
  }

  @Test(
    "What is inside of an object is not deleted for not standing on its own, and loses nothing by being brief",
    arguments: StoreKind.allCases)
  func recursive(_ kind: StoreKind) async throws {
    let jane = Author(id: 1, name: "Jane")
    let third = Novel(id: 3, title: "III", author: jane)
    let second = Novel(id: 2, title: "II", author: jane, sequels: [third])
    let first = Novel(id: 1, title: "I", author: jane, sequels: [second])
    let brief = Novel(id: 2, title: "II, revised", author: jane)
    try await withConnect(kind) { connect in
      try connect.store([first, Novel(id: 4, title: "IV", author: jane)])
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(
            objects: [Novel(id: 1, title: "I", author: jane, sequels: [brief]), third], for: Novel.self)
        })
      await proxy.finished()
      #expect(proxy.error == nil)
      let stored = try connect.stored(Novel.self)
      #expect(stored.map(\.id) == [1, 2, 3])
      #expect(stored.map(\.title) == ["I", "II, revised", "III"])
      #expect(stored.map { $0.sequels.map(\.id) } == [[2], [3], []])
    }
  }

  @Test("What is deleted leaves its owners, and they stay as fresh as they were", arguments: StoreKind.allCases)
  func stampOfOwner(_ kind: StoreKind) async throws {
    let jane = Author(id: 1, name: "Jane")
    try await withConnect(kind) { connect in
      let context = connect.newBackgroundContext()
      let second = Novel(id: 2, title: "II", author: jane)
      context.insert(Novel(id: 1, title: "I", author: jane, sequels: [second]), modifiedAt: 10)
      try context.update(Novel.self, id: 1, modifiedAt: 30) { $0.title = "I, revised" }
      try context.save()
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(objects: [], for: Novel.self, subsetFilter: #Predicate { $0.id == 2 }, modifiedAt: 20)
        })
      #expect(await proxy.finished() == .successful)
      let stored = try connect.stored(Novel.self)
      #expect(stored.map(\.title) == ["I, revised"] && stored.allSatisfy { $0.sequels.isEmpty })
      #expect(try connect.newBackgroundContext().stamp(of: Novel.self, id: 1) == 30)
    }
  }

  @Test("What is deleted leaves those that contain it", arguments: StoreKind.allCases)
  func deletedChild(_ kind: StoreKind) async throws {
    let (jane, anne) = (Author(id: 1, name: "Jane"), Author(id: 2, name: "Anne"))
    try await withConnect(kind) { connect in
      try connect.store([Novel(id: 1, title: "Emma", author: jane), Novel(id: 2, title: "Agnes Grey", author: anne)])
      let proxy = try connect.execute(AuthorWork { try $0.merge(objects: [jane], for: Author.self) })
      #expect(await proxy.finished() == .successful)
      // A novel requires its author.
      #expect(try connect.stored(Novel.self).map(\.id) == [1])
    }
  }
}
