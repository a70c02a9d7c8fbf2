#if Persistence
  import Concord
  import ConcordTestShared
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

    @Test(
      "A reading sees no commit that ends after it has asked for what is not announced", arguments: StoreKind.allCases)
    func snapshots(_ kind: StoreKind) throws {
      // Writers wait for readers in memory.
      if kind == .memory { return }
      let model = try libraryModel()
      try withFolder { folder in
        let (store, other) = (try kind.open(model, in: folder), try kind.open(model, in: folder))
        defer { for store in [store, other] { try? store.close() } }
        let entity = try model.entity(Review.self)
        let key = EntityKey(entity, .integer(1))
        func row(_ stars: Int) throws -> StoredRow {
          try entity.row(of: Review(id: 1, text: "", stars: stars), stamp: Double(stars))
        }
        try store.write(origin: nil) { _ = try $0.insert(row(1), for: key) }
        // Only who follows compares.
        let observation = store.observeCommits { _ in }
        try store.read { reading in
          _ = try reading.unannouncedKeys()
          try other.write(origin: nil) { try $0.update(row(2), replacing: row(1), for: key) }
          #expect(try reading.row(of: key) == row(1))
        }
        #expect(try store.read { try $0.row(of: key) } == row(2))
        withExtendedLifetime(observation) {}
      }
    }

    @Test("No closure sees a part of what another process commits", arguments: StrategyKind.allCases)
    func closures(_ strategy: StrategyKind) async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let container = try strategy.container(processModel(), named: "Process")
      let store = try container.attachPersistentStore(at: folder)
      defer { try? container.detach(persistentStore: store) }
      let mine = container.newBackgroundContext()
      for id in 1...3 { mine.insert(Entry(id: id, text: "0")) }
      try mine.save()
      try await container.flush()
      // Views of all kinds of delivery, over the same parent as the strategy's own.
      let parent: any ContextParent =
        strategy.viewSavesToDisk
        ? container.persistentStoreCoordinator
        : RootContext(parent: container.persistentStoreCoordinator) { Issue.record($0) }
      let torn = Locked<[String]>([])
      let seen = Locked<Set<String>>([])
      @Sendable func note(_ kind: String, _ texts: [String]) {
        if Set(texts).count > 1 { torn.withLock { $0.append("\(kind): \(texts)") } }
        if let text = texts.first { seen.withLock { _ = $0.insert("\(kind) \(text)") } }
      }
      var kept: [Subscription] = []
      var views: [ViewContext] = []
      let deliveries: [(String, EntityStore.Delivery)] = [
        ("immediate", .immediate), ("queue", .queue(DispatchQueue(label: "views"))),
      ]
      for (name, delivery) in deliveries {
        let view = ViewContext(parent: parent, delivery: delivery) { Issue.record($0) }
        views.append(view)
        let (first, second) = (
          try #require(try view.find(Entry.self, id: 1)), try #require(try view.find(Entry.self, id: 2))
        )
        kept.append(
          view.store.observe(first, second, buffering: .every) { note("\(name) pair", [$0.0.text, $0.1.text]) })
        let list = try view.query(FetchDescriptor<Entry>(predicate: #Predicate { $0.id < 3 }))
        kept.append(list.observe(buffering: .every) { note("\(name) list", $0.map(\.text)) })
        kept.append(view.store.observe(list, first) { note("\(name) list and one", $0.0.map(\.text) + [$0.1.text]) })
        if name == "immediate" {
          // What is read in a callback may be a later state, but one state.
          @Sendable func noteBoth(_ kind: String) {
            note(kind, view.store.transaction { _ in [first.value.text, second.value.text] })
          }
          kept.append(first.observe { _ in noteBoth("first") })
          kept.append(second.observe { _ in noteBoth("second") })
        }
      }
      let process = try ChildProcess(["pairs", folder.path, "200"])
      defer { process.kill() }
      var number = 0
      while !process.lines.contains("done"), process.isRunning {
        number += 1
        let view = views[number % 2]
        switch number / 2 % 3 {
        case 0:
          try mine.update(Entry.self, id: 3) { $0.text = "\(number)" }
          try mine.save()
        case 1: _ = try view.find(Entry.self, id: number % 2 + 1)
        default:
          try view.update(Entry.self, id: 3) { $0.text = "\(number)" }
          try view.save()
        }
        await Task.yield()
      }
      let isLastSeen = try await eventually {
        seen.withLock { $0.contains("queue pair 200") && $0.contains("immediate list 200") }
      }
      #expect(isLastSeen)
      let all = torn.withLock { $0 }
      #expect(all.isEmpty, "\(all.count): \(all.prefix(5))")
      #expect(seen.withLock { $0.count } > 20)
      try (parent as? RootContext)?.writePendingChanges()
      for subscription in kept { subscription.unsubscribe() }
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
