#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import Concord
  @testable import ConcordConnect
  @testable import ConcordServer
  @testable import ConcordSync

  /// Tokens that are no longer valid or another user's, requests that somebody sends again, and actions that reach for more than the rule was
  /// asked about.
  @Suite struct TokenTests {
    @Test(
      "When a token expires the device says so and its actions wait; with the next token they have their effects, once")
    func expired() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let token = Kept("user-1")
        let device = try await world.device("a", wait: .milliseconds(100), token: token)
        try await device.sync.subscribe("carts").ready()
        world.expired.withLock { _ = $0.insert("Bearer user-1") }
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { device.sync.status == .offline(.unauthorized) })
        #expect(try world.served(Cart.self).map(\.note) == [""])
        #expect(try device.stored(Cart.self).count == 1 && device.connect.outbox.pending.count == 1)
        #expect(device.connect.outbox.deadLetters.isEmpty)
        token.withLock { $0 = "user-1-second" }
        try await device.sync.checkpoint()
        #expect(try world.served(Cart.self).map(\.note) == ["x"] && device.stored(Cart.self).map(\.note) == ["x"])
        try await device.stop()
      }
    }

    @Test(
      "A request that somebody sends again has no effect, tells another user nothing, and nothing at all with a token that has expired"
    )
    func replayed() async throws {
      try await withWorld { world in
        try world.serve { context in
          for id in 1...2 { context.insert(Cart(id: id, owner: id, lines: [Line(id: "l\(id)")])) }
        }
        let transport = HTTPTransport(baseURL: world.url)
        func send(_ path: String, _ body: WireValue, _ token: String?) async throws -> (status: Int, text: String) {
          var request = TransportRequest("POST", path, body: Data(body.bytes))
          request.headers["Authorization"] = token.map { "Bearer \($0)" }
          let response = try await transport.send(request)
          return (response.status, String(decoding: response.body, as: UTF8.self))
        }
        let action = ActionMessage(
          device: "d", key: "k", name: Append.name, body: .object(["cart": .integer(1), "text": .text("x")]),
          refusals: 0,
          since: 0
        ).wire
        #expect(try await send("actions", action, "user-1").text.contains("accepted"))
        var request = PageRequest(
          device: "d", position: nil, user: nil, actions: 0, awaited: ["k"],
          subscriptions: [.init(name: "carts", parameters: [:], known: nil)], wait: 0)
        let first = try await send("pages", request.wire, "user-1").text
        let head = try WireValue(parsing: Array(first.prefix { $0 != "\n" }.utf8))
        #expect(try head["keys"].array() == [.text("k")] && first.contains("\"l1\"") && !first.contains("\"l2\""))
        request.position = try head["position"].text()
        request.user = "1"
        request.subscriptions[0].known = try head["subscriptions"].array()[0]["condition"].text()

        // Again, and with the token of another user: the action is his then, and his rule is asked.
        #expect(try await send("actions", action, "user-1").text.contains("accepted"))
        let foreign = try await send("actions", action, "user-2")
        #expect(foreign.status == 200 && foreign.text.contains("it is not allowed"))
        let page = try await send("pages", request.wire, "user-2").text
        #expect(page.contains("\"user\":\"2\"") && page.contains("\"keys\":[]") && page.contains("\"actions\":0"))
        #expect(page.contains("\"l2\"") && !page.contains("\"l1\"") && !page.contains("\"k\""))
        #expect(try world.served(Cart.self).map(\.note).sorted() == ["", "x"])

        // What a stranger hears is all that is said.
        world.expired.withLock { _ = $0.insert("Bearer user-1") }
        for (path, body) in [("pages", request.wire), ("actions", action)] {
          let (answer, stranger) = (try await send(path, body, "user-1"), try await send(path, body, nil))
          #expect(answer.status == 401 && answer == stranger)
        }
        #expect(try world.served(Cart.self).map(\.note).sorted() == ["", "x"])
      }
    }

    @Test(
      "An action changes nothing that another user has and that the rule was not asked about", arguments: Kind.allCases)
    func reach(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          let shared = Line(id: "shared", text: "of both")
          context.insert(Cart(id: 1, owner: 1, lines: [shared]))
          context.insert(Cart(id: 2, owner: 2, note: "theirs", lines: [Line(id: "other", text: "theirs"), shared]))
          context.insert(Label(id: 1, owner: 2, name: "taken"))
        }
        let before = (try world.served(Cart.self).filter { $0.id == 2 }, try world.served(Label.self))
        for way in Reach.Way.allCases {
          let message = ActionMessage(
            device: "d", key: way.rawValue, name: Reach.name,
            body: .object(["cart": .integer(1), "way": .text(way.rawValue)]), refusals: 0, since: 0)
          let request = TransportRequest("POST", "actions", body: Data(message.wire.bytes))
          let response = try await world.service.transport(as: User(id: 1)).send(request)
          let answer = String(decoding: response.body, as: UTF8.self)
          // What is not there for the action it cannot change.
          let isEmpty = way == .remove
          #expect(answer.contains(isEmpty ? "accepted" : "refused") && !answer.contains("theirs"), "\(way): \(answer)")
          #expect(
            try world.served(Cart.self).filter { $0.id == 2 } == before.0 && world.served(Label.self) == before.1,
            "\(way)")
          #expect(
            try world.served(Line.self).map(\.text).sorted() == ["of both", "theirs"]
              && world.served(Cart.self).count == 2, "\(way)")
        }
        // The rule is asked about the cart that the action names.
        let message = ActionMessage(
          device: "d", key: "k", name: Reach.name, body: .object(["cart": .integer(2), "way": .text("replace")]),
          refusals: 0,
          since: 0)
        let request = TransportRequest("POST", "actions", body: Data(message.wire.bytes))
        let response = try await world.service.transport(as: User(id: 1)).send(request)
        #expect(String(decoding: response.body, as: UTF8.self).contains("it is not allowed"))
      }
    }

    @Test(
      "An action of a user who comes back to a device waits for a page of this user, and has its effect once",
      arguments: [true, false])
    func returningUser(_ isCleared: Bool) async throws {
      var limits = SyncLimits()
      limits.actions = 1
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let token = Kept("user-1")
        let device = try await world.device("a", token: token)
        try await device.sync.subscribe("carts").ready()
        func change(to user: String) async throws {
          if isCleared {
            try await device.connect.outbox.clear()
            for subscription in try await device.sync.subscriptions() { try await subscription.cancel() }
          }
          token.withLock { $0 = user }
        }
        for number in 0..<8 {
          try await device.connect.forward(Append(cart: 1, text: "\(number)."))
          try await device.sync.checkpoint()
        }
        try await change(to: "user-2")
        try await device.sync.checkpoint()
        let (pages, actions) = (Kept(0), Kept(0))
        device.network.set { request in
          (request.isForPages ? pages : actions).withLock { $0 += 1 }
          return request.isForPages ? .lost : .pass
        }
        try await change(to: "user-1")
        try await device.connect.forward(Append(cart: 1, text: "8."))
        #expect(try await eventually { actions.withLock { $0 } >= 3 })
        #expect(device.connect.outbox.deadLetters.isEmpty && device.connect.outbox.pending.count == 1)
        #expect(try world.served(Cart.self).map(\.note) == ["0.1.2.3.4.5.6.7."])
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.isEmpty && device.connect.outbox.pending.isEmpty)
        #expect(try world.served(Cart.self).map(\.note) == ["0.1.2.3.4.5.6.7.8."])
        try await device.stop()
      }
    }

    @Test("An action of the next user asks for a page of this user, also while a request of the earlier one waits")
    func nextUser() async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: id)) } }
        let token = Kept("user-1")
        let device = try await world.device("a", wait: .seconds(100), token: token)
        try await device.sync.subscribe("carts").ready()
        #expect(try await eventually { !world.service.live.isIdle })
        token.withLock { $0 = "user-2" }
        let begin = ContinuousClock.now
        try await device.connect.forward(Append(cart: 2, text: "x"))
        #expect(try await eventually { try world.served(Cart.self).map(\.note) == ["", "x"] })
        #expect(try await eventually { try device.stored(Cart.self).map(\.id) == [2] })
        #expect(ContinuousClock.now - begin < .seconds(10) && device.connect.outbox.deadLetters.isEmpty)
        try await device.stop()
      }
    }

    /// What becomes of the first attempts to send an action.
    enum Failure: String, CaseIterable { case noToken, unauthorized, unavailable, lost }

    @Test(
      "An action of the next user is sent in this one's name, whatever has become of attempts before this one's first page",
      arguments: Failure.allCases)
    func nextUserAfterFailures(_ failure: Failure) async throws {
      try await withWorld { world in
        try world.serve { context in for id in 1...2 { context.insert(Cart(id: id, owner: id)) } }
        let token = Kept("user-1")
        let device = try await world.device("a", wait: .milliseconds(20), token: token)
        try await device.sync.subscribe("carts").ready()
        device.network.set { request in
          switch failure {
          case _ where request.isForPages: .lost
          case .unavailable: .answer(503)
          case .lost: .lost
          case .noToken, .unauthorized: .pass
          }
        }
        token.withLock { $0 = failure == .noToken ? "" : failure == .unauthorized ? "nobody" : "user-2" }
        try await device.connect.forward(Append(cart: 2, text: "x"))
        #expect(try await eventually { device.connect.outbox.pending.first.map { $0.attempts >= 2 } ?? false })
        // The server says that the file has the page of another user.
        let attempts = Kept(0)
        device.network.set { request in
          if request.isForPages { return .lost }
          attempts.withLock { $0 += 1 }
          return .pass
        }
        token.withLock { $0 = "user-2" }
        #expect(try await eventually { attempts.withLock { $0 } >= 3 })
        #expect(try world.served(Cart.self).map(\.note) == ["", ""])
        device.network.set { _ in .pass }
        #expect(try await eventually { device.connect.outbox.pending.isEmpty })
        #expect(device.connect.outbox.deadLetters.isEmpty)
        #expect(try world.served(Cart.self).map(\.note) == ["", "x"])
        try await device.stop()
      }
    }

    @Test(
      "It is certain that nobody has decided an action where each token it was sent with was of another user, or not valid"
    )
    func certainty() {
      var sent = SentActions()
      func end(_ token: String?, _ status: Int?, isFirst: Bool = false) -> Bool {
        sent.end(sent.begin("k", with: token, isFirst: isFirst), with: status)
      }
      for status in [401, 409, 413, 426] { #expect(end("a", status, isFirst: true)) }
      // Another one's, and the next one's before and after it was let in.
      #expect(!end("a", nil, isFirst: true) && !end("b", 409) && end("a", 409))
      #expect(!end("a", 503, isFirst: true) && !end("a", 401) && !end(nil, 401) && end("a", 409))
      // What was sent before is not known.
      for status in [401, 409] { #expect(!end("a", status)) }
      #expect(!end("a", nil, isFirst: true))
      sent.remove("k")
      #expect(!end("a", 409))
      // Without a token the transport may carry that of one user after the other.
      #expect(!end(nil, nil, isFirst: true) && !end(nil, 409) && !end(nil, 401))
      #expect(end(nil, 409, isFirst: true))
    }

    @Test("What is known of tokens is bounded, and what is beyond takes nothing from the rest")
    func boundedCertainty() {
      var sent = SentActions()
      for number in 0...SentActions.mostActions { _ = sent.begin("\(number)", with: "a", isFirst: true) }
      func isCertain(_ number: Int) -> Bool {
        sent.end(sent.begin("\(number)", with: "a", isFirst: false), with: 409)
      }
      #expect(!isCertain(SentActions.mostActions) && isCertain(0))
      // The place is free again.
      _ = sent.begin("next", with: "a", isFirst: true)
      #expect((1..<SentActions.mostActions).allSatisfy(isCertain))
      for number in 0...SentActions.mostTokens { _ = sent.begin("next", with: "\(number)", isFirst: false) }
      #expect(sent.isEmpty)
    }

    @Test("A process that stops knows nothing of the attempts that another one may make from then on")
    func certaintyAfterStop() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a", network: Network { $0.isForPages ? .pass : .lost })
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { device.sync.state.withLock { !$0.sent.isEmpty } })
        try await device.stop()
        #expect(device.sync.state.withLock { $0.sent.isEmpty })
      }
    }

    @Test(
      "An error of the closure that returns the token is no refusal: the action waits, and is sent with the next token",
      arguments: [
        NoToken() as any Error, NonRetriableError("signed out"),
        TransportError.status(413, excerpt: "", retryAfter: nil),
        TransportError.status(426, excerpt: "", retryAfter: nil),
        TransportError.status(401, excerpt: "", retryAfter: nil),
        TransportError.invalidRequest("no address"), OutcomeIsStored(), CancellationError(),
      ])
    func failingToken(_ error: any Error) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let connect = DeviceConnect(name: "Shop", model: try shopModel(), forwarding: [Append.self])
        connect.outbox.policy.backoff = Backoff(base: .milliseconds(5), cap: .milliseconds(40))
        try connect.attachPersistentStore(
          at: world.folder.appending(path: "a"), for: StoreConfiguration(type: .sqlite))
        try await connect.start()
        let isFailing = Kept(false)
        let sync = connect.sync(
          over: HTTPTransport(baseURL: world.url), wait: .milliseconds(50),
          backoff: Backoff(base: .milliseconds(5), cap: .milliseconds(40))
        ) {
          if isFailing.withLock({ $0 }) { throw error }
          return "user-1"
        }
        try await sync.subscribe("carts").ready()
        isFailing.withLock { $0 = true }
        try await connect.forward(Append(cart: 1, text: "x"))
        #expect(
          try await eventually { connect.outbox.pending.first.map { $0.attempts >= 2 } ?? true })
        #expect(connect.outbox.deadLetters.isEmpty && connect.outbox.pending.count == 1)
        #expect(try await eventually { if case .offline = sync.status { true } else { false } })
        if case .offline(.upgradeRequired) = sync.status { Issue.record("it is no answer of the server") }
        isFailing.withLock { $0 = false }
        try await sync.checkpoint()
        #expect(try world.served(Cart.self).map(\.note) == ["x"])
        try await connect.stop()
      }
    }

    @Test("An action that was first sent before the first page names the user of that page from then on")
    func firstPage() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 10)) }
        let token = Kept("user-1")
        let device = try await world.device(
          "a", network: Network { _ in .lost }, wait: .milliseconds(20), token: token)
        let books = device.sync.subscribe("books")
        try await device.connect.forward(Restock(book: 1, count: 5))
        #expect(try await eventually { device.connect.outbox.pending.first.map { $0.attempts >= 1 } ?? false })
        device.network.set { request in request.isForPages ? .pass : .lost }
        try await books.ready()
        // The server has applied it, and the device hears nothing.
        let pages = Kept(0)
        device.network.set { request in
          if request.isForPages { pages.withLock { $0 += 1 } }
          return .lost
        }
        #expect(try await eventually { pages.withLock { $0 > 0 } })
        device.network.set { request in request.isForPages ? .lost : .answerLost }
        #expect(try await eventually { try world.served(Book.self).map(\.stock) == [15] })
        let counts = Kept((pages: 0, actions: 0))
        token.withLock { $0 = "user-2" }
        // None that has the earlier token is on the way.
        device.network.set { request in
          counts.withLock { if request.isForPages { $0.pages += 1 } else { $0.actions += 1 } }
          return .lost
        }
        #expect(try await eventually { counts.withLock { $0.pages > 1 && $0.actions > 1 } })
        device.network.set { _ in .pass }
        #expect(try await eventually { device.connect.outbox.pending.isEmpty })
        #expect(device.connect.outbox.deadLetters.count == 1)
        #expect(try world.served(Book.self).map(\.stock) == [15])
        try await device.stop()
      }
    }

    @Test(
      "An action that was sent for one user is not sent in the name of the next, and has its effect once: the earlier user's page ends it, or a person tries it again",
      arguments: [true, false], [true, false])
    func sentForEarlierUser(_ isApplied: Bool, _ isInHeader: Bool) async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 10)) }
        let token = Kept("user-1")
        let device = try await world.device("a", wait: .milliseconds(20), token: token, isInHeader: isInHeader)
        try await device.sync.subscribe("books").ready()
        // Both may do it. The server has applied it, or has not, and the device has heard nothing.
        let counts = Kept((pages: 0, actions: 0))
        device.network.set { request in
          counts.withLock { if request.isForPages { $0.pages += 1 } else { $0.actions += 1 } }
          return request.isForPages || !isApplied ? .lost : .answerLost
        }
        // No request for a page is on the way that may pass, and tell of the effect.
        #expect(try await eventually { counts.withLock { $0.pages > 0 } })
        try await device.connect.forward(Restock(book: 1, count: 5))
        let stock = isApplied ? 15 : 10
        #expect(
          try await eventually {
            try counts.withLock { $0.actions > 0 } && world.served(Book.self).map(\.stock) == [stock]
          })
        token.withLock { $0 = "user-2" }
        // One that has the earlier token yet must not pass.
        device.network.set { request in
          counts.withLock { if request.isForPages { $0.pages += 1 } else { $0.actions += 1 } }
          return .lost
        }
        counts.withLock { $0 = (0, 0) }
        #expect(try await eventually { counts.withLock { $0.pages > 1 && $0.actions > 1 } })
        device.network.set { _ in .pass }
        func isRefused() -> Bool {
          device.connect.outbox.pending.isEmpty
            && device.connect.outbox.deadLetters.map(\.reason).contains { $0.contains("for another user") }
        }
        try #require(try await eventually { isRefused() })
        #expect(try world.served(Book.self).map(\.stock) == [stock])
        // No person tries it again. The server can tell when the user is back.
        #expect(!device.connect.outbox.retry(try #require(device.connect.outbox.deadLetters.first)))
        #expect(isRefused())
        token.withLock { $0 = "user-1" }
        try await device.sync.checkpoint()
        // What the page has brought is not tried again, and holds nothing up.
        #expect(device.connect.outbox.deadLetters.isEmpty == isApplied)
        if let letter = device.connect.outbox.deadLetters.first { #expect(device.connect.outbox.retry(letter)) }
        try await device.sync.checkpoint()
        #expect(device.connect.outbox.deadLetters.isEmpty && device.connect.outbox.pending.isEmpty)
        #expect(try world.served(Book.self).map(\.stock) == [15] && device.stored(Book.self).map(\.stock) == [15])
        try await device.stop()
      }
    }

    @Test("A device that has no page yet acts")
    func firstActions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a", network: Network { $0.isForPages ? .lost : .pass })
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { try world.served(Cart.self).map(\.note) == ["x"] })
        try await device.stop()
      }
    }

    @Test("An action of a device with a page of another user is not decided, unless it was before")
    func otherUser() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        func answer(_ key: String, _ name: String = Append.name, user: String?) async throws -> (Int, String) {
          let message = ActionMessage(
            device: "d", key: key, name: name, body: .object(["cart": .integer(1), "text": .text("\(key).")]),
            refusals: 0, since: 7, user: user)
          let response = try await world.service.transport(as: User(id: 1)).send(
            TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
          return (response.status, String(decoding: response.body, as: UTF8.self))
        }
        for name in [Append.name, "unknown"] { #expect(try await answer("k1", name, user: "2").0 == 409) }
        #expect(try world.served(Cart.self).map(\.note) == [""])
        for user in ["1", "2", nil] { #expect(try await answer("k1", user: user).1.contains("accepted")) }
        // A device of an earlier release does not say it.
        #expect(try await answer("k2", user: nil).1.contains("accepted"))
        #expect(try world.served(Cart.self).map(\.note) == ["k1.k2."])
      }
    }

    @Test(
      "A user whose id comes in two forms of one text is one user: an action that is sent as either has its effect once"
    )
    func formsOfAnID() async throws {
      struct Person: Identifiable, Sendable { let id: String }
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let service = SyncService<Person>(world.container, actions: [Append.self]) { _ in nil }
        service.publish("carts", of: Cart.self) { _, _ in #Predicate<Cart> { $0.owner == 1 } }
        service.allow(Append.self) { _, _ in true }
        let message = ActionMessage(
          device: "d", key: "k", name: Append.name, body: .object(["cart": .integer(1), "text": .text("x")]),
          refusals: 0, since: 0)
        let request = PageRequest(
          device: "d", position: nil, user: nil, actions: 0, awaited: [],
          subscriptions: [.init(name: "carts", parameters: [:], known: nil)], wait: 0)
        for id in ["Zo\u{EB}", "Zoe\u{308}"] {
          let transport = service.transport(as: Person(id: id))
          let answer = try await transport.send(
            TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
          #expect(try ActionDecision(WireValue(parsing: answer.body)) == .accepted)
          let page = try await transport.send(TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
          #expect(try Page(parsing: page.body, world.container.model).keys == ["k"])
        }
        #expect(try world.served(Cart.self).map(\.note) == ["x"])
      }
    }
  }
#endif
