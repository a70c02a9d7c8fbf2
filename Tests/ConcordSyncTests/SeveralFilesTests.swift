#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordConnect
  @testable import ConcordPersistence
  @testable import ConcordSync

  /// What is lost, put back or shared of a device's two files.
  @Suite(.timeLimit(.minutes(2)))
  struct SeveralFilesTests: DevicesWithTwoStores {
    /// What becomes of a store between two runs of the program.
    enum Loss: String, CaseIterable {
      /// That of the books is in memory.
      case memory
      /// The file of the books is deleted, or that of the carts, which has the position and the name of the device.
      case deletion, cartsDeletion
      /// A file is put back from a copy, as if the process had been killed before it was committed.
      case booksPutBack, cartsPutBack
    }

    @Test(
      "A device whose one file has what the other one has not gets its rows again, and those leave that have left meanwhile",
      arguments: Loss.allCases)
    func loss(_ loss: Loss) async throws {
      try await withWorld { world in
        func file(_ name: String) -> URL { world.folder.appending(path: name) }
        func copy(_ name: String, to other: String) throws {
          try? FileManager.default.removeItem(at: file(other))
          try FileManager.default.copyItem(at: file(name), to: file(other))
        }
        let books: StoreType = loss == .memory ? .inMemory : .sqlite
        try world.serve { context in
          context.insert(Book(id: 1, title: "A"))
          context.insert(
            Cart(
              id: 1, owner: 1,
              lines: [
                Line(id: "l1", book: Book(id: 1, title: "A")), Line(id: "l2", book: Book(id: 2, title: "B", stock: 0)),
              ]))
        }
        var device = try await device(world, books: books)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        try await device.stop()
        for name in ["carts", "books"] where loss != .memory { try copy(name, to: "\(name)-copy") }
        try world.serve { context in
          try context.update(Book.self, id: 1) { $0.title = "C" }
          try context.update(Cart.self, id: 1) { cart in
            cart.lines.removeLast()
            cart.lines.append(Line(id: "l3", book: Book(id: 3, title: "D", stock: 0)))
          }
        }
        device = try await self.device(world, books: books)
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 3])
        try await device.stop()
        switch loss {
        case .memory: break
        case .deletion: try FileManager.default.removeItem(at: file("books"))
        case .cartsDeletion: try FileManager.default.removeItem(at: file("carts"))
        case .booksPutBack: try copy("books-copy", to: "books")
        case .cartsPutBack: try copy("carts-copy", to: "carts")
        }
        // Nothing of what the file has lost, or all of it.
        try world.serve { context in
          context.insert(Book(id: 4, title: "E"))
          if loss == .cartsDeletion { _ = try context.delete(Book.self, id: 1) }
        }
        let kept = loss == .cartsDeletion ? [3, 4] : [1, 3, 4]
        device = try await self.device(world, books: books)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        #expect(try device.stored(Cart.self) == world.served(Cart.self))
        #expect(try device.stored(Book.self).map(\.id).sorted() == kept)
        #expect(try device.stored(Line.self).map(\.id).sorted() == ["l1", "l3"])
        // None has become the app's own.
        try world.serve { try $0.update(Cart.self, id: 1) { $0.lines = [] } }
        try await device.sync.checkpoint()
        #expect(
          try device.stored(Line.self).isEmpty && device.stored(Book.self).map(\.id).sorted() == kept.filter { $0 != 3 }
        )
        for subscription in try await device.sync.subscriptions() { try await subscription.cancel() }
        #expect(try device.stored(Cart.self).isEmpty && device.stored(Book.self).isEmpty)
        try await device.stop()
      }
    }

    @Test(
      "A device whose files are as they were gets only what has changed, whatever stores without rows of the server begin empty"
    )
    func unchanged() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          for id in 1...9 { context.insert(Book(id: id, title: "A")) }
        }
        for (books, name) in [(StoreType.sqlite, "books"), (.inMemory, "carts")] {
          var rows: [Int] = []
          for _ in 0..<2 {
            let count = Kept(0)
            let device = try await device(world, ("\(name)-carts", "\(name)-books"), books: books)
            countRows(of: device, in: count)
            try await device.sync.subscribe(name).ready()
            try await device.sync.checkpoint()
            rows.append(count.withLock { $0 })
            try await device.stop()
          }
          #expect(rows == [name == "books" ? 9 : 1, 0])
        }
      }
    }

    @Test("A file that was put back is not that of the position because a row has left it since")
    func leavingPutBack() async throws {
      try await withWorld { world in
        func file(_ name: String) -> URL { world.folder.appending(path: name) }
        try world.serve { context in
          context.insert(Book(id: 2, title: "B"))
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 1, title: "A"))]))
        }
        var device = try await device(world)
        for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
        try await device.stop()
        try FileManager.default.copyItem(at: file("books"), to: file("books-copy"))
        try world.serve { try $0.update(Book.self, id: 1) { $0.title = "C" } }
        device = try await self.device(world)
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).map(\.title).sorted() == ["B", "C"])
        try await device.stop()
        try FileManager.default.removeItem(at: file("books"))
        try FileManager.default.copyItem(at: file("books-copy"), to: file("books"))
        device = try await self.device(world, network: Network { _ in .lost })
        try await device.sync.subscribe("books").cancel()
        #expect(try device.stored(Book.self).map(\.title) == ["A"])
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).map(\.title) == ["C"])
        try await device.stop()
      }
    }

    @Test("A subscription that is in its file is ready without the network, whatever another store has lost")
    func readyWithoutNetwork() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Book(id: 1, title: "A"))
          context.insert(Label(id: 1, owner: 1, name: "x"))
        }
        world.service.publish("labels", of: Label.self) { _, _ in #Predicate<Label> { _ in true } }
        var device = try await device(world, books: .inMemory)
        for name in ["labels", "books"] { try await device.sync.subscribe(name).ready() }
        try await device.stop()
        device = try await self.device(world, books: .inMemory, network: Network { _ in .lost })
        try await device.sync.subscribe("labels").ready()
        #expect(try device.stored(Label.self).count == 1 && device.stored(Book.self).isEmpty)
        device.network.set { _ in .pass }
        try await device.sync.subscribe("books").ready()
        #expect(try device.stored(Book.self).count == 1)
        try await device.stop()
      }
    }

    @Test("A device of a release that has not marked its stores gets its rows once more", arguments: [true, false])
    func unmarked(_ isLost: Bool) async throws {
      try await upgraded(isLost: isLost) { rows, store, key in
        try rows.setNote(nil, for: SyncNotes.Head.marks.name)
        for entity in try self.model().entities { try rows.setNote(nil, for: SyncNotes.mark(entity)) }
        try store.clearNotes(in: SyncNotes.rows)
        try rows.setNote("", for: SyncNotes.row(key))
      }
    }

    @Test("A device of a release that has noted its name beside rows and marks gets its rows once more")
    func named() async throws {
      try await upgraded(isLost: false) { rows, store, key in
        let name = try #require(try rows.note(SyncNotes.Head.device.name))
        let mark = try #require(try rows.note(SyncNotes.mark(key.entity)))
        try store.setNote(mark, for: NoteName("\(SyncNotes.marks) \(name)", key.entity.name))
        try store.clearNotes(in: SyncNotes.rows)
        try store.setNote("", for: NoteName("\(SyncNotes.rows) \(name)", key.noteName))
      }
    }

    /// - Parameter change: a closure that receives the sessions of the two stores, and the key of the only row, and leaves the notes that the release has left.
    private func upgraded(
      isLost: Bool, _ change: @escaping @Sendable (any RowWriting, any RowWriting, EntityKey) throws -> Void
    ) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        var device = try await device(world)
        try await device.sync.subscribe("books").ready()
        try await device.connect.outbox.writeNotes { transaction in
          let (rows, book) = (transaction.rows, try self.model().entity(Book.self))
          let store = try #require((rows as? any OutboxesWriting)?.otherStore(of: book))
          try store.clearNotes(in: NoteName.rowsMarks)
          try change(rows, store, EntityKey(book, Book.storedKey(of: 1)))
        }
        try await device.stop()
        if isLost { try FileManager.default.removeItem(at: world.folder.appending(path: "books")) }
        var rows: [Int] = []
        for _ in 0..<2 {
          let count = Kept(0)
          device = try await self.device(world, network: Network { _ in .lost })
          countRows(of: device, in: count)
          device.network.set { _ in .pass }
          try await device.sync.checkpoint()
          #expect(try device.stored(Book.self).map(\.title) == ["A"])
          rows.append(count.withLock { $0 })
          try await device.stop()
        }
        #expect(rows == [1, 0])
        // The row is still the server's, also for a device that has another file with the position.
        if !isLost { try FileManager.default.removeItem(at: world.folder.appending(path: "carts")) }
        device = try await self.device(world)
        try await device.sync.subscribe("books").cancel()
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).isEmpty)
        try await device.stop()
      }
    }

    @Test(
      "Two devices that take turns with a file of rows have what the server has at the position of each, whatever the other one has removed or brought",
      arguments: [false, true])
    func shared(_ isReversed: Bool) async throws {
      try await withWorld { world in
        try world.serve { context in
          for id in 1...9 { context.insert(Book(id: id, title: "A")) }
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 10, title: "B", stock: 0))]))
        }
        // The second one has another file with the position, or it has the same ones, and attaches them in another order.
        func begin(_ isFirst: Bool) async throws -> Device {
          let network = Network { _ in .lost }
          if isReversed { return try await self.device(world, isReversed: !isFirst, network: network) }
          return try await self.device(world, (isFirst ? "a" : "b", "books"), network: network)
        }
        /// Looks at what a device has when it begins, and when it begins again without a change at the server.
        func check(_ isFirst: Bool, times: Int = 1) async throws {
          var counts: [Int] = []
          for _ in 0..<times {
            let count = Kept(0)
            let device = try await begin(isFirst)
            countRows(of: device, in: count)
            device.network.set { _ in .pass }
            for name in ["carts", "books"] { try await device.sync.subscribe(name).ready() }
            try await device.sync.checkpoint()
            let books = try world.served(Book.self).filter { $0.stock > 0 || $0.id == 10 }
            #expect(try device.stored(Book.self).sorted { $0.id < $1.id } == books.sorted { $0.id < $1.id })
            #expect(try device.stored(Cart.self) == world.served(Cart.self))
            counts.append(count.withLock { $0 })
            try await device.stop()
          }
          // All once, as the other one had the file.
          let all = try world.served(Book.self).count { $0.stock > 0 } + 3
          #expect(counts == Array([all, 0].prefix(times)))
        }
        for isFirst in [true, false, true, false] { try await check(isFirst, times: 2) }
        // The one that had it last cancels, or the other one does, with and without the network.
        for (isFirst, fate) in [(false, Network.Fate.pass), (true, .pass), (true, .lost)] {
          let device = try await begin(isFirst)
          device.network.set { _ in fate }
          for subscription in try await device.sync.subscriptions() { try await subscription.cancel() }
          #expect(try device.stored(Book.self).isEmpty)
          try await device.stop()
          try await check(!isFirst)
          try await check(isFirst)
        }
        // One row goes, and another one leaves.
        try world.serve { context in
          _ = try context.delete(Book.self, id: 1)
          try context.update(Book.self, id: 2) { $0.stock = 0 }
        }
        for isFirst in [false, true] { try await check(isFirst) }
      }
    }

    @Test("Two devices that run at once over a file of rows never show another state at the position that they claim")
    func sharedAtOnce() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...9 { context.insert(Book(id: id, title: "A")) } }
        let devices = [try await device(world, ("a", "books")), try await device(world, ("b", "books"))]
        for round in 1...6 {
          let (device, other) = (devices[round % 2], devices[1 - round % 2])
          other.network.set { _ in .lost }
          device.network.set { _ in .pass }
          try await device.sync.subscribe("books").ready()
          try world.serve { context in
            _ = try context.delete(Book.self, id: round)
            try context.update(Book.self, id: 9) { $0.title = "\(round)" }
          }
          try await device.sync.checkpoint()
          #expect(try device.stored(Book.self) == world.served(Book.self))
          if round > 4 {
            try await device.sync.subscribe("books").cancel()
            #expect(try device.stored(Book.self).isEmpty)
          }
        }
        for device in devices { try await device.stop() }
      }
    }

    /// Makes one of the stores keep no notes.
    private func withoutNotes(_ rows: any RowStore) -> any RowStore {
      let store = NotingStore(rows)
      guard rows.name == "books" else { return store }
      store.gate.withLock { gate in
        gate = { session in
          let rows = CountingRows(session)
          rows.keepsNotes = false
          return rows
        }
      }
      return store
    }

    @Test("Rows are also kept in a store that keeps no notes")
    func keptWithoutNotes() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let device = try await device(world, through: withoutNotes)
        let books = device.sync.subscribe("books")
        try await books.ready()
        try world.serve { $0.insert(Book(id: 2, title: "B")) }
        try await device.connect.forward(Rename(book: 1, title: "C"))
        try await device.sync.checkpoint()
        #expect(try device.stored(Book.self).map(\.id).sorted() == [1, 2])
        try await books.cancel()
        #expect(try device.stored(Book.self).isEmpty)
        try await device.stop()
      }
    }

    @Test("A type whose rows come into a store that keeps no notes is there after one page")
    func movedWithoutNotes() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...9 { context.insert(Book(id: id, title: "A")) } }
        var device = try await device(world, ("carts", "former"))
        try await device.sync.subscribe("books").ready()
        try await device.stop()
        var rows: [Int] = []
        for _ in 0..<2 {
          let count = Kept(0)
          device = try await self.device(world, network: Network { _ in .lost }, through: withoutNotes)
          countRows(of: device, in: count)
          device.network.set { _ in .pass }
          try await device.sync.checkpoint()
          let torn = try await device.connect.outbox.writeNotes { transaction in
            try RowNotes(transaction.rows, self.model()).torn()
          }
          #expect(torn.isEmpty)
          #expect(try device.stored(Book.self).count == 9)
          rows.append(count.withLock { $0 })
          try await device.stop()
        }
        #expect(rows == [9, 0])
      }
    }

    @Test("The file with the position commits last, whatever its name is", arguments: [["a", "b"], ["b", "a"]])
    func order(_ names: [String]) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        let (open, isOther) = (Kept<Set<String>>([]), Kept<[Bool]>([]))
        let device = try await device(world, (names[0], names[1])) { rows in
          let name = rows.name
          let store = NotingStore(rows) { _ in open.withLock { _ = $0.remove(name) } }
          store.gate.withLock { gate in
            gate = { session in
              let isWithin = open.withLock { open in
                open.insert(name)
                return open.count > 1
              }
              if name == names[1] { isOther.withLock { $0.append(isWithin) } }
              return session
            }
          }
          return store
        }
        try await device.sync.subscribe("books").ready()
        try await device.stop()
        let within = isOther.withLock { $0 }
        #expect(!within.isEmpty && within.allSatisfy { $0 }, "\(within)")
      }
    }

    /// Is sent by itself.
    private struct Ask: ForwardAction {
      var cart: Int
      static let name = "ask"
      var entity: AnyEntityReference { .init(Cart.self, id: cart) }
      func apply(to store: EntityStore) throws {}
      func send(with transport: any Transport, key: IdempotencyKey) async throws {
        _ = try await transport.send(TransportRequest("POST", "ask")).successful()
      }
    }

    @Test("An action is refused after one request, tried again and dropped, also while another store cannot be written")
    func failingStore() async throws {
      try await withWorld { world in
        let isFailing = Kept(false)
        let device = try await device(world, network: Network { _ in .lost }) { rows in
          let store = NotingStore(rows)
          guard rows.name == "books" else { return store }
          store.gate.withLock { gate in
            gate = { session in
              if isFailing.withLock({ $0 }) { throw StoreError.storeFailed(store: "books", reason: "a test") }
              return session
            }
          }
          return store
        }
        let (outbox, requests) = (device.connect.outbox, Kept(0))
        outbox.transport = PassingTransport { _ in
          requests.withLock { $0 += 1 }
          return TransportResponse(status: 422, body: Data())
        }
        isFailing.withLock { $0 = true }
        try await device.connect.forward(Ask(cart: 1))
        for count in 1...2 {
          #expect(try await eventually { outbox.deadLetters.count == 1 && outbox.pending.isEmpty })
          #expect(requests.withLock { $0 } == count)
          if count == 1 { #expect(outbox.retry(try #require(outbox.deadLetters.first))) }
        }
        #expect(outbox.drop(try #require(outbox.deadLetters.first)))
        #expect(outbox.deadLetters.isEmpty)
        isFailing.withLock { $0 = false }
        try await device.stop()
      }
    }
  }
#endif
