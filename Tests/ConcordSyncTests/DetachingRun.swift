#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordPersistence
  @testable import ConcordServer
  @testable import ConcordSync

  /// Devices with two stores, one of which is detached and attached again at random, while they and a server's own code do random things.
  struct DetachingRun: DevicesWithTwoStores, Sendable {
    let seed: UInt64
    let steps: Int

    private final class Slot: Sendable {
      let number: Int
      let network: Network
      let device = Kept<Device?>(nil)
      let before = Kept(KeptRows<Moment>())
      /// The store that is detached at times, read through a connection of its own.
      let other = Kept<(any RowStore)?>(nil)
      /// Whether it is attached, also while it is being detached or attached.
      let isAttached = Kept(false)

      init(_ number: Int, _ network: Network) { (self.number, self.network) = (number, network) }

      var user: Int { number % 2 + 1 }
      /// Whether the store of the carts is detached at times, and that of the books has the position; otherwise it is the other way round.
      var isReversed: Bool { number < 2 }
      var otherName: String { isReversed ? "carts" : "books" }
      var files: (String, String) { ("carts-\(number)", "books-\(number)") }
      var otherFile: StoreConfiguration {
        StoreConfiguration(fileName: isReversed ? files.0 : files.1, name: otherName)
      }
    }

    /// Reads what the two stores have after a commit of the one with the position, which commits last.
    private func moment(_ rows: any RowStore, _ slot: Slot, _ model: Model) throws -> Moment {
      let others = slot.isReversed ? ["Line", "Cart", "Label"] : ["Book"]
      let isOther = { (entity: EntityDescription) in others.contains(entity.name) }
      func marks(_ reading: any RowReading, in space: String) throws -> [String: String] {
        var found: [String: String] = [:]
        try reading.notes(in: space, after: nil) { name, mark in
          found[name] = mark
          return true
        }
        return found
      }
      var (found, noted) = try rows.read { reading in
        let kept = model.entities.filter { !isOther($0) }
        return (
          try Moment(reading, model, user: slot.user, entities: kept), try marks(reading, in: SyncNotes.marks)
        )
      }
      try slot.other.withLock { $0 }?.read { reading in
        let entities = model.entities.filter(isOther)
        found.rows.merge(try ConcordSyncTests.rows(reading, of: entities)) { $1 }
        let held = try marks(reading, in: NoteName.rowsMarks)
        let isAttached = slot.isAttached.withLock { $0 }
        found.torn = Set(entities.filter { !isAttached || held[$0.name] != noted[$0.name] })
      }
      return found
    }

    func run() async throws {
      let history = History()
      var limits = SyncLimits()
      let isForgetful = seed % 2 == 0
      if isForgetful { limits.feed = FeedLimits(changes: 5, rows: 1000) }
      try await withWorld(limits: limits, history: history) { world in try await run(world, history, isForgetful) }
    }

    private func run(_ world: World, _ history: History, _ isForgetful: Bool) async throws {
      var numbers = SplitMix(seed)
      let model = try self.model()
      // The history has the entities of the server's model.
      let law = Law(history: history, model: world.container.model, seal: try world.service.prepare().seal)
      let violations = Kept<[String]>([])
      let isCalm = Kept(false)
      try world.serve { context in
        for id in 1...6 {
          context.insert(
            Cart(id: id, owner: id % 2 + 1, lines: [Line(id: "l\(id)", book: Book(id: id % 3, title: "b", stock: 2))]))
        }
      }
      let slots = (0..<4).map { number in
        let fates = Kept(SplitMix(seed &+ UInt64(number) &* 977))
        let network = Network { _ in
          if isCalm.withLock({ $0 }) { return .pass }
          switch fates.withLock({ $0.next() % 12 }) {
          case 0: return .lost
          case 1: return .answerLost
          case 2: return .doubled
          case 3: return .answer(503)
          default: return .pass
          }
        }
        return Slot(number, network)
      }
      func begin(_ slot: Slot) async throws {
        let device = try await self.device(
          world, slot.files, user: slot.user, isReversed: slot.isReversed, network: slot.network
        ) { rows in
          // What the other one has is read with each commit of this one.
          if rows.name != (slot.isReversed ? slot.files.1 : slot.files.0) { return rows }
          return NotingStore(rows) { rows in
            // One that is being closed has no further states.
            guard slot.other.withLock({ $0 }) != nil, var moment = try? self.moment(rows, slot, world.container.model)
            else { return }
            // Those whose store was detached leave only when it is attached again.
            moment.named.formUnion(moment.lingering)
            let found = slot.before.withLock { law.violations(of: moment, after: &$0) }
            if !found.isEmpty { violations.withLock { $0 += found.map { "\(slot.number): \($0)" } } }
          }
        }
        if slot.other.withLock({ $0 }) == nil {
          let reader = ServerContainer(name: "Reader", model: model)
          let store = try reader.attachPersistentStore(at: world.folder, for: slot.otherFile)
          slot.other.withLock { $0 = store.rows }
        }
        slot.device.withLock { $0 = device }
        slot.isAttached.withLock { $0 = true }
      }
      func otherStore(of device: Device, _ slot: Slot) -> PersistentStore? {
        device.connect.persistentStores.first { $0.configurationName == slot.otherName }
      }
      func attach(_ slot: Slot) throws {
        guard let device = slot.device.withLock({ $0 }), otherStore(of: device, slot) == nil else { return }
        try device.connect.attachPersistentStore(at: world.folder, for: slot.otherFile)
        slot.isAttached.withLock { $0 = true }
      }
      for slot in slots {
        try await begin(slot)
        slot.device.withLock { _ = $0?.sync.subscribe("carts") }
      }
      for step in 0..<steps {
        let slot = slots[Int.random(in: 0..<4, using: &numbers)]
        let cart = Int.random(in: 1...6, using: &numbers)
        guard let device = slot.device.withLock({ $0 }) else { continue }
        let (sync, connect) = (device.sync, device.connect)
        if isForgetful { try world.trimFeed() }
        switch Int.random(in: 0..<30, using: &numbers) {
        case 0..<4: _ = try? await connect.forward(Append(cart: cart, text: "<\(step)>"))
        case 4, 5:
          _ = try? await connect.forward(
            AddLine(cart: cart, book: Int.random(in: 0...2, using: &numbers), line: "n\(step)"))
        case 6: _ = try? await connect.forward(RemoveLine(cart: cart, line: "l\(cart)"))
        case 7: _ = try? await connect.forward(Give(cart: cart, owner: 3 - slot.user))
        case 8, 9: _ = try? await connect.forward(Rename(book: cart % 3, title: "t\(step)"))
        case 10: try? world.serve { try $0.update(Cart.self, id: cart) { $0.owner = 3 - $0.owner } }
        case 11, 12: try? world.serve { try $0.update(Book.self, id: cart % 3) { $0.stock = step % 3 } }
        case 13: try? world.serve { _ = try $0.delete(Book.self, id: cart % 3) }
        case 14: try? world.serve { $0.insert(Book(id: cart % 3, title: "n\(step)", stock: step % 2)) }
        case 15: try? world.serve { try $0.update(Cart.self, id: cart) { $0.lines = Array($0.lines.dropFirst()) } }
        // Unique names that go from one to another.
        case 16, 17:
          try? world.serve { context in
            _ = try context.delete(Label.self, id: cart)
            context.insert(Label(id: cart, owner: slot.user, name: "name \(step % 3)"))
          }
        case 18: sync.subscribe(["books", "labels", "carts"][step % 3])
        case 19: try await sync.subscriptions().randomElement(using: &numbers)?.cancel()
        case 20..<24:
          if let store = otherStore(of: device, slot) {
            slot.isAttached.withLock { $0 = false }
            try connect.detach(persistentStore: store)
          } else {
            try attach(slot)
          }
        case 24:
          slot.device.withLock { $0 = nil }
          slot.isAttached.withLock { $0 = false }
          try await device.stop()
          try await begin(slot)
        default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &numbers)))
        }
      }
      isCalm.withLock { $0 = true }
      for slot in slots {
        try attach(slot)
        slot.device.withLock { _ = $0?.sync.subscribe("carts") }
      }
      for _ in 0..<2 { for slot in slots { try await slot.device.withLock { $0 }?.sync.checkpoint() } }
      for slot in slots {
        guard let device = slot.device.withLock({ $0 }) else { continue }
        #expect(device.connect.outbox.pending.isEmpty, "seed \(seed)")
        let carts = try world.served(Cart.self).filter { $0.owner == slot.user }
        #expect(try device.stored(Cart.self) == carts, "seed \(seed), \(slot.number)")
        let rows = try #require(device.connect.persistentStores.first { $0.configurationName != slot.otherName })
        let moment = try self.moment(rows.rows, slot, world.container.model)
        let found = law.violations(of: moment)
        #expect(moment.torn.isEmpty && found.isEmpty, "seed \(seed), \(slot.number): \(found)")
      }
      let broken = violations.withLock { $0 }
      #expect(broken.isEmpty, "seed \(seed): \(broken.prefix(3).joined(separator: "; "))")
      for slot in slots {
        try await slot.device.withLock { $0 }?.stop()
        try slot.other.withLock { $0 }?.close()
      }
    }
  }
#endif
