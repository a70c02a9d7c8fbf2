#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  @Suite(.timeLimit(.minutes(3)))
  struct SyncTests {
    @Test(
      "A device gets what its user's subscriptions have, with what it contains, and nothing of other users",
      arguments: Kind.allCases)
    func first(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          let (a, b, c) = (Book(id: 1, title: "A"), Book(id: 2, title: "B"), Book(id: 3, title: "C"))
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: a), Line(id: "l2", book: b)]))
          context.insert(Cart(id: 2, owner: 2, lines: [Line(id: "l3", book: b), Line(id: "l4", book: c)]))
          context.insert(Cart(id: 3, owner: 1))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 3])
        #expect(try device.stored(Line.self).map(\.id) == ["l1", "l2"])
        #expect(try device.stored(Book.self).map(\.id) == [1, 2])
        #expect(try device.stored(Cart.self).first == world.served(Cart.self).first)
        #expect(device.sync.status == .upToDate)
        try await device.stop()
      }
    }

    @Test(
      "What is committed on the server comes to the devices that it concerns, as whole commits",
      arguments: Kind.allCases)
    func live(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        let other = try await world.device("b", user: 2)
        try await device.sync.subscribe("carts").ready()
        try await other.sync.subscribe("carts").ready()
        try world.serve { context in
          try context.update(Cart.self, id: 1) { $0.lines = [Line(id: "l1", book: Book(id: 7, title: "Seven"))] }
        }
        #expect(try await eventually { try device.stored(Cart.self).first?.lines.first?.book?.title == "Seven" })
        // A change inside.
        try world.serve { try $0.update(Book.self, id: 7) { $0.title = "Eight" } }
        #expect(try await eventually { try device.stored(Book.self).first?.title == "Eight" })
        // It goes to another user.
        try world.serve { try $0.update(Cart.self, id: 1) { $0.owner = 2 } }
        #expect(try await eventually { try device.stored(Cart.self).isEmpty })
        #expect(try device.stored(Line.self).isEmpty && device.stored(Book.self).isEmpty)
        #expect(try await eventually { try other.stored(Cart.self).first?.lines.first?.book?.title == "Eight" })
        // It is deleted.
        try world.serve { try $0.delete(Cart.self, id: 1) }
        #expect(try await eventually { try other.stored(Cart.self).isEmpty })
        try await device.stop()
        try await other.stop()
      }
    }

    @Test("An action is shown at once, decided by the server, and comes to the other devices", arguments: Kind.allCases)
    func action(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1))
          context.insert(Book(id: 1, title: "A", stock: 2))
        }
        let (a, b) = (try await world.device("a"), try await world.device("b"))
        try await a.sync.subscribe("carts").ready()
        try await b.sync.subscribe("carts").ready()
        try await a.connect.forward(AddLine(cart: 1, book: 1, line: "x"))
        try await a.sync.checkpoint()
        #expect(a.connect.outbox.pending.isEmpty && a.connect.outbox.deadLetters.isEmpty)
        let cart = try #require(try world.served(Cart.self).first)
        #expect(cart.lines.map(\.id) == ["x"] && cart.lines.first?.book?.stock == 1)
        #expect(try a.stored(Cart.self) == [cart])
        try await b.sync.checkpoint()
        #expect(try b.stored(Cart.self) == [cart])
        try await a.stop()
        try await b.stop()
      }
    }

    @Test("A refusal rolls back, and is a dead letter with the server's reason", arguments: Kind.allCases)
    func refusals(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l", book: Book(id: 1, title: "A", stock: 1))]))
          context.insert(Cart(id: 2, owner: 2))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        // What the server has meanwhile.
        try world.serve { try $0.update(Book.self, id: 1) { $0.stock = 0 } }
        device.network.set { $0.isForPages ? .lost : .pass }
        try await device.connect.forward(AddLine(cart: 1, book: 1, line: "x"))
        try await device.connect.forward(Unknown(cart: 1))
        try await device.connect.forward(Overwrite(cart: 1, other: 2))
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        let letters = device.connect.outbox.deadLetters
        #expect(
          letters.map(\.reason).sorted() == [
            "it changes an entity that it does not name", "out of stock",
            "the server does not know the action 'unknown'",
          ])
        #expect(try device.connect.viewContext.find(Cart.self, id: 1)?.value == world.served(Cart.self).first)
        #expect(try world.served(Cart.self).map(\.note) == ["", ""])
        // A person may ask again.
        try world.serve { try $0.update(Book.self, id: 1) { $0.stock = 5 } }
        let letter = try #require(letters.first { $0.reason == "out of stock" })
        #expect(device.connect.outbox.retry(letter))
        try await device.sync.checkpoint()
        #expect(try world.served(Cart.self).first?.lines.map(\.id) == ["l", "x"])
        try await device.stop()
      }
    }

    @Test("A device that is given an address has the time-outs and the limit that the documentation says")
    func timeouts() throws {
      let connect = DeviceConnect(name: "Shop", model: try shopModel())
      let url = try #require(URL(string: "http://127.0.0.1:1/sync"))
      let transport = try #require(connect.sync(with: url, token: { nil }).transport as? HTTPTransport)
      #expect(transport.baseURL == url && transport.sizeLimit == 256 * 1024 * 1024)
      #expect(transport.timeout == .seconds(3600) && transport.silence == .seconds(60))
      // Nothing comes while a request waits at the server.
      #expect(transport.silence >= SyncLimits().wait * 2)
    }

    @Test("An effect comes once, however often requests and answers are lost or doubled", arguments: Kind.allCases)
    func once(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let numbers = Kept(SplitMix(7))
        let network = Network { _ in
          switch numbers.withLock({ $0.next() % 5 }) {
          case 0: .lost
          case 1: .answerLost
          case 2: .doubled
          default: .pass
          }
        }
        let device = try await world.device("a", network: network)
        try await device.sync.subscribe("carts").ready()
        for number in 0..<30 { try await device.connect.forward(Append(cart: 1, text: "\(number).")) }
        let wanted = (0..<30).map { "\($0)." }.joined()
        try await device.sync.checkpoint()
        #expect(try world.served(Cart.self).first?.note == wanted)
        #expect(try device.stored(Cart.self).first?.note == wanted)
        try await device.stop()
      }
    }

    @Test("The value on the screen never steps back while actions are decided")
    func seamless() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let found = try device.connect.viewContext.find(Cart.self, id: 1)
        let shown = Kept<[Int]>([])
        let subscription = found?.observe { cart in shown.withLock { $0.append(cart.note.utf8.count) } }
        for _ in 0..<60 { try await device.connect.forward(Append(cart: 1, text: "x")) }
        try await device.sync.checkpoint()
        await device.connect.viewContext.store.settled()
        let counts = shown.withLock { $0 }
        #expect(counts == counts.sorted() && counts.last == 60)
        subscription?.unsubscribe()
        try await device.stop()
      }
    }

    @Test("A device goes on where it was after a restart, and what left meanwhile is gone", arguments: Kind.allCases)
    func restart(_ kind: Kind) async throws {
      try await withWorld(kind) { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", book: Book(id: 1, title: "A"))]))
          context.insert(Cart(id: 2, owner: 1, lines: [Line(id: "l2")]))
        }
        let first = try await world.device("a")
        try await first.sync.subscribe("carts").ready()
        first.network.set { _ in .lost }
        try await first.connect.forward(Append(cart: 1, text: "late"))
        try await first.stop()
        try world.serve { context in
          try context.delete(Cart.self, id: 2)
          context.insert(Cart(id: 3, owner: 1))
          try context.update(Book.self, id: 1) { $0.title = "B" }
        }
        let second = try await world.device("a")
        #expect(try second.stored(Cart.self).map(\.id) == [1, 2])
        try await second.sync.checkpoint()
        #expect(try second.stored(Cart.self) == world.served(Cart.self))
        #expect(try second.stored(Cart.self).map(\.id) == [1, 3])
        #expect(try second.stored(Cart.self).first?.note == "late")
        #expect(try second.stored(Line.self).map(\.id) == ["l1"])
        #expect(try second.stored(Book.self).first?.title == "B")
        try await second.stop()
      }
    }

    @Test("What a cancelled subscription had goes, unless another one, a pending action or the app has it")
    func cancelling() async throws {
      try await withWorld { world in
        try world.serve { context in
          let book = Book(id: 1, title: "A")
          context.insert(Cart(id: 1, owner: 1, weight: 5, lines: [Line(id: "l1", book: book)]))
          context.insert(Cart(id: 2, owner: 1, weight: 1, lines: [Line(id: "l2", book: book)]))
          context.insert(Cart(id: 3, owner: 1, weight: 1, lines: [Line(id: "l3", book: Book(id: 2, title: "B"))]))
          context.insert(Cart(id: 4, owner: 1, weight: 1))
        }
        let device = try await world.device("a")
        let context = device.connect.newBackgroundContext()
        context.insert(Cart(id: 4, owner: 9, note: "the app's"))
        try context.save()
        try await device.connect.flush()
        let all = device.sync.subscribe("carts")
        let heavy = device.sync.subscribe("heavy", ["least": 4])
        try await all.ready()
        try await heavy.ready()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 2, 3, 4])
        device.network.set { _ in .lost }
        try await device.connect.forward(Append(cart: 3, text: "pending"))
        try await all.cancel()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 3, 4])
        #expect(try device.stored(Line.self).map(\.id) == ["l1", "l3"])
        #expect(try device.stored(Book.self).map(\.id) == [1, 2])
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.id) == [1, 4])
        #expect(try world.served(Cart.self).map(\.note) == ["", "", "pending", ""])
        await #expect(throws: SyncError.cancelled(subscription: "carts")) { try await all.ready() }
        try await device.stop()
      }
    }

    @Test("A subscription that the server does not serve says so, and the others go on")
    func refusedSubscription() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        let carts = device.sync.subscribe("carts")
        let refused = [device.sync.subscribe("nothing"), device.sync.subscribe("heavy")]
        try await carts.ready()
        await #expect(throws: SyncError.refused(subscription: "nothing", reason: "there is no such publication")) {
          try await refused[0].ready()
        }
        await #expect(throws: SyncError.refused(subscription: "heavy", reason: "the parameter 'least' is missing")) {
          try await refused[1].ready()
        }
        #expect(try device.stored(Cart.self).count == 1)
        try await device.stop()
      }
    }

    @Test("A predicate that looks at other rows is followed, too")
    func otherRows() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, lines: [Line(id: "l1", text: "x"), Line(id: "l2", text: "y")]))
          context.insert(Cart(id: 2, owner: 1, lines: [Line(id: "l3", text: "z")]))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("with-book", ["title": "x"]).ready()
        #expect(try device.stored(Cart.self).map(\.id) == [1])
        try world.serve { context in
          try context.update(Line.self, id: "l1") { $0.text = "-" }
          try context.update(Line.self, id: "l3") { $0.text = "x" }
        }
        #expect(try await eventually { try device.stored(Cart.self).map(\.id) == [2] })
        #expect(try device.stored(Line.self).map(\.id) == ["l3"])
        try await device.stop()
      }
    }

    @Test("Unique values may change places between rows")
    func uniqueValues() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Label(id: 1, owner: 1, name: "a"))
          context.insert(Label(id: 2, owner: 1, name: "b"))
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("labels").ready()
        device.network.set { _ in .lost }
        for (id, name) in [(1, "-"), (2, "a"), (1, "b")] {
          try world.serve { try $0.update(Label.self, id: id) { $0.name = name } }
        }
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try device.stored(Label.self).map(\.name) == ["b", "a"])
        try await device.stop()
      }
    }

    @Test("A server of another version is waited for, and the outbox waits with the device")
    func versions() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        for (status, reason) in [(426, "upgrade"), (401, "unauthorized"), (503, "unreachable")] {
          device.network.set { _ in .answer(status) }
          try await device.connect.forward(Append(cart: 1, text: "\(status)."))
          #expect(try await eventually { "\(device.sync.status)".contains(reason) })
          #expect(device.connect.outbox.deadLetters.isEmpty && device.connect.outbox.pending.count == 1)
          device.network.set { _ in .pass }
          try await device.sync.checkpoint()
          #expect(device.sync.status == .upToDate)
        }
        #expect(try world.served(Cart.self).first?.note == "426.401.503.")
        try await device.stop()
      }
    }

    @Test("Devices with an older and a newer model go on with what both know, or say that they cannot")
    func models() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A", stock: 3)) }
        func device<T: PersistentEntity>(_ type: T.Type, _ body: (T?, Sync) async throws -> Void) async throws {
          let connect = DeviceConnect(name: "Shop", model: try Model("Shop", entities: [type]))
          try connect.attachPersistentStore(
            at: world.folder.appending(path: "\(type)"), for: StoreConfiguration(type: .sqlite))
          try await connect.start()
          let sync = connect.sync(with: world.url) { "user-1" }
          sync.subscribe("books")
          #expect(
            try await eventually {
              if case .offline(.upgradeRequired) = sync.status { return true }
              return sync.status == .upToDate
            })
          try await body(connect.newBackgroundContext().fetch(FetchDescriptor<T>()).first, sync)
          try await connect.stop()
        }
        try await device(OldBook.self) { book, _ in #expect(book?.title == "A") }
        try await device(NewBook.self) { book, _ in #expect(book?.title == "A" && book?.author == nil) }
        try await device(StrictBook.self) { book, sync in
          #expect(book == nil)
          #expect(
            sync.status
              == .offline(
                .upgradeRequired("the server does not know Book.author, which has no default value")))
        }
      }
    }

    @Test("Whatever is sent to a route, the server answers it, and goes on")
    func hostile() async throws {
      try await withWorld { world in
        let seed = UInt64.random(in: 1...1_000_000)
        print("hostile requests: seed \(seed)")
        var numbers = SplitMix(seed)
        let transport = HTTPTransport(baseURL: world.url)
        let valid = [
          "pages": """
          {"version":1,"device":"d","position":null,"user":null,"actions":0,"awaited":[],"wait":0,
          "subscriptions":[{"name":"carts","parameters":{"since":{"date":7}},"known":"x"}]}
          """,
          "actions":
            #"{"version":1,"device":"d","key":"k","name":"append","action":{"cart":1,"text":"\ud83d\ude00"},"refusals":0}"#,
        ]
        for (path, text) in valid.sorted(by: { $0.key < $1.key }) {
          for number in 0..<400 {
            var bytes = Array(text.utf8)
            for _ in 0..<(number == 0 ? 0 : Int.random(in: 1...4, using: &numbers)) where !bytes.isEmpty {
              let place = Int.random(in: 0..<bytes.count, using: &numbers)
              switch Int.random(in: 0..<4, using: &numbers) {
              case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
              case 1: bytes.removeSubrange(place...)
              case 2: bytes.insert(contentsOf: Array(repeating: UInt8(ascii: "["), count: 200), at: place)
              default: bytes.replaceSubrange(place..<place, with: Array("-1e999".utf8))
              }
            }
            let request = TransportRequest(
              "POST", path, headers: ["Authorization": "Bearer user-1"], body: Data(bytes))
            let status = try await transport.send(request).status
            #expect([200, 400, 426].contains(status), "seed \(seed), \(String(decoding: bytes, as: UTF8.self))")
            if number == 0 { #expect(status == 200) }
          }
          for count in ["9223372036854775807", "-1"] {
            let body = Data(text.replacing("\"refusals\":0", with: "\"refusals\":\(count)").utf8)
            let request = TransportRequest("POST", path, headers: ["Authorization": "Bearer user-1"], body: body)
            #expect(try await transport.send(request).status == (path == "actions" ? 400 : 200))
          }
          let large = TransportRequest(
            "POST", path, headers: ["Authorization": "Bearer user-1"], body: Data(count: 2_000_000))
          #expect(try await transport.send(large).status == 413)
        }
        #expect(try await transport.send(TransportRequest("GET", "health")).status == 200)
      }
    }

    @Test("Without a valid token nothing is said")
    func tokens() async throws {
      try await withWorld { world in
        let transport = HTTPTransport(baseURL: world.url)
        for path in ["pages", "actions"] {
          for token in [nil, "Bearer nobody"] {
            var request = TransportRequest("POST", path, body: Data("{}".utf8))
            request.headers["Authorization"] = token
            #expect(try await transport.send(request).status == 401)
          }
        }
        let health = try await transport.send(TransportRequest("GET", "health"))
        #expect(health.status == 200)
        let old = TransportRequest(
          "POST", "pages", headers: ["Authorization": "Bearer user-1"], body: Data(#"{"version":99}"#.utf8))
        #expect(try await transport.send(old).status == 426)
      }
    }
  }

  extension TransportRequest {
    var isForPages: Bool { if case .path("pages", _) = target { true } else { false } }
  }
#endif
