#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  /// Two devices that forward, undo and redo at random, over a network that loses and doubles, and are restarted.
  ///
  /// `CONCORD_RANDOM_WORLDS` says how many worlds there are.
  @Suite("Random undo of synchronised actions", .timeLimit(.minutes(5)))
  struct UndoRandomTests {
    @Test(
      "Each number is put and taken back in turn, and counts as the device that put it has left it",
      arguments: Kind.allCases)
    func agrees(_ kind: Kind) async throws {
      let worlds = TestOptions.number("CONCORD_RANDOM_WORLDS") ?? 3
      for seed in TestOptions.seeds(worlds, from: .random(in: 0..<1_000_000)) { try await run(kind, seed) }
    }

    /// A device, and what it has done.
    private struct User {
      let name: String
      var device: Device
      var undo: [Int] = []
      var redo: [Int] = []
      var isOn: [Int: Bool] = [:]

      mutating func restart(_ world: World, _ network: Network) async throws {
        try await device.stop()
        device = try await world.device(name, network: network)
        (undo, redo) = ([], [])
      }
    }

    private func run(_ kind: Kind, _ seed: UInt64) async throws {
      let comment: Comment = "CONCORD_RANDOM_SEED=\(seed), \(kind)"
      try await withWorld(kind) { world in
        try world.serve { context in for cart in 1...2 { context.insert(Cart(id: cart, owner: 1)) } }
        let numbers = Kept(SplitMix(seed))
        let network = Network { _ in
          switch numbers.withLock({ $0.next() % 12 }) {
          case 0, 1: .lost
          case 2: .answerLost
          case 3: .doubled
          default: .pass
          }
        }
        var random = SplitMix(seed &* 31)
        var users: [User] = []
        for name in ["a", "b"] {
          users.append(User(name: name, device: try await world.device(name, network: network)))
        }
        for user in users { try await user.device.sync.subscribe("carts").ready() }
        var number = 0
        for _ in 0..<60 {
          let index = Int.random(in: 0..<2, using: &random)
          let connect = users[index].device.connect
          switch Int.random(in: 0..<20, using: &random) {
          case 0...6:
            number += 1
            try await connect.forward(Put(cart: Int.random(in: 1...2, using: &random), number: number), as: "Put")
            users[index].undo.append(number)
            users[index].redo = []
            users[index].isOn[number] = true
          case 7...11:
            guard let last = users[index].undo.popLast() else { break }
            let result = try await connect.outbox.undoManager.undo()
            #expect(result.conflicts.isEmpty, comment)
            users[index].redo.append(last)
            users[index].isOn[last] = false
          case 12...14:
            guard let last = users[index].redo.popLast() else { break }
            try await connect.outbox.undoManager.redo()
            users[index].undo.append(last)
            users[index].isOn[last] = true
          case 15, 16: connect.suspended.toggle()
          case 17: try await users[index].restart(world, network)
          default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &random)))
          }
        }
        network.set { _ in .pass }
        for user in users { user.device.connect.suspended = false }
        for user in users { try await user.device.sync.checkpoint() }
        for user in users { try await user.device.sync.checkpoint() }
        let carts = try world.served(Cart.self)
        var signs: [Int: [Int]] = [:]
        for note in carts.flatMap({ $0.note.split(separator: " ") }).compactMap({ Int($0) }) {
          signs[abs(note), default: []].append(note.signum())
        }
        for (number, signs) in signs {
          #expect(signs == signs.indices.map { $0.isMultiple(of: 2) ? 1 : -1 }, "\(comment): \(number), \(carts)")
        }
        for user in users {
          for (number, isOn) in user.isOn {
            #expect((signs[number] ?? []).count.isMultiple(of: 2) != isOn, "\(comment): \(number), \(carts)")
          }
          #expect(user.device.connect.outbox.deadLetters.isEmpty && user.device.connect.outbox.pending.isEmpty, comment)
          #expect(try user.device.stored(Cart.self) == carts, comment)
          for cart in carts {
            #expect(try user.device.connect.viewContext.find(Cart.self, id: cart.id)?.value == cart, comment)
          }
          try await user.device.stop()
        }
      }
    }
  }
#endif
