#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordConnect
  @testable import ConcordPersistence

  /// Stores that are detached from a running device, and attached again.
  @Suite(.timeLimit(.minutes(TestOptions.isLong ? 15 : 2)))
  struct DetachedStoreTests: DevicesWithTwoStores {
    /// What removes a book while the store of the carts is detached.
    enum Removal: String, CaseIterable { case cancelling, page }

    @Test(
      "What has left while the store was detached of what contains it comes again when that is attached",
      arguments: Removal.allCases)
    func detachedContainer(_ removal: Removal) async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Book(id: 2, title: "B"))
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 1, title: "A"))]))
        }
        let device = try await device(world, isReversed: true)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        try detach("carts", from: device)
        switch removal {
        case .cancelling: try await device.sync.subscribe("books").cancel()
        case .page: try world.serve { try $0.update(Book.self, id: 1) { $0.stock = 0 } }
        }
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).map(\.id) == (removal == .page ? [2] : []))
        try attach("carts", to: device, world)
        try await device.sync.checkpoint()
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        try await device.stop()
      }
    }

    @Test(
      "A store that is attached again does not keep what has left while it was detached, and another one kept its types"
    )
    func detachedBooks() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...3 { context.insert(Book(id: id, title: "A")) } }
        let books = StoreConfiguration(fileName: "books", name: "books", options: [ConcordMoveEntitiesOption: true])
        func begin() async throws -> Device {
          try await world.device("a", network: Network { _ in .lost }, model: self.model()) { connect in
            // Keeps what has no store.
            try connect.attachPersistentStore(at: world.folder, for: StoreConfiguration(fileName: "a"))
            try connect.attachPersistentStore(at: world.folder, for: books)
          }
        }
        let device = try await begin()
        device.network.set { _ in .pass }
        try await device.sync.subscribe("books").ready()
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 2, 3])
        try detach("books", from: device)
        try world.serve { _ = try $0.delete(Book.self, id: 2) }
        try await device.sync.checkpoint()
        // All of them are in the other store.
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 3])
        device.network.set { _ in .lost }
        // They move, and are gone from there, which no page has told.
        try device.connect.attachPersistentStore(at: world.folder, for: books)
        try detach("books", from: device)
        #expect(try device.stored(Book.self).isEmpty)
        device.network.set { _ in .pass }
        try await device.sync.subscribe("books").ready()
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 3])
        try device.connect.attachPersistentStore(at: world.folder, for: books)
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 3])
        try world.serve { _ = try $0.delete(Book.self, id: 3) }
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).map(\.id) == [1])
        try await device.stop()
        let (count, next) = (Kept(0), try await begin())
        countRows(of: next, in: count)
        next.network.set { _ in .pass }
        try await next.sync.checkpoint()
        #expect(try next.stored(Book.self).map(\.id) == [1] && count.withLock { $0 } == 0)
        try await next.stop()
      }
    }

    @Test(
      "A store that is detached and attached again gets only what has changed, unless something of it may have left")
    func detachedForAMoment() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          for id in 1...9 { context.insert(Book(id: id, title: "A")) }
        }
        let device = try await device(world, isReversed: true)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        let count = Kept(0)
        countRows(of: device, in: count)
        try detach("carts", from: device)
        try await device.sync.checkpoint()
        try attach("carts", to: device, world)
        try world.serve { try $0.update(Cart.self, id: 1) { $0.note = "x" } }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.note) == ["x"] && count.withLock { $0 } == 1)
        try await device.stop()
      }
    }

    @Test("A row that stays for an action while its store is detached stops no page, and leaves when both are over")
    func detachedWithLingering() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 2, title: "B"))]))
          context.insert(Cart(id: 2, owner: 1))
          context.insert(Book(id: 1, title: "A"))
        }
        let device = try await device(world)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        device.network.set { $0.isForPages ? .pass : .lost }
        try await device.connect.forward(Rename(book: 1, title: "C"))
        /// Waits until a change of the other cart has come.
        func reach(_ note: String, _ change: (BackgroundContext) throws -> Void = { _ in }) async throws {
          try world.serve { context in
            try change(context)
            try context.update(Cart.self, id: 2) { $0.note = note }
          }
          let connect = device.connect
          #expect(
            try await eventually { try connect.viewContext.find(Cart.self, id: 2)?.value.note == note },
            "\(note): \(device.sync.status)")
        }
        try await reach("a") { _ = try $0.delete(Book.self, id: 1) }
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 2])
        try detach("books", from: device)
        try await reach("b")
        // What it contained is in the detached store, too.
        try await reach("c") { try $0.update(Cart.self, id: 1) { $0.lines = [] } }
        try attach("books", to: device, world)
        device.network.set { _ in .pass }
        #expect(try await eventually { device.connect.outbox.pending.isEmpty })
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self) == world.served(Book.self))
        try await device.stop()
      }
    }

    @Test("What a subscription had that was cancelled while the store was detached leaves when that is attached again")
    func cancelledWhileDetached() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          context.insert(Book(id: 1, title: "A"))
        }
        let device = try await device(world)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        try detach("books", from: device)
        try await device.sync.subscribe("books").cancel()
        try attach("books", to: device, world)
        try await device.sync.checkpoint()
        #expect(try await eventually { try device.stored(Book.self).isEmpty })
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        try await device.stop()
      }
    }

    @Test(
      "A row that stayed for an action that ended while its store was detached leaves when that is attached, without the network"
    )
    func endedWhileDetached() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          context.insert(Book(id: 1, title: "A"))
        }
        let device = try await device(world)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        device.network.set { $0.isForPages ? .pass : .lost }
        try await device.connect.forward(Rename(book: 1, title: "C"))
        try world.serve { context in
          try context.update(Book.self, id: 1) { $0.stock = 0 }
          try context.update(Cart.self, id: 1) { $0.note = "x" }
        }
        #expect(try await eventually { try device.stored(Cart.self).map(\.note) == ["x"] })
        #expect(try device.stored(Book.self).count == 1)
        try detach("books", from: device)
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.pending.isEmpty)
        device.network.set { _ in .lost }
        try attach("books", to: device, world)
        #expect(try await eventually { try device.stored(Book.self).isEmpty })
        try await device.stop()
      }
    }

    @Test("A page with a row whose store is detached waits, as the status says, until the store is attached again")
    func attachedAgain() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          context.insert(Book(id: 1, title: "A"))
        }
        let device = try await device(world)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        try detach("books", from: device)
        try world.serve { try $0.update(Cart.self, id: 1) { $0.note = "x" } }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        try attach("books", to: device, world)
        // Its rows come again at once: the request that waits would end after 20 seconds.
        let begin = ContinuousClock.now
        try await device.sync.subscribe("books").ready()
        #expect(ContinuousClock.now - begin < .seconds(10))
        try detach("books", from: device)
        try world.serve { context in
          try context.update(Book.self, id: 1) { $0.title = "B" }
          try context.update(Cart.self, id: 1) { $0.note = "y" }
        }
        let reason = SyncOfflineReason.storeFailed("no attached store keeps Book")
        #expect(try await eventually { device.sync.status == .offline(reason) })
        #expect(try device.stored(Cart.self).map(\.note) == ["x"])
        try attach("books", to: device, world)
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        #expect(try device.stored(Book.self) == world.served(Book.self))
        try await device.stop()
      }
    }

    @Test("The law holds at each commit while stores are detached and attached again")
    func random() async throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 40 : 4, from: .random(in: 1...1_000_000)) {
        try await DetachingRun(seed: seed, steps: 120).run()
      }
    }
  }
#endif
