#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// Actions that are undone, and then given up, while nobody knows whether the server has applied them.
  @Suite(.timeLimit(.minutes(2)))
  struct UnknownOutcomeTests {
    /// What ends the dead letter of an action that was undone.
    enum End: String, CaseIterable {
      /// A page that has its effect.
      case page
      /// A person, who tries it again, or what takes it back.
      case retry, retryOfInverse
      /// A person, who drops it.
      case drop
      /// A server that refuses it when a person tries it again.
      case refusal
    }

    /// Forwards an action whose answer does not come, undoes it, and lets the device give it up.
    ///
    /// - Returns: whether the device is cut off yet.
    private func giveUp(_ device: Device, isApplied: Bool) async throws -> Kept<Bool> {
      let (isUndone, isCut, pages, actions) = (Kept(false), Kept(true), Kept(0), Kept(0))
      device.route { request, transport in
        guard isCut.withLock({ $0 }) else { return try await transport.send(request) }
        if request.isForPages {
          pages.withLock { $0 += 1 }
        } else {
          let isFirst = actions.withLock { actions in
            defer { actions += 1 }
            return actions == 0
          }
          if isFirst, isApplied { _ = try await transport.send(request) }
          while !isFirst, !isUndone.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
        }
        throw TransportError.unreachable(reason: "cut")
      }
      // The request that waits must not bring the effect.
      device.sync.poke()
      #expect(try await eventually { pages.withLock { $0 } > 0 })
      try await device.connect.forward(Restock(book: 1, count: 2), as: "Restock")
      #expect(try await eventually { actions.withLock { $0 } > 1 })
      try await device.connect.outbox.undoManager.undo()
      #expect(try device.connect.viewContext.find(Book.self, id: 1)?.value.stock == 5)
      isUndone.withLock { $0 = true }
      #expect(try await eventually { device.connect.outbox.deadLetters.count == 2 })
      // Neither is shown, nor sent.
      #expect(try device.connect.viewContext.find(Book.self, id: 1)?.value.stock == 5)
      #expect(device.connect.outbox.pending.isEmpty)
      return isCut
    }

    @Test(
      "What takes back an action of unknown outcome waits for that, and is sent, or dropped, with it",
      arguments: End.allCases, [OutboxPolicy.Dependents.goOn, .hold])
    func undone(_ end: End, _ dependents: OutboxPolicy.Dependents) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 5)) }
        let device = try await world.device("a")
        let outbox = device.connect.outbox
        outbox.policy.dependents = dependents
        try await device.sync.subscribe("books").ready()
        #expect(try await eventually { outbox.isSender })
        outbox.policy.maximumAttempts = 2
        let isCut = try await giveUp(device, isApplied: end == .page)
        outbox.policy.maximumAttempts = nil
        // A restart changes nothing about it.
        try await device.connect.stop()
        try await device.connect.start()
        let letters = outbox.deadLetters
        isCut.withLock { $0 = false }
        if end == .refusal { world.service.allow(Restock.self) { action, _ in action.count < 0 } }
        switch end {
        case .page: #expect(letters.count == 2)
        case .retry, .refusal: #expect(outbox.retry(try #require(letters.first)))
        case .retryOfInverse: #expect(outbox.retry(try #require(letters.last)))
        case .drop: #expect(outbox.drop(try #require(letters.first)))
        }
        for _ in 0..<2 { try await device.sync.checkpoint() }
        #expect(try world.served(Book.self).map(\.stock) == [5] && device.stored(Book.self).map(\.stock) == [5])
        #expect(try device.connect.viewContext.find(Book.self, id: 1)?.value.stock == 5)
        #expect(outbox.pending.isEmpty && outbox.deadLetters.count == (end == .refusal ? 1 : 0))
        try await device.stop()
      }
    }

    @Test("What a device has undone and does not send for the next user is taken back when the earlier one returns")
    func otherUser() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 5)) }
        let token = Kept("user-1")
        let device = try await world.device("a", wait: .milliseconds(20), token: token)
        try await device.sync.subscribe("books").ready()
        #expect(try await eventually { device.connect.outbox.isSender })
        let counts = Kept((pages: 0, actions: 0))
        func cut(_ fate: Network.Fate) async throws {
          counts.withLock { $0 = (0, 0) }
          device.network.set { request in
            counts.withLock { if request.isForPages { $0.pages += 1 } else { $0.actions += 1 } }
            return request.isForPages ? .lost : fate
          }
          #expect(try await eventually { counts.withLock { $0.pages > 1 } })
        }
        try await cut(.answerLost)
        try await device.connect.forward(Restock(book: 1, count: 2), as: "Restock")
        #expect(try await eventually { try world.served(Book.self).map(\.stock) == [7] })
        try await device.connect.outbox.undoManager.undo()
        token.withLock { $0 = "user-2" }
        // None with the earlier token is on the way.
        try await cut(.lost)
        #expect(try await eventually { counts.withLock { $0.actions > 1 } })
        device.network.set { _ in .pass }
        #expect(try await eventually { device.connect.outbox.deadLetters.count == 2 })
        #expect(try world.served(Book.self).map(\.stock) == [7])
        token.withLock { $0 = "user-1" }
        for _ in 0..<2 { try await device.sync.checkpoint() }
        #expect(device.connect.outbox.deadLetters.isEmpty && device.connect.outbox.pending.isEmpty)
        #expect(try world.served(Book.self).map(\.stock) == [5] && device.stored(Book.self).map(\.stock) == [5])
        try await device.stop()
      }
    }
  }
#endif
