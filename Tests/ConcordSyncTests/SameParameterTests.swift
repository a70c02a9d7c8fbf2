#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordConnect
  @testable import ConcordPersistence
  @testable import ConcordSync

  extension SyncParameter {
    fileprivate var isNoDate: Bool { date?.timeIntervalSinceReferenceDate.isNaN == true }
  }

  /// Parameters that are the same value in another form.
  @Suite(.timeLimit(.minutes(2)))
  struct SameParameterTests {
    private static let pairs: [(SyncParameter, SyncParameter)] = [
      (.number(0.0), .number(-0.0)), (.number(.nan), .number(-.nan)), (.number(.nan), .number(.signalingNaN)),
      (.date(Date(timeIntervalSinceReferenceDate: 0)), .date(Date(timeIntervalSinceReferenceDate: -0.0))),
      (.date(Date(timeIntervalSinceReferenceDate: .nan)), .date(Date(timeIntervalSinceReferenceDate: .nan))),
      (.text("caf\u{e9}"), .text("cafe\u{301}")),
    ]

    @Test("Values of parameters are equal if they ask for the same")
    func values() throws {
      for (a, b) in Self.pairs {
        // Foundation cannot describe a date that is no number.
        let text = "\(a.wire.json) \(b.wire.json)"
        let (isSame, count) = (a == b, Set([a, b]).count)
        #expect(isSame && count == 1, "\(text)")
        let (first, second) = (try SyncParameter(a.wire), try SyncParameter(b.wire))
        let areRead = first == a && second == b
        #expect(areRead && first.wire == second.wire, "\(text)")
      }
      let others: [SyncParameter] = [
        .number(0), .integer(0), .date(Date(timeIntervalSinceReferenceDate: 0)), .bool(false), .text("0"), .text(""),
        .number(.infinity), .number(-.infinity), .number(.nan),
      ]
      #expect(Set(others).count == others.count)
    }

    @Test("Subscriptions whose names and parameters are equal are one")
    func one() async throws {
      try await withWorld { world in
        world.service.publish("caf\u{e9}", of: Cart.self) { user, _ in
          let id = user.id
          return #Predicate<Cart> { $0.owner == id }
        }
        try world.serve { $0.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", text: "caf\u{e9}")])) }
        let device = try await world.device("a")
        func ask(_ a: (String, SyncParameters), _ b: (String, SyncParameters)) async throws {
          let text = "\(a.0) \(a.1.mapValues(\.wire.json)) \(b.1.mapValues(\.wire.json))"
          try await device.sync.subscribe(a.0, a.1).ready()
          let second = device.sync.subscribe(b.0, b.1)
          try await second.ready()
          #expect(try await device.sync.subscriptions().count == 1, "\(text)")
          #expect(try device.stored(Cart.self).count == 1, "\(text)")
          try await second.cancel()
          #expect(try await device.sync.subscriptions().isEmpty, "\(text)")
          #expect(try device.stored(Cart.self).isEmpty, "\(text)")
          for left in try await device.sync.subscriptions() { try await left.cancel() }
        }
        let (refused, served) = (Self.pairs.filter { $0.0.isNoDate }, Self.pairs.filter { !$0.0.isNoDate })
        for (a, b) in served { try await ask(("carts", ["t": a]), ("carts", ["t": b])) }
        // One that is refused is one, too.
        for (a, b) in refused {
          let (first, second) = (device.sync.subscribe("carts", ["t": a]), device.sync.subscribe("carts", ["t": b]))
          for subscription in [first, second] {
            await #expect(throws: (any Error).self) { try await subscription.ready() }
          }
          #expect(try await device.sync.subscriptions().count == 1)
          try await second.cancel()
        }
        try await ask(("carts", ["caf\u{e9}": 1]), ("carts", ["cafe\u{301}": 1]))
        try await ask(("caf\u{e9}", [:]), ("cafe\u{301}", [:]))
        try await ask(("with-book", ["title": "cafe\u{301}"]), ("with-book", ["title": "caf\u{e9}"]))
        try await device.stop()
      }
    }

    @Test(
      "What an earlier release has noted as another subscription goes on as the same one", arguments: [false, true])
    func earlierNotes(_ hasBoth: Bool) async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...3 { context.insert(Cart(id: id, owner: 1, weight: 1)) } }
        let zero = SubscriptionID(name: "heavy", parameters: ["least": .number(0)]).text
        let other = zero.replacing("0.0", with: "-0.0")
        #expect(zero != other)
        let first = try await world.device("a")
        try await first.sync.subscribe("heavy", ["least": .number(0)]).ready()
        let file = try #require(first.connect.persistentStoreCoordinator.persistentStores.first?.url)
        try await first.stop()
        // Notes under the text of the other form, with those of the same one or in their place.
        for (column, space, old, new) in [
          ("name", "sync.subscriptions", zero, other), ("space", "sync.roots \(zero)", "", "sync.roots \(other)"),
        ] {
          let condition = column == "name" ? "space = '\(space)' AND name = '\(old)'" : "space = '\(space)'"
          if hasBoth {
            let columns = column == "name" ? "space, '\(new)', value" : "'\(new)', name, value"
            try execute(
              "INSERT INTO concord_notes (space, name, value) SELECT \(columns) FROM concord_notes WHERE \(condition)",
              in: file)
          } else {
            try execute("UPDATE concord_notes SET \(column) = '\(new)' WHERE \(condition)", in: file)
          }
        }
        try world.serve { context in
          try context.delete(Cart.self, id: 1)
          try context.update(Cart.self, id: 2) { $0.note = "new" }
        }
        let second = try await world.device("a")
        try await second.sync.checkpoint()
        #expect(try second.stored(Cart.self) == world.served(Cart.self))
        let subscriptions = try await second.sync.subscriptions()
        #expect(subscriptions.count == 1)
        try await second.sync.subscribe("heavy", ["least": .number(-0.0)]).cancel()
        #expect(try await second.sync.subscriptions().isEmpty && second.stored(Cart.self).isEmpty)
        let left = try await second.connect.outbox.writeNotes { transaction in
          var left: [String] = []
          for text in [zero, other] {
            try transaction.rows.notes(in: SyncNotes.roots(of: text), after: nil) { name, _ in
              left.append(name)
              return true
            }
          }
          return left
        }
        #expect(left.isEmpty)
        try await second.stop()
      }
    }
  }
#endif
