#if Persistence
  import ConcordConnect
  import ConcordTestSupport
  import Foundation
  import Testing

  /// An outbox's store is locked first, so that it is committed last; others are locked in the order of their paths.
  @Suite("Writers of several stores do not wait for each other", .timeLimit(.minutes(3)))
  struct LockOrderTests {
    /// A connect with a store of books, one of authors, and the outbox in that which is attached first.
    private func connect(
      _ folder: URL, _ names: [String], books: String, authors: StoreType = .sqlite
    ) async throws -> TestConnect {
      let configurations = Dictionary(
        uniqueKeysWithValues: names.map { ($0, $0 == books ? [Book.self] : [Author.self]) }
          as [(String, [any PersistentEntity.Type])])
      let model = try Model("Library", entities: [], configurations: configurations)
      let connect = TestConnect(name: "Library", model: model, transport: ScriptedTransport(), forwarding: [Raise.self])
      try connect.attachPersistentStores(
        at: folder, for: names.map { StoreConfiguration(name: $0, type: $0 == books ? .sqlite : authors) })
      return connect
    }

    /// Saves to both stores, purges one, and forwards actions, all at once.
    private func work(_ connect: TestConnect, _ first: Int, rounds: Int) async throws {
      let isOver = Locked(false)
      @Sendable func save() throws -> Int {
        var count = 0
        while !isOver.withLock({ $0 }) {
          let context = connect.newBackgroundContext()
          context.insert(Author(id: first + count % 9, name: "\(count)"))
          context.insert(Book(id: first + count % 9, title: "\(count)"))
          try context.save()
          if count % 3 == 0 { try context.purge(Author.self, keeping: .atMost(5)) }
          count += 1
        }
        return count
      }
      // On a thread of its own, since it never lets others run.
      async let saves = withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try save() }) }
      }
      let forwarding = await Result {
        for round in 0..<rounds { try await connect.forward(Raise(book: round % 9 + 1, note: "a")) }
        try await connect.settled()
      }
      isOver.withLock { $0 = true }
      #expect(try await saves > 0)
      try forwarding.get()
    }

    @Test(
      "In one process, whichever store has the outbox", arguments: [["A", "B"], ["B", "A"]],
      [StoreType.sqlite, .inMemory])
    func order(_ names: [String], _ authors: StoreType) async throws {
      try await withFolder { folder in
        let connect = try await connect(folder, names, books: "A", authors: authors)
        try connect.store((1...9).map { Book(id: $0, title: "") })
        try await connect.start()
        try await work(connect, 100, rounds: 200)
        #expect(try connect.stored(Book.self).prefix(9).map(\.title.count).reduce(0, +) == 200)
        try await connect.stop()
      }
    }

    @Test("An observer that is called while an action is forwarded may stop the connect")
    func stoppingObserver() async throws {
      try await withFolder { folder in
        let connect = try await connect(folder, ["A", "B"], books: "A")
        try connect.store([Book(id: 1, title: "")])
        try await connect.start()
        let book = try #require(try connect.viewContext.find(Book.self, id: 1))
        let stopped = Locked<Bool?>(nil)
        let subscription = book.map(\.title).observe { title in
          if title == "a" { stopped.withLock { $0 = (try? connect.stop()) != nil } }
        }
        _ = try? await connect.forward(Raise(book: 1, note: "a"))
        #expect(try await eventually { stopped.withLock { $0 } == true })
        withExtendedLifetime(subscription) {}
      }
    }

    @Test("Where two have attached the files in different orders, so that each has an outbox of its own")
    func orders() async throws {
      try await withFolder { folder in
        let first = try await connect(folder, ["A", "B"], books: "A")
        try first.store((1...9).map { Book(id: $0, title: "") })
        let second = try await connect(folder, ["B", "A"], books: "A")
        for connect in [first, second] { try await connect.start() }
        async let one: Void = work(first, 100, rounds: 50)
        async let two: Void = work(second, 200, rounds: 50)
        _ = try await (one, two)
        #expect(
          try await eventually {
            try first.stored(Book.self).prefix(9).map(\.title.count).reduce(0, +) == 100
          })
        for connect in [first, second] { try await connect.stop() }
      }
    }
  }
#endif
