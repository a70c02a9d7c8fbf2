#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// Rows that leave a device's file together.
  @Suite(.timeLimit(.minutes(2)))
  struct LeavingTests {
    @Test(
      "A row that came into one of a subscription, and left it again between two pages, does not come",
      arguments: Kind.allCases)
    func cameAndLeft(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        device.network.set { _ in .lost }
        try world.serve { context in
          try context.update(Cart.self, id: 1) { $0.lines = [Line(id: "l", book: Book(id: 1, title: "A"))] }
        }
        try world.serve { try $0.update(Cart.self, id: 1) { $0.lines = [] } }
        #expect(try world.served(Line.self).count == 1)
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try device.stored(Line.self).isEmpty && device.stored(Book.self).isEmpty)
        try await device.stop()
      }
    }

    /// What ends an action.
    enum Ending: String, CaseIterable { case refusal, givingUp, clearing, undoing, acceptance }

    /// Names a cart, and needs no server.
    private struct Look: ForwardAction {
      var cart: Int
      static let name = "look"
      var entity: AnyEntityReference { .init(Cart.self, id: cart) }
      func apply(to store: EntityStore) throws {}
      func send(with transport: any Transport, key: IdempotencyKey) async throws {}
    }

    @Test("What stays for an action leaves when this ends, without a page", arguments: Ending.allCases)
    func ended(_ ending: Ending) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A"))])) }
        world.service.allow(Put.self) { _, _ in false }
        let device = try await world.device("a")
        let (connect, outbox) = (device.connect, device.connect.outbox)
        let carts = device.sync.subscribe("carts")
        try await carts.ready()
        #expect(try await eventually { outbox.isSender })
        device.network.set { $0.isForPages || ending != .refusal ? .lost : .pass }
        connect.suspended = true
        if ending == .acceptance {
          try await connect.forward(Look(cart: 1))
        } else {
          try await connect.forward(Put(cart: 1, number: 1), as: "Put")
        }
        try await carts.cancel()
        #expect(try device.stored(Cart.self).count == 1 && device.stored(Line.self).count == 1)
        #expect(try device.stored(Book.self).count == 1)
        switch ending {
        case .clearing: try await outbox.clear()
        case .undoing: try await outbox.undoManager.undo()
        case .refusal, .givingUp:
          outbox.policy.maximumAttempts = ending == .givingUp ? 1 : nil
          connect.suspended = false
          #expect(try await eventually { outbox.deadLetters.count == 1 })
        case .acceptance:
          connect.suspended = false
          // In a transaction of its own.
          #expect(try await eventually { try outbox.pending.isEmpty && device.stored(Cart.self).isEmpty })
        }
        #expect(try device.stored(Cart.self).isEmpty && device.stored(Line.self).isEmpty)
        #expect(try device.stored(Book.self).isEmpty && outbox.pending.isEmpty)
        #expect(try connect.viewContext.find(Cart.self, id: 1) == nil)
        try await device.stop()
      }
    }

    @Test("Rows that share one, and leave together, are looked at once", arguments: [true, false])
    func sharedRow(_ isLeaving: Bool) throws {
      let model = try shopModel()
      let store = MemoryStore(name: "device")
      let (line, book) = (try #require(model.entity(named: "Line")), try #require(model.entity(named: "Book")))
      let count = 200
      let shared = EntityKey(book, .integer(1))
      try store.write(origin: nil) { session in
        let writing = CountingRows(session)
        func insert(_ key: EntityKey, _ values: [StoredValue], _ collections: [StoredElements] = []) throws {
          _ = try writing.insert(StoredRow(values: values, collections: collections, stamp: 1), for: key)
          try writing.setNote("", for: SyncNotes.row(key))
        }
        try insert(shared, [.integer(1), .text("A"), .integer(1)])
        var removal = try RowsLeaving(model: model, writing: writing, held: [])
        for number in 1...count {
          let key = EntityKey(line, .text("l\(number)"))
          try insert(key, [.text("l\(number)"), .text(""), .integer(1)])
          removal.candidates.append(key)
        }
        // Something else keeps the book, or nothing does.
        let kept = EntityKey(line, .text("kept"))
        if !isLeaving {
          try insert(kept, [.text("kept"), .text(""), .integer(1)])
          try writing.setNote(nil, for: SyncNotes.row(kept))
        }
        let removed = try removal.run()
        #expect(removed.count == count + (isLeaving ? 1 : 0) && removed.contains(shared) == isLeaving)
        // For the containers of each line and of the book, and of the lines around the book.
        #expect(writing.referrers <= 4 * count)
      }
    }

    @Test("No row leaves where the subscriptions that may have it cannot be read")
    func unreadableSubscriptions() throws {
      let store = MemoryStore(name: "device")
      try store.write(origin: nil) { session in
        let writing = CountingRows(session)
        writing.unreadable = SyncNotes.subscriptions
        #expect(throws: StoreError.self) {
          try RowsLeaving(model: try shopModel(), writing: writing, held: [])
        }
      }
    }
  }
#endif
