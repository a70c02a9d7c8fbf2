import Foundation
import Testing

@testable import ConcordConnect

@Suite("Where a merge goes: strategies, several stores, pages")
struct MergePlaceTests {
  private func book(_ id: Int, _ title: String = "Emma") -> Book { Book(id: id, title: title) }

  private func check<Strategy: ContextStrategyType>(
    _ strategy: Strategy.Type, _ kind: StoreKind, isKeptUpToDate: Bool
  ) async throws {
    try await withFolder { folder in
      let connect = GenericConnect<Strategy>(name: "Library", model: try libraryModel())
      try connect.attachPersistentStore(at: folder, for: kind.configuration(folder))
      try await connect.start()
      try connect.store([book(1), book(2), book(3)])
      let observer = try #require(try connect.viewContext.find(Book.self, id: 2))
      let proxy = try connect.execute(
        BookWork { try $0.merge(objects: [book(2, "other"), book(3), book(4)], for: Book.self) })
      await proxy.finished()
      #expect(proxy.error == nil)
      #expect(proxy.statistics.contextStatistics?.changes == [1, 1, 1])
      try await connect.flush()
      #expect(try connect.stored(Book.self) == [book(2, "other"), book(3), book(4)])
      #expect(observer.value.title == (isKeptUpToDate ? "other" : "Emma"))
      try await connect.stop()
    }
  }

  @Test("Each strategy", arguments: StoreKind.allCases)
  func strategies(_ kind: StoreKind) async throws {
    try await check(ContextStrategy.Direct.self, kind, isKeptUpToDate: true)
    try await check(ContextStrategy.DirectIndependent.self, kind, isKeptUpToDate: false)
    try await check(ContextStrategy.IndirectNested.self, kind, isKeptUpToDate: true)
    try await check(ContextStrategy.Mixed.self, kind, isKeptUpToDate: true)
  }

  @Test("Types that are kept in several stores", arguments: StoreKind.allCases)
  func stores(_ kind: StoreKind) async throws {
    try await withFolder { folder in
      let model = try Model(
        "Library", entities: [], configurations: ["Global": [Author.self], "Own": [Novel.self]])
      let connect = GenericConnect<ContextStrategy.Mixed>(name: "Library", model: model)
      try connect.attachPersistentStores(
        at: folder,
        for: [kind.configuration(folder, name: "Global"), kind.configuration(folder, name: "Own")])
      try await connect.start()
      let (jane, anne) = (Author(id: 1, name: "Jane"), Author(id: 2, name: "Anne"))
      try connect.store([Novel(id: 1, title: "Emma", author: jane), Novel(id: 2, title: "Agnes Grey", author: anne)])
      let work = AuthorWork { context in
        try context.merge(objects: [Author(id: 1, name: "J. Austen")], for: Author.self)
      }
      let proxy = try connect.execute(work)
      #expect(await proxy.finished() == .successful)
      #expect(try connect.stored(Novel.self).map(\.author.name) == ["J. Austen"])
      try await connect.stop()
    }
  }

  @Test("A page deletes nothing, honours ignored attributes and the condition", arguments: StoreKind.allCases)
  func page(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      let before = [
        Book(id: 1, title: "a", price: 7), Book(id: 2, title: "b", isEdited: true), Book(id: 3, title: "c"),
      ]
      try connect.store(before)
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(
            page: [book(4, "new"), book(2, "new"), book(1, "first"), book(1, "new")], for: Book.self,
            ignoreAttributes: ["price"], condition: #Predicate { !$0.isEdited })
        })
      await proxy.finished()
      #expect(proxy.error == nil && proxy.statistics.contextStatistics?.changes == [1, 1, 0])
      #expect(
        try connect.stored(Book.self) == [Book(id: 1, title: "new", price: 7), before[1], before[2], book(4, "new")])
    }
  }

  @Test("A page is found by several attributes, too", arguments: StoreKind.allCases)
  func pageByAttributes(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([Volume("a", "X", 1, "one"), Volume("b", "X", nil, "none")])
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(
            page: [Volume("q", "X", nil, "found"), Volume("c", "X", 2, "new")], for: Volume.self)
        })
      await proxy.finished()
      #expect(proxy.error == nil)
      #expect(
        try connect.stored(Volume.self) == [
          Volume("a", "X", 1, "one"), Volume("b", "X", nil, "found"), Volume("c", "X", 2, "new"),
        ])
    }
  }

  @Test("A page of more than a statement takes values, and an empty one", arguments: StoreKind.forManyRows)
  func largePage(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([book(-1), book(7), book(70_001), book(100_000)])
      let page = (0..<40_000).map { book($0 * 2, "new") }
      let proxy = try connect.execute(
        BookWork { context in
          try context.merge(page: page, for: Book.self)
          try context.merge(page: [], for: Book.self)
        })
      await proxy.finished()
      #expect(proxy.error == nil && proxy.statistics.contextStatistics?.changes == [40_000, 0, 0])
      #expect(try connect.stored(Book.self).count == 40_004)
    }
  }
}
