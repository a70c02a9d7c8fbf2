#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// A row that contains rows of its own type.
  private struct Remark: PersistentEntity, Aggregate {
    let id: Int
    var replies: [Remark]

    static let persistentProperties: [PersistentProperty<Remark>] = [.init("id", \.id), .init("replies", \.replies)]
    init(from row: inout RowReader) throws { (id, replies) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(replies)
    }

    static func row(_ id: Int, _ replies: some Sequence<Int>) -> StoredRow {
      let replies = StoredElements(replies.map { [.integer(Int64($0))] })
      return StoredRow(
        values: [.integer(Int64(id)), .integer(Int64(replies.count))], collections: [replies], stamp: 1)
    }
  }

  /// A line of a later model, without its book.
  private struct PlainLine: PersistentEntity {
    let id: String
    var text: String

    static let entityName = "Line"
    static let persistentProperties: [PersistentProperty<PlainLine>] = [.init("id", \.id), .init("text", \.text)]
    init(from row: inout RowReader) throws { (id, text) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(text)
    }
  }

  /// A cart of a later model.
  private struct PlainCart: PersistentEntity, Aggregate {
    let id: Int
    var lines: [PlainLine]

    static let entityName = "Cart"
    static let persistentProperties: [PersistentProperty<PlainCart>] = [.init("id", \.id), .init("lines", \.lines)]
    init(from row: inout RowReader) throws { (id, lines) = (try row.read(), try row.read()) }
    func write(to row: inout RowWriter) throws {
      try row.write(id)
      try row.write(lines)
    }
  }

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

    @Test(
      "What an app's own row contains whose save is not written yet stays when an action ends",
      arguments: [Ending.givingUp, .clearing, .undoing])
    func unwritten(_ ending: Ending) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A"))])) }
        let (isHeld, attempts, model) = (Kept(false), Kept(0), try shopModel())
        let own = EntityKey(try model.entity(Cart.self), .integer(9))
        let device = try await world.device("a", model: model) { connect in
          try connect.attach(at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite)) { rows in
            let store = NotingStore(rows)
            store.gate.withLock { gate in
              gate = { session in
                let writing = CountingRows(session)
                writing.willInsert = { key in
                  guard key == own, isHeld.withLock({ $0 }) else { return }
                  attempts.withLock { $0 += 1 }
                  throw StoreError.locked(store: "device")
                }
                return writing
              }
            }
            return store
          }
        }
        let (connect, outbox) = (device.connect, device.connect.outbox)
        let carts = device.sync.subscribe("carts")
        try await carts.ready()
        #expect(try await eventually { outbox.isSender })
        device.network.set { _ in .lost }
        connect.suspended = true
        try await connect.forward(Put(cart: 1, number: 1), as: "Put")
        try await carts.cancel()
        // Its save waits.
        isHeld.withLock { $0 = true }
        let line = try #require(try device.stored(Line.self).first)
        connect.viewContext.insert(Cart(id: 9, owner: 1, lines: [line]))
        try connect.viewContext.save()
        #expect(try await eventually { attempts.withLock { $0 } > 0 })
        switch ending {
        case .clearing: try await outbox.clear()
        case .undoing: try await outbox.undoManager.undo()
        default:
          outbox.policy.maximumAttempts = 1
          connect.suspended = false
          #expect(try await eventually { outbox.deadLetters.count == 1 })
        }
        #expect(try device.stored(Cart.self).isEmpty)
        isHeld.withLock { $0 = false }
        try await connect.flush()
        #expect(try device.stored(Cart.self).map(\.lines) == [[line]])
        #expect(try connect.viewContext.find(Cart.self, id: 9)?.value.lines == [line])
        try await device.stop()
      }
    }

    @Test("What only a column contained that a later model has no longer leaves with the first page of that model")
    func forgottenColumn() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", text: "t", book: Book(id: 1, title: "A"))]))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Book.self).map(\.id) == [1])
        try await device.stop()
        let later = try Model("Shop", entities: [Book.self, PlainLine.self, PlainCart.self, Label.self])
        let next = try await world.device("a", model: later)
        try await next.sync.checkpoint()
        #expect(try next.stored(PlainCart.self).map { $0.lines.map(\.text) } == [["t"]])
        #expect(try next.stored(Book.self).isEmpty)
        try await next.stop()
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

    @Test(
      "Rows that contain each other in a chain, and leave or stay together, are looked at once",
      arguments: [RowKeepers.Keeper.nothing, .action, .subscription])
    func chain(_ keeper: RowKeepers.Keeper) throws {
      let model = try Model("Remarks", entities: [Remark.self])
      let remark = try model.entity(Remark.self)
      let store = MemoryStore(name: "device")
      let keys = (0..<200).map { EntityKey(remark, .integer(Int64($0))) }
      try store.write(origin: nil) { session in
        let writing = CountingRows(session)
        for (id, key) in keys.enumerated() {
          _ = try writing.insert(Remark.row(id, id + 1 < keys.count ? [id + 1] : []), for: key)
          if id > 0 || keeper != .subscription { try writing.setNote("", for: SyncNotes.row(key)) }
        }
        var removal = try RowsLeaving(model: model, writing: writing, held: keeper == .action ? [keys[0]] : [])
        // The innermost one is looked at first.
        removal.candidates = keys
        let removed = try removal.run()
        #expect(removed == (keeper == .nothing ? Set(keys) : []))
        #expect(writing.referrers <= keys.count, "\(writing.referrers)")
      }
    }

    @Test("Of rows that contain each other in any way those leave, each looked at once, that nothing keeps")
    func graphs() throws {
      let model = try Model("Remarks", entities: [Remark.self])
      let remark = try model.entity(Remark.self)
      for seed in TestOptions.seeds(TestOptions.isLong ? 20_000 : 1000, from: .random(in: 1...1_000_000)) {
        var numbers = SplitMix(seed)
        let keys = (0..<Int.random(in: 1...9, using: &numbers)).map { EntityKey(remark, .integer(Int64($0))) }
        func random(_ share: Int) -> Set<EntityKey> {
          Set(keys.filter { _ in Int.random(in: 0..<share, using: &numbers) == 0 })
        }
        let (roots, own, held, candidates) = (random(9), random(12), random(6), random(2).shuffled(using: &numbers))
        let contents = Dictionary(uniqueKeysWithValues: keys.map { ($0, random(5)) })
        // What leads from a row to those that contain it.
        func containers(_ key: EntityKey) -> Set<EntityKey> {
          var found: Set<EntityKey> = [key]
          while let next = keys.first(where: { !found.contains($0) && !(contents[$0] ?? []).isDisjoint(with: found) }) {
            found.insert(next)
          }
          return found
        }
        var (leaving, lingering, open) = (Set<EntityKey>(), Set<EntityKey>(), Set(candidates))
        while let key = open.popFirst() {
          let around = containers(key)
          if !around.isDisjoint(with: roots.union(own)) { continue }
          if !around.isDisjoint(with: held) {
            lingering.insert(key)
          } else {
            leaving.insert(key)
            open.formUnion((contents[key] ?? []).subtracting(leaving))
          }
        }
        let store = MemoryStore(name: "device")
        try store.write(origin: nil) { session in
          let writing = CountingRows(session)
          try writing.setNote("known", for: SyncNotes.subscription("s"))
          for (id, key) in keys.enumerated() {
            let replies = (contents[key] ?? []).compactMap { keys.firstIndex(of: $0) }
            _ = try writing.insert(Remark.row(id, replies.sorted()), for: key)
            try writing.setNote(own.contains(key) ? SyncNotes.ownValue : "", for: SyncNotes.row(key))
            if roots.contains(key) { try writing.setNote("", for: NoteName(SyncNotes.roots(of: "s"), key.noteName)) }
          }
          var removal = try RowsLeaving(model: model, writing: writing, held: held)
          removal.candidates = candidates
          let removed = try removal.run()
          var stayed: Set<EntityKey> = []
          try writing.notes(in: SyncNotes.lingering, after: nil) { name, _ in
            if let key = EntityKey(noteName: name, in: model) { stayed.insert(key) }
            return true
          }
          try #require(removed == leaving && stayed == lingering, "seed \(seed)")
          try #require(writing.referrers <= keys.count, "seed \(seed)")
        }
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
