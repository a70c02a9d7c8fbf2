#if Server
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Devices whose users change, within a run of the program or from one to the next, while actions of the earlier user wait, or are on their way.
  @Suite(.timeLimit(.minutes(5)))
  struct ChangingUserTests {
    @Test(
      "The law holds, and each effect comes once at most, while the users of devices change", arguments: Kind.allCases)
    func random(_ kind: Kind) async throws {
      for seed in TestOptions.seeds(TestOptions.isLong ? 40 : 4, from: .random(in: 1...1_000_000)) {
        try await ChangingUserRun(seed: seed, kind: kind).run()
      }
    }
  }

  private struct ChangingUserRun: Sendable {
    let seed: UInt64
    let kind: Kind

    /// A file, and the program that has it open.
    private struct Place {
      let name: String
      var user: Int
      let network: Network
      let token: Kept<String>
      let device: Device
      /// What the file had before.
      let before: Kept<KeptRows<Moment>>
    }

    func run() async throws {
      let history = History()
      try await withWorld(kind, history: history) { world in
        var numbers = SplitMix(seed)
        let law = Law(history: history, model: world.container.model, seal: try world.service.prepare().seal)
        let (violations, isCalm) = (Kept<[String]>([]), Kept(true))
        try world.serve { context in
          for id in 1...4 {
            context.insert(
              Cart(
                id: id, owner: id % 2 + 1,
                lines: [Line(id: "l\(id)", book: Book(id: id % 2, title: "b", stock: 10 + id % 2))]))
          }
        }
        @Sendable func begin(
          _ name: String, _ user: Int, _ network: Network, _ before: Kept<KeptRows<Moment>>
        ) async throws -> Place {
          let token = Kept("user-\(user)")
          let device = try await world.device(name, user: user, network: network, token: token) { moment in
            let found = before.withLock { law.violations(of: moment, after: &$0) }
            if !found.isEmpty { violations.withLock { $0 += found } }
          }
          return Place(name: name, user: user, network: network, token: token, device: device, before: before)
        }
        var places: [Place] = []
        for number in 0..<3 {
          let fates = Kept(SplitMix(seed &+ UInt64(number) &* 977))
          let network = Network { _ in
            if isCalm.withLock({ $0 }) { return .pass }
            switch fates.withLock({ $0.next() % 6 }) {
            case 0: return .lost
            case 1: return .answerLost
            case 2: return .doubled
            default: return .pass
            }
          }
          let place = try await begin("d\(number)", number % 2 + 1, network, Kept(KeptRows()))
          // Both users have all carts on the screen.
          for rest in 0...1 { place.device.sync.subscribe("by-stock", ["rest": .integer(Int64(rest))]) }
          // An action that is sent before the first page names no user.
          try await place.device.sync.subscribe("carts").ready()
          places.append(place)
        }
        isCalm.withLock { $0 = false }
        var texts: [String] = []
        for step in 0..<90 {
          let index = Int.random(in: 0..<3, using: &numbers)
          let place = places[index]
          switch Int.random(in: 0..<12, using: &numbers) {
          case 0..<7:
            let text = "<\(index).\(step)>"
            // Most often one of the user's.
            let cart = [3 - place.user, 5 - place.user, 3 - place.user, place.user].randomElement(using: &numbers) ?? 1
            if (try? await place.device.connect.forward(Append(cart: cart, text: text))) != nil { texts.append(text) }
          case 7:
            places[index].user = 3 - place.user
            place.token.withLock { $0 = "user-\(3 - place.user)" }
            if Bool.random(using: &numbers) { place.device.sync.poke() }
          case 8:
            try await place.device.stop()
            places[index] = try await begin(place.name, 3 - place.user, place.network, place.before)
          default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &numbers)))
          }
        }
        isCalm.withLock { $0 = true }
        for _ in 0..<2 { for place in places { try await place.device.sync.checkpoint() } }
        let notes = try world.served(Cart.self).map(\.note).joined()
        var (refused, unknown, accepted): (Set<String>, Set<String>, Set<String>) = ([], [], [])
        for place in places {
          #expect(place.device.connect.outbox.pending.isEmpty, "seed \(seed)")
          for letter in place.device.connect.outbox.deadLetters {
            guard let action = letter.action as? Append else { continue }
            if FaultLetter(letter).isAccepted {
              accepted.insert(action.text)
            } else if FaultLetter(letter).isUndecided {
              unknown.insert(action.text)
            } else {
              refused.insert(action.text)
            }
          }
          let moment = try #require(try place.device.moment(user: place.user))
          #expect(law.violations(of: moment).isEmpty && moment.user == place.user, "seed \(seed)")
          #expect(try place.device.stored(Cart.self) == world.served(Cart.self), "seed \(seed), \(place.name)")
        }
        for text in texts {
          let count = notes.components(separatedBy: text).count - 1
          let isOnce = refused.contains(text) ? count == 0 : unknown.contains(text) ? count <= 1 : count == 1
          #expect(isOnce, "seed \(seed): \(text) \(count) times")
        }
        let broken = violations.withLock { $0 }
        #expect(broken.isEmpty, "seed \(seed): \(broken.count), \(broken.prefix(3).joined(separator: "; "))")
        let counts = [refused, accepted, unknown].map(\.count)
        print("changing users: \(texts.count) texts, \(counts) refused, accepted for the earlier user, and unknown")
        for place in places { try await place.device.stop() }
      }
    }
  }
#endif
