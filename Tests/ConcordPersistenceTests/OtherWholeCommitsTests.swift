#if Persistence
  import Concord
  import Foundation
  import Testing

  @testable import ConcordPersistence

  /// What a view shows of the commits of others that have the same file open, while this container saves, too.
  @Suite("Whole commits of others in the view")
  struct OtherWholeCommitsTests {
    @Test(
      "A commit of others is shown whole, whatever this container saves or reads meanwhile",
      arguments: StoreKind.combinations)
    func wholeCommits(_ kind: StoreKind, _ strategy: StrategyKind) async throws {
      guard strategy.isKeptUpToDate, kind != .memory else { return }
      try await strategy.withContainer(kind) { container in
        let view = container.viewContext
        let mine = container.newBackgroundContext()
        for id in 0..<4 { mine.insert(Review(id: id, text: "0", stars: 0)) }
        try mine.save()
        try await container.flush()
        let observers = try (0..<4).map { try #require(try view.find(Review.self, id: $0)) }
        let list = try view.query(FetchDescriptor<Review>(sortBy: [SortDescriptor(\.id)]))
        let file = try #require(container.persistentStores.first?.url)
        let isDone = Locked(false)
        let saving = Task.detached {
          defer { isDone.withLock { $0 = true } }
          let store = try kind.open(libraryModel(), at: file)
          defer { try? store.close() }
          let coordinator = PersistentStoreCoordinator(model: try libraryModel())
          try coordinator.attach(store, configuration: "")
          let theirs = coordinator.newContext()
          for number in 1...300 {
            for id in 0..<3 { try theirs.update(Review.self, id: id) { $0.stars = number } }
            try theirs.save()
            if number.isMultiple(of: 8) { try await Task.sleep(for: .milliseconds(1)) }
          }
        }
        var torn: [[Int?]] = []
        var states: Set<Int> = []
        var number = 0
        while !isDone.withLock({ $0 }) {
          number += 1
          switch number % 4 {
          case 0:
            try mine.update(Review.self, id: number / 4 % 3) { $0.text = "\(number)" }
            try mine.save()
          case 1: _ = try view.find(Review.self, id: number / 4 % 3)
          case 2:
            try view.update(Review.self, id: number / 4 % 3) { $0.text = "\(number)" }
            try view.save()
          default:
            try mine.update(Review.self, id: 3) { $0.stars = number }
            try mine.save()
          }
          let shown = view.store.transaction { _ in [observers.map(\.value.stars), list.value.map(\.stars)] }
          for stars in shown where stars.count != 4 || Set(stars[..<3]).count > 1 { torn.append(stars) }
          states.insert(shown[0][0] ?? 0)
          await Task.yield()
        }
        try await saving.value
        #expect(torn.isEmpty, "\(torn.count): \(torn.prefix(3))")
        #expect(states.count > 3)
        try await container.flush()
        #expect(try await eventually { observers.map(\.value.stars)[..<3] == [300, 300, 300] })
        #expect(list.value.map(\.stars)[..<3] == [300, 300, 300])
      }
    }

    @Test("What others commit is noticed by the next read, and own commits are not taken for theirs")
    func noticed() throws {
      try withFolder { folder in
        let model = try libraryModel()
        let url = folder.appending(path: "a.sqlite")
        let (mine, theirs) = (
          try SQLiteStore(url: url, entities: model.entities), try SQLiteStore(url: url, entities: model.entities)
        )
        defer {
          try? mine.close()
          try? theirs.close()
        }
        let coordinators = (PersistentStoreCoordinator(model: model), PersistentStoreCoordinator(model: model))
        try coordinators.0.attach(mine, configuration: "")
        try coordinators.1.attach(theirs, configuration: "")
        func save(_ id: Int, _ coordinator: PersistentStoreCoordinator) throws {
          let context = coordinator.newContext()
          context.insert(Review(id: id, text: "a"))
          try context.save()
        }
        var known = (mine: mine.unknownCommits, theirs: theirs.unknownCommits)
        for round in 0..<50 {
          try save(round % 3, coordinators.0)
          #expect(mine.unknownCommits == known.mine)
          // What writes nothing, and what fails, counts nothing up.
          try mine.write(origin: nil) { _ in }
          #expect(throws: CancellationError.self) {
            try mine.write(origin: nil) { writing in
              _ = try writing.insert(
                StoredRow(values: [.integer(9), .text("a"), .null], collections: [], stamp: 0),
                for: EntityKey(model.entity(Review.self), .integer(9)))
              throw CancellationError()
            }
          }
          if round % 5 == 0 { try mine.synchronize() }
          #expect(mine.unknownCommits == known.mine)
          #expect(theirs.unknownCommits == known.theirs + 1)
          try save(round % 2, coordinators.1)
          #expect(theirs.unknownCommits == known.theirs + 1)
          #expect(mine.unknownCommits == known.mine + 1)
          known = (mine.unknownCommits, theirs.unknownCommits)
        }
      }
    }
  }
#endif
