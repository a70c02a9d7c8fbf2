#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Logging
  import Testing

  @testable import ConcordSync

  /// What a server tells whoever operates it.
  @Suite(.timeLimit(.minutes(2)))
  struct ServerLogTests {
    @Test(
      "A failing store, a failing authentication and a publication that cannot be served are logged once, and nothing of users"
    )
    func failures() async throws {
      let lines = Kept<[[String: String]]>([])
      @Sendable func line(_ start: String) -> [[String: String]] {
        lines.withLock { $0.filter { $0["message"]?.hasPrefix(start) ?? false } }
      }
      try await withWorld(log: Logger(label: "shop") { _ in KeptLines(lines: lines) }) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        // Of a type that is not in the model.
        world.service.publish("foreign", of: Wish.self) { _, _ in #Predicate<Wish> { $0.isGranted } }
        let device = try await world.device("a", wait: .zero)
        try await device.sync.subscribe("carts").ready()
        #expect(line("synchronisation begins").count == 1 && line("the store").isEmpty)
        try world.write("ALTER TABLE Cart RENAME TO Elsewhere")
        try await device.connect.forward(Append(cart: 1, text: "words of the user"))
        device.sync.poke()
        #expect(try await eventually { if case .offline(.unreachable) = device.sync.status { true } else { false } })
        #expect(try await eventually { !line("the store").isEmpty })
        try await Task.sleep(for: .milliseconds(300))
        let store = line("the store")
        #expect(store.count == Set(store).count && store.allSatisfy { $0["level"] == "error" }, "\(store)")
        #expect(store.contains { $0["reason"] == "the store 'Shop.sqlite' was migrated to a newer model" }, "\(store)")
        try world.write("ALTER TABLE Elsewhere RENAME TO Cart")
        try await device.sync.checkpoint()

        let foreign = device.sync.subscribe("foreign", ["of": .text("a secret")])
        await #expect(throws: SyncError.refused(subscription: "foreign", reason: "it cannot be served")) {
          try await foreign.ready()
        }
        #expect(
          line("a publication") == [
            [
              "message": "a publication cannot be served: its subscriptions are refused", "level": "error",
              "publication": "foreign", "reason": "ConcordModel.StoreError.unknownEntity",
            ]
          ], "\(line("a publication"))")

        let stranger = try await world.device("b", token: Kept("user-unknown"))
        for _ in 1...3 {
          stranger.sync.poke()
          #expect(try await eventually { stranger.sync.status == .offline(.unauthorized) })
        }
        #expect(
          line("the closure") == [
            [
              "message": "the closure that authenticates fails: its requests are answered with 401",
              "level": "warning", "reason": "ConcordSyncTests.UsersUnreadable",
            ]
          ], "\(line("the closure"))")
        try await stranger.stop()
        try await device.stop()
      }
      #expect(line("synchronisation ends").count == 1)
      let all = lines.withLock { "\($0)" }
      for word in ["secret", "user-", "words"] { #expect(!all.contains(word), "\(all)") }
    }
  }
#endif
