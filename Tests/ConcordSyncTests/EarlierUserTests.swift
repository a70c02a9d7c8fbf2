#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import Concord
  @testable import ConcordServer
  @testable import ConcordSync

  /// Actions of the user before, and what they name, when the first page of the next one comes.
  @Suite(.timeLimit(.minutes(2)))
  struct EarlierUserTests {
    /// A device whose requests a test cuts off and holds, and the states that break the law.
    private struct Watched: Sendable {
      let world: World
      let device: Device
      let token = Kept("user-1")
      let isCut = Kept(false)
      let pages = Kept(0)
      let violations = Kept<[String]>([])

      /// - Parameter act: what becomes of a request with an action.
      init(
        _ world: World, _ history: History,
        _ act: @escaping @Sendable (TransportRequest, any Transport) async throws -> TransportResponse
      ) async throws {
        self.world = world
        let law = Law(history: history, model: world.container.model, seal: try world.service.prepare().seal)
        let before = Kept(KeptRows<Moment>())
        device = try await world.device("a", token: token) { [violations] moment in
          let found = before.withLock { law.violations(of: moment, after: &$0) }
          if !found.isEmpty { violations.withLock { $0 += found } }
        }
        device.route { [isCut, pages] request, transport in
          guard request.isForPages else { return try await act(request, transport) }
          pages.withLock { $0 += 1 }
          if isCut.withLock({ $0 }) { throw TransportError.unreachable(reason: "cut") }
          return try await transport.send(request)
        }
      }

      /// Lets no page through from now on.
      func cut() async throws {
        isCut.withLock { $0 = true }
        device.sync.poke()
        try await nextRequests()
      }

      /// Waits until no request is on its way that was made before.
      private func nextRequests() async throws {
        pages.withLock { $0 = 0 }
        #expect(try await eventually { pages.withLock { $0 > 1 } })
      }

      /// Lets the next user in, and waits for this one's first page.
      func change() async throws {
        token.withLock { $0 = "user-2" }
        try await nextRequests()
        isCut.withLock { $0 = false }
        #expect(try await eventually { try device.moment(user: 1)?.user == 2 })
      }

      /// Expects that no state has broken the law.
      func end() async throws {
        try await device.stop()
        let broken = violations.withLock { $0 }
        #expect(broken.isEmpty, "\(broken.prefix(3).joined(separator: "; "))")
      }
    }

    @Test("What only actions of the earlier user name leaves with the first page of the next one, in its transaction")
    func leaving() async throws {
      let history = History()
      try await withWorld(history: history) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A"))]))
          context.insert(Cart(id: 2, owner: 2))
        }
        let watched = try await Watched(world, history) { request, transport in
          _ = try await transport.send(request)
          throw TransportError.unreachable(reason: "the answer was lost")
        }
        let device = watched.device
        try await device.sync.subscribe("carts").ready()
        try await watched.cut()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { try world.served(Cart.self).map(\.note) == ["x", ""] })
        try await watched.change()
        #expect(try device.stored(Cart.self).map(\.id) == [2] && device.stored(Line.self).isEmpty)
        #expect(try device.stored(Book.self).isEmpty)
        #expect(try await eventually { device.connect.outbox.deadLetters.count == 1 })
        try await watched.end()
      }
    }

    /// What becomes of an action that is sent for the earlier user.
    enum Outcome: String, CaseIterable {
      /// The server accepts it, and its answer comes before the page of the next user, or after it.
      case acceptedBefore, accepted
      /// Its answer is lost.
      case unknown
      case refused
      /// The server does not let it in.
      case undecided
    }

    @Test(
      "An action that is on its way when the first page of the next user comes is shown no longer, and its outcome is stored when it is known",
      arguments: Outcome.allCases)
    func onItsWay(_ outcome: Outcome) async throws {
      let history = History()
      try await withWorld(history: history) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A"))])) }
        world.service.allow(Append.self) { _, _ in outcome != .refused }
        let (isHeld, isSent) = (Kept(outcome != .acceptedBefore), Kept(false))
        let watched = try await Watched(world, history) { request, transport in
          guard isHeld.withLock({ $0 }) else { return try await transport.send(request) }
          let response = outcome == .undecided ? nil : try await transport.send(request)
          isSent.withLock { $0 = true }
          while isHeld.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
          if outcome == .unknown { throw TransportError.unreachable(reason: "the answer was lost") }
          return response ?? TransportResponse(status: 401, body: Data())
        }
        let (device, outbox) = (watched.device, watched.device.connect.outbox)
        // Both users have the cart.
        try await device.sync.subscribe("by-stock", ["rest": 0]).ready()
        let shown = try #require(try device.connect.viewContext.find(Cart.self, id: 1))
        try await watched.cut()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(shown.value.note == "x")
        if outcome == .acceptedBefore {
          #expect(try await eventually { device.sync.state.withLock { !$0.awaited.isEmpty } })
        } else {
          #expect(try await eventually { isSent.withLock { $0 } })
        }
        try await watched.change()
        #expect(try await eventually { outbox.deadLetters.count == 1 })
        #expect(outbox.pending.isEmpty)
        let isThere = outcome != .refused && outcome != .undecided
        #expect(try await eventually { shown.value.note == (isThere ? "x" : "") })
        let letter = try #require(outbox.deadLetters.first.map { FaultLetter($0) })
        #expect(letter.isAccepted == (outcome == .acceptedBefore) && letter.isUndecided)

        isHeld.withLock { $0 = false }
        await outbox.idle()
        let letters = outbox.deadLetters
        switch outcome {
        case .accepted, .acceptedBefore:
          #expect(letters.map { FaultLetter($0).isAccepted } == [true])
          // No person tries it again before this user is back, also where no server can be reached: its layer would be shown with its effect.
          device.network.set { _ in .lost }
          #expect(!outbox.retry(try #require(letters.first)))
          #expect(shown.value.note == "x" && outbox.pending.isEmpty)
          #expect(outbox.deadLetters.map { FaultLetter($0).isAccepted } == [true])
          device.network.set { _ in .pass }
        case .unknown: #expect(letters.map(\.reason) == [letter.reason])
        case .refused: #expect(letters.map(\.reason) == ["it is not allowed"])
        // It is sent in the next user's name.
        case .undecided: #expect(letters.isEmpty)
        }
        #expect(try world.served(Cart.self).map(\.note) == [outcome == .refused ? "" : "x"])
        watched.token.withLock { $0 = "user-1" }
        for _ in 0..<2 { try await device.sync.checkpoint() }
        #expect(outbox.deadLetters.count == (outcome == .refused ? 1 : 0) && outbox.pending.isEmpty)
        #expect(try world.served(Cart.self) == device.stored(Cart.self))
        #expect(try world.served(Cart.self).map(\.note) == [outcome == .refused ? "" : "x"])
        try await watched.end()
      }
    }

    @Test("An action that was sent with the next user's token only, and has had no answer, is sent in this one's name")
    func nextUsersOwn() async throws {
      let history = History()
      try await withWorld(history: history) { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: id)) } }
        let (isLost, attempts) = (Kept(true), Kept(0))
        let watched = try await Watched(world, history) { request, transport in
          attempts.withLock { $0 += 1 }
          if isLost.withLock({ $0 }) { throw TransportError.unreachable(reason: "lost") }
          return try await transport.send(request)
        }
        let device = watched.device
        try await device.sync.subscribe("carts").ready()
        try await watched.cut()
        watched.token.withLock { $0 = "user-2" }
        try await device.connect.forward(Append(cart: 2, text: "x"))
        #expect(try await eventually { attempts.withLock { $0 } > 0 })
        try await watched.change()
        #expect(device.connect.outbox.deadLetters.isEmpty && device.connect.outbox.pending.count == 1)
        isLost.withLock { $0 = false }
        #expect(try await eventually { device.connect.outbox.pending.isEmpty })
        #expect(device.connect.outbox.deadLetters.isEmpty)
        #expect(try world.served(Cart.self).map(\.note) == ["", "x"])
        try await watched.end()
      }
    }
  }
#endif
