#if Server
  import Concord
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  @Suite(.timeLimit(.minutes(TestOptions.isLong ? 15 : 5)))
  struct LawTests {
    @Test("The checker of the law finds each planted violation")
    func planted() async throws {
      let history = History()
      try await withWorld(history: history) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 1, title: "A"))]))
          context.insert(Cart(id: 2, owner: 2, lines: [Line(id: "l2")]))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let earlier = try #require(try device.moment(user: 1))
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await device.sync.checkpoint()
        let moment = try #require(try device.moment(user: 1))
        let law = Law(history: history, model: device.connect.model, seal: try world.service.prepare().seal)
        #expect(law.violations(of: earlier).isEmpty && law.violations(of: moment).isEmpty)
        let position = try #require(moment.position.flatMap(law.seal.opened)?.position.rawValue)
        let state = try #require(history.state(at: position))
        let model = device.connect.model
        func key(_ name: String, _ id: StoredValue) throws -> EntityKey {
          EntityKey(try #require(model.entity(named: name)), id)
        }
        func isFound(_ change: (inout Moment) throws -> Void) throws -> Bool {
          var changed = moment
          try change(&changed)
          return !law.violations(of: changed).isEmpty
        }
        // A row, and one inside, is missing; another user's is there; a page is torn; an old value; a commit that never was.
        #expect(try isFound { $0.rows[try key("Cart", .integer(1))] = nil })
        #expect(try isFound { $0.rows[try key("Book", .integer(1))] = nil })
        #expect(try isFound { $0.rows[try key("Line", .text("l2"))] = state.rows[try key("Line", .text("l2"))] })
        #expect(try isFound { $0.position = earlier.position })
        #expect(try isFound { $0.rows = earlier.rows })
        #expect(try isFound { $0.position = "1.1" } && isFound { $0.position = position })
        // What a predicate over other rows has is missing, or is there although it has not; nothing is subscribed to. The other user's line has
        // no book, as if the stock were 0.
        func byStock(_ rest: Int64) -> SubscriptionID {
          SubscriptionID(name: "by-stock", parameters: ["rest": .integer(rest)])
        }
        #expect(try isFound { $0.subscriptions.append(byStock(0)) } && isFound { $0.subscriptions = [byStock(1)] })
        #expect(try !isFound { $0.subscriptions.append(byStock(1)) })
        #expect(try isFound { $0.subscriptions = [] })
        // Another user's rows that stay, though no action that waits names them.
        let theirs = try key("Cart", .integer(2))
        func stay(_ moment: inout Moment) throws {
          for key in [theirs, try key("Line", .text("l2"))] { moment.rows[key] = state.rows[key] }
        }
        #expect(try isFound { try stay(&$0) })
        // One does, and they are as they were, or not.
        func stays(_ change: (inout Moment) throws -> Void) throws -> Bool {
          var (before, changed, last) = (KeptRows<Moment>(), moment, moment)
          try stay(&last)
          try stay(&changed)
          changed.named = [theirs]
          try change(&changed)
          _ = law.violations(of: last, after: &before)
          return law.violations(of: changed, after: &before).isEmpty
        }
        #expect(try stays { _ in } && !stays { $0.named = [] })
        #expect(try !stays { $0.rows[theirs]?.values[2] = .text("another") })
        #expect(try !stays { $0.rows[try key("Line", .text("l2"))]?.values[1] = .text("another") })
        #expect(
          try isFound { moment in
            try stay(&moment)
            moment.named = [theirs]
          })
        // Nothing is there before the first page.
        #expect(try isFound { $0.position = nil })
        #expect(
          try isFound { ($0.position, $0.rows, $0.sent, $0.subscriptions) = (nil, [:], [], [byStock(0)]) }
            && !isFound { ($0.position, $0.rows, $0.sent, $0.subscriptions) = (nil, [:], [], []) })
        // A layer above its effect, and one that went too early.
        let sent = try #require(moment.sent.first)
        #expect(try isFound { $0.pending = [sent] })
        #expect(try isFound { $0.sent.insert("another") })
        try await device.stop()
      }
    }

    @Test("The checker finds what was given up without a decision, or for no reason of its own")
    func plantedLetters() {
      let letters = [
        FaultLetter(key: "a", action: FaultAction(name: Append.name, effect: "<1.1>"), reason: "it is not allowed"),
        FaultLetter(key: "b", action: FaultAction(name: AddLine.name, effect: "n1.2.1"), reason: "out of stock"),
      ]
      let decisions = ["a": "refused 1 it is not allowed", "b": "refused 2 out of stock", "c": "accepted"]
      #expect(DecisionChecker(decisions: decisions, letters: letters).unfound.isEmpty)
    }

    @Test(
      "The law holds at each notice while devices, the server and the network do anything", arguments: Kind.allCases)
    func random(_ kind: Kind) async throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 40 : 4, from: .random(in: 1...1_000_000)) {
        try await RandomRun(seed: seed, kind: kind, steps: 120).run()
      }
    }
  }

  /// Devices of two users and a server's own code that do random things.
  struct RandomRun: Sendable {
    let seed: UInt64
    let kind: Kind
    let steps: Int

    private final class Slot: Sendable {
      let user: Int
      let name: String
      let network: Network
      let device = Kept<Device?>(nil)
      /// What the file had before.
      let before = Kept(KeptRows<Moment>())
      let last = Kept<ShownChanges?>(nil)

      init(user: Int, name: String, network: Network) { (self.user, self.name, self.network) = (user, name, network) }
    }

    func run() async throws {
      let history = History()
      let (seed, steps) = (seed, steps)
      // Every other server soon forgets the rows as they were, and a device that was away gets keys then.
      var limits = SyncLimits()
      let isForgetful = seed % 2 == 0
      if isForgetful { limits.feed = FeedLimits(changes: 5, rows: 1000) }
      // Most often devices get positions that tell nothing, as those of users do.
      limits.hidesPositions = seed / 2 % 4 != 3
      try await withWorld(kind, limits: limits, history: history) { world in
        var numbers = SplitMix(seed)
        let seal = try world.service.prepare().seal
        let law = Law(history: history, model: world.container.model, seal: seal, rules: [0, 1, 2])
        let violations = Kept<[String]>([])
        let isCalm = Kept(false)
        try world.serve { context in
          for id in 1...6 {
            context.insert(
              Cart(
                id: id, owner: id % 2 + 1, weight: Double(id % 3),
                lines: [Line(id: "l\(id)", book: Book(id: id % 3, title: "b"))]))
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
            case 3: return .answer(502)
            case 4: return .answer(503)
            default: return .pass
            }
          }
          return Slot(user: number % 2 + 1, name: "d\(number)", network: network)
        }
        func begin(_ slot: Slot) async throws {
          let device = try await world.device(slot.name, user: slot.user, network: slot.network) { moment in
            let found =
              slot.before.withLock { law.violations(of: moment, after: &$0) }
              + (moment.user == slot.user ? [] : ["rows of \(moment.user)"])
            // The position never steps back.
            let steps = slot.last.withLock { last -> [String] in
              guard let position = moment.position.flatMap(seal.opened)?.position,
                let changes = ShownChanges(position)
              else { return [] }
              if let last, !changes.isSuperset(of: last) {
                return ["\(slot.name) stepped back from \(last) to \(changes)"]
              }
              last = changes
              return []
            }
            if !found.isEmpty || !steps.isEmpty { violations.withLock { $0 += found + steps } }
          }
          device.sync.subscribe("carts")
          slot.device.withLock { $0 = device }
        }
        func end(_ slot: Slot) async throws {
          let device = slot.device.withLock { $0 }
          slot.device.withLock { $0 = nil }
          try await device?.stop()
        }
        for slot in slots { try await begin(slot) }
        var texts: [(slot: Int, cart: Int, text: String)] = []
        for step in 0..<steps {
          let place = Int.random(in: 0..<4, using: &numbers)
          let slot = slots[place]
          let cart = Int.random(in: 1...7, using: &numbers)
          let device = slot.device.withLock { $0 }
          if isForgetful { try world.trimFeed() }
          switch Int.random(in: 0..<28, using: &numbers) {
          case 0..<8:
            let text = "<\(place).\(step)>"
            if (try? await device?.connect.forward(Append(cart: cart, text: text))) != nil {
              texts.append((place, cart, text))
            }
          case 8..<11:
            _ = try? await device?.connect.forward(
              AddLine(cart: cart, book: Int.random(in: 0...2, using: &numbers), line: "n\(step)"))
          case 11: _ = try? await device?.connect.forward(RemoveLine(cart: cart, line: "l\(cart)"))
          case 12: _ = try? await device?.connect.forward(Give(cart: cart, owner: 3 - slot.user))
          case 13: _ = try? await device?.connect.forward(Rename(book: cart % 3, title: "t\(step)"))
          case 14: try? world.serve { try $0.update(Cart.self, id: cart) { $0.owner = 3 - $0.owner } }
          case 15:
            try? world.serve { context in
              try context.update(Book.self, id: cart % 3) { $0.stock += 1 }
              try context.update(Cart.self, id: cart) { $0.weight = Double(step % 4) }
            }
          case 16: try? world.serve { _ = try $0.delete(Line.self, id: "n\(step - 9)") }
          case 17:
            try? world.serve { context in
              if try context.find(Cart.self, id: 7) == nil {
                context.insert(Cart(id: 7, owner: slot.user))
              } else {
                _ = try context.delete(Cart.self, id: 7)
              }
            }
          case 18:
            try await end(slot)
            try await begin(slot)
          case 19: device?.sync.subscribe("heavy", ["least": .integer(Int64.random(in: 0...2, using: &numbers))])
          case 20:
            let others = try await device?.sync.subscriptions().filter { $0.name != "carts" } ?? []
            try await others.randomElement(using: &numbers)?.cancel()
          // The server's predicates change: with its version, or with what its users may see.
          case 21: world.rules.withLock { $0 = Int.random(in: 0...2, using: &numbers) }
          case 22, 23:
            device?.sync.subscribe("by-stock", ["rest": .integer(Int64.random(in: 0...1, using: &numbers))])
          default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &numbers)))
          }
        }
        isCalm.withLock { $0 = true }
        world.rules.withLock { $0 = 0 }
        for slot in slots { try await slot.device.withLock { $0 }?.sync.checkpoint() }
        for slot in slots { try await slot.device.withLock { $0 }?.sync.checkpoint() }
        // All is decided, once, in order; what was refused has no effect.
        let carts = Dictionary(uniqueKeysWithValues: try world.served(Cart.self).map { ($0.id, $0.note) })
        var refused: Set<String> = []
        let store = try #require(world.container.persistentStoreCoordinator.persistentStores.first?.rows)
        var decisions = try (1...2).map { try DecisionChecker(of: $0, in: store) }
        for slot in slots {
          guard let device = slot.device.withLock({ $0 }) else { continue }
          #expect(device.connect.outbox.pending.isEmpty, "seed \(seed)")
          for letter in device.connect.outbox.deadLetters {
            if let action = letter.action as? Append { refused.insert(action.text) }
            decisions[slot.user - 1].letters.append(FaultLetter(letter))
          }
          let moment = try #require(try device.moment(user: slot.user))
          let law = Law(history: history, model: world.container.model, seal: seal)
          #expect(law.violations(of: moment).isEmpty, "seed \(seed)")
          let rests = try await device.sync.subscriptions().compactMap { $0.parameters["rest"]?.integer }
          let wanted = try world.served(Cart.self).filter { cart in
            let stocks = cart.lines.map { Int64($0.book?.stock ?? 0) }
            return cart.owner == slot.user || stocks.contains { rests.contains($0 % 2) }
          }
          #expect(try device.stored(Cart.self) == wanted, "seed \(seed), \(slot.name)")
        }
        // A server has refused each, for a reason of its own.
        let undecided = decisions.flatMap(\.violations)
        #expect(undecided.isEmpty, "seed \(seed): \(undecided.prefix(3).joined(separator: "; "))")
        for (_, cart, text) in texts {
          guard let note = carts[cart] else { continue }
          let count = note.components(separatedBy: text).count - 1
          // A cart that was deleted and inserted again has lost its note.
          if cart != 7 { #expect(count == (refused.contains(text) ? 0 : 1), "seed \(seed): \(text) of \(cart)") }
        }
        for place in 0..<4 {
          for cart in 1...6 {
            let mine = texts.filter { $0.slot == place && $0.cart == cart && !refused.contains($0.text) }.map(\.text)
            let note = carts[cart] ?? ""
            let found = mine.compactMap { note.range(of: $0)?.lowerBound }
            #expect(found == found.sorted(), "seed \(seed): the order in cart \(cart)")
          }
        }
        let broken = violations.withLock { $0 }
        #expect(broken.isEmpty, "seed \(seed): \(broken.prefix(3).joined(separator: "; "))")
        for slot in slots { try await end(slot) }
      }
    }
  }
#endif
