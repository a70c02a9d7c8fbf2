import FlyingFox
import Foundation
import Testing

@testable import ConcordConnect

/// The stamps of deletions are compared with those of pages.
@Suite("What is deleted while lists are on their way", .serialized)
struct RefreshRemovalsTests {
  typealias Meanwhile = @Sendable (_ page: Int) async throws -> Void

  /// Refreshes from a service that has these pages, as an action or in a context. `meanwhile` runs while a page is on its way; if
  /// it throws, the page does not come.
  private func refresh<T: PersistentEntity & Codable, S: ContextStrategyType>(
    _ connect: GenericConnect<S>, _ pages: [[T]], in context: ActionContext? = nil,
    _ meanwhile: @escaping Meanwhile = { _ in }
  ) async throws where T.ID: CustomStringConvertible {
    try await WebServer.run({ request in
      let page = Int(request.query.first { $0.name == "page" }?.value ?? "0") ?? 0
      do { try await meanwhile(page) } catch { return .json("", status: .internalServerError) }
      let text = String(decoding: try JSONEncoder().encode(pages[page]), as: UTF8.self)
      return .json(text, page + 1 < pages.count ? ["Link": "</list?page=\(page + 1)>; rel=\"next\""] : [:])
    }) { server in
      let list = Resource<T>(at: "/list", of: HTTPTransport(baseURL: server.url))
      if let context { return try await list.refresh(in: context) }
      let proxy = try connect.execute(BookWork { try await list.refresh(in: $0) })
      await proxy.finished()
      if let error = proxy.error { throw error }
    }
  }

  private func delete<T: PersistentEntity>(_ type: T.Type, _ ids: T.ID..., in container: any PersistentContainer) throws
  {
    let context = BackgroundContext(parent: container.persistentStoreCoordinator)
    for id in ids { #expect(try context.delete(type, id: id)) }
    try context.save()
  }

  private func served(_ ids: some Sequence<Int>) -> [Book] { ids.map { Book(id: $0, title: "served") } }

  private func titles(_ connect: any PersistentContainer) throws -> [String] {
    try connect.stored(Book.self).map { "\($0.id) \($0.title)" }
  }

  @Test("What is deleted here while its page comes, or a later one, stays deleted", arguments: StoreKind.allCases)
  func deletedMeanwhile(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store([1, 2, 3, 4, 5, 6, 9].map { Book(id: $0, title: "old") })
      let pages = [served(1...3), served(4...6)]
      try await refresh(connect, pages) { page in
        if page == 0 {
          try delete(Book.self, 1, 2, in: connect)
          try connect.store([Book(id: 2, title: "own")])
        } else {
          try delete(Book.self, 3, 4, in: connect)
        }
      }
      #expect(try titles(connect) == ["2 own", "5 served", "6 served"])
      // What was deleted before it is asked for is on the page because the service has it.
      try await refresh(connect, pages)
      #expect(try titles(connect) == (1...6).map { "\($0) served" })
      // A single page is stored at the end.
      try await refresh(connect, [served(1...3)]) { _ in try delete(Book.self, 2, 6, in: connect) }
      #expect(try titles(connect) == ["1 served", "3 served"])
    }
  }

  #if Persistence
    @Test("What another container with the same file deletes meanwhile stays deleted, also after it was closed")
    func otherContainer() async throws {
      try await withConnect(.sqlite) { connect in
        try connect.store((1...3).map { Book(id: $0, title: "old") })
        let file = try #require(connect.persistentStores.first?.url)
        try await refresh(connect, [served(1...3)]) { _ in
          let other = GenericPersistentContainer<ContextStrategy.Direct>(name: "Library", model: try libraryModel())
          let store = try other.attachPersistentStore(
            at: file.deletingLastPathComponent(), for: StoreConfiguration(fileName: file.lastPathComponent))
          defer { try? other.detach(persistentStore: store) }
          try delete(Book.self, 2, in: other)
        }
        #expect(try titles(connect) == ["1 served", "3 served"])
      }
    }
  #endif

  @Test("A refresh that fails and is tried again asks for what was deleted before", arguments: StoreKind.allCases)
  func triedAgain(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      try connect.store((1...4).map { Book(id: $0, title: "old") })
      let pages = [served(1...2), served(3...4)]
      await #expect(throws: TransportError.self) {
        try await refresh(connect, pages) { page in
          if page == 1 { throw Failure() }
          try delete(Book.self, 1, in: connect)
        }
      }
      #expect(try titles(connect) == ["2 served", "3 old", "4 old"])
      try await refresh(connect, pages) { page in if page == 1 { try delete(Book.self, 3, in: connect) } }
      #expect(try titles(connect) == ["1 served", "2 served", "4 served"])
    }
  }

  @Test("What an answer deletes is as fresh as the request for it", arguments: StoreKind.allCases)
  func otherAnswers(_ kind: StoreKind) async throws {
    try await withConnect(kind) { connect in
      // Actions of one type wait for each other.
      let context = ActionContext(parent: connect.persistentStoreCoordinator)
      try connect.store(served(1...2))
      // The later one has no second book.
      try await refresh(connect, [served(1...2)]) { _ in try await refresh(connect, [served(1...1)], in: context) }
      #expect(try titles(connect) == ["1 served"])
      // The earlier one had none, and comes later.
      try connect.store(served(1...2))
      let (begun, arrived) = (Gate(), Gate())
      async let earlier: Void = {
        try await refresh(connect, [served(1...1)], in: context) { _ in
          begun.open()
          await arrived.passed()
        }
      }()
      await begun.passed()
      let done = Gate()
      async let later: Void = {
        try await refresh(connect, [served(1...2)]) { _ in
          arrived.open()
          await done.passed()
        }
      }()
      try await earlier
      #expect(try titles(connect) == ["1 served"])
      done.open()
      try await later
      #expect(try titles(connect) == ["1 served", "2 served"])
    }
  }

  @Test("What contains an entity that is deleted meanwhile loses it, or goes with it", arguments: StoreKind.allCases)
  func nested(_ kind: StoreKind) async throws {
    let (jane, anne) = (Author(id: 1, name: "Jane"), Author(id: 2, name: "Anne"))
    let emma = Novel(id: 1, title: "Emma", author: jane)
    let agnes = Novel(id: 2, title: "Agnes Grey", author: anne)
    let sequel = Novel(id: 3, title: "Emma II", author: jane)
    let all = Novel(id: 4, title: "All", author: anne, sequels: [emma, agnes, sequel])
    for pages in [[[emma, agnes, sequel, all]], [[emma, agnes], [sequel, all]]] {
      try await withConnect(kind) { connect in
        try connect.store([emma, agnes])
        try await refresh(connect, pages) { page in
          if page + 1 == pages.count { try delete(Author.self, 1, in: connect) }
        }
        #expect(try connect.stored(Author.self) == [anne])
        #expect(try connect.stored(Novel.self) == [agnes, Novel(id: 4, title: "All", author: anne, sequels: [agnes])])
      }
    }
  }

  @Test("What the view deletes meanwhile stays deleted, whenever that is written", arguments: [false, true])
  func view(isSaved: Bool) async throws {
    func check<S: ContextStrategyType>(_ strategy: S.Type) async throws {
      let connect = GenericConnect<S>(name: "Library", model: try libraryModel())
      try connect.attachPersistentStore(for: StoreConfiguration(type: .inMemory))
      try await connect.start()
      let view = connect.viewContext
      try connect.store((1...4).map { Book(id: $0, title: "old") })
      try await refresh(connect, [served(1...2), served(3...4)]) { page in
        try view.delete(Book.self, id: page == 0 ? 1 : 3)
        if isSaved { try view.save() }
      }
      #expect(try view.fetch(FetchDescriptor<Book>()).map(\.id) == [2, 4])
      try view.save()
      try await connect.flush()
      #expect(try titles(connect) == ["2 served", "4 served"])
      try await connect.stop()
    }
    try await check(ContextStrategy.Direct.self)
    try await check(ContextStrategy.Mixed.self)
    try await check(ContextStrategy.IndirectNested.self)
  }
}
