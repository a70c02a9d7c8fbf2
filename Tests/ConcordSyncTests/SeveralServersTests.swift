#if Server
  import Foundation
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Servers that share one database.
  @Suite(.enabled(if: Kind.database != nil), .timeLimit(.minutes(2)))
  struct SeveralServersTests {
    private func withServers(
      _ body: @escaping @Sendable (_ first: World, _ second: World) async throws -> Void
    ) async throws {
      let schema = Kind.newSchema()
      try await withWorld(.postgreSQL, schema: schema) { first in
        try await withWorld(.postgreSQL, schema: schema) { second in try await body(first, second) }
      }
    }

    @Test("A position of one server is one of all, and tells as little")
    func positions() async throws {
      try await withServers { first, second in
        try first.serve { $0.insert(Cart(id: 1, owner: 1)) }
        func head(_ world: World, _ last: WireValue? = nil) async throws -> WireValue {
          let subscription = try last?["subscriptions"].array().first
          let request = PageRequest(
            device: "d", position: try last?["position"].text(), user: last == nil ? nil : "1", actions: 0, awaited: [],
            subscriptions: [.init(name: "carts", parameters: [:], known: try subscription?["condition"].text())],
            wait: 0)
          let response = try await HTTPTransport(baseURL: world.url).send(
            TransportRequest(
              "POST", "pages", headers: ["Authorization": "Bearer user-1"], body: Data(request.wire.bytes)))
          return try WireValue(parsing: try #require(response.body.split(separator: 0x0A).first))
        }
        let one = try await head(first)
        #expect(try one["subscriptions"].array()[0]["whole"].bool())
        try second.serve { try $0.update(Cart.self, id: 1) { $0.note = "x" } }
        let two = try await head(second, one)
        #expect(try !two["subscriptions"].array()[0]["whole"].bool())
        #expect(try await !head(first, two)["subscriptions"].array()[0]["whole"].bool())
      }
    }

    @Test("Devices whose requests go to any of the servers have each effect once, in order, and all that is committed")
    func anyServer() async throws {
      try await withServers { first, second in
        try first.serve { context in for id in 1...4 { context.insert(Cart(id: id, owner: id % 2 + 1)) } }
        let numbers = Kept(SplitMix(11))
        var devices: [Device] = []
        for number in 0..<4 {
          let network = Network { _ in
            switch numbers.withLock({ $0.next() % 8 }) {
            case 0: .answerLost
            case 1: .doubled
            default: .pass
            }
          }
          let device = try await first.device("d\(number)", user: number % 2 + 1, network: network, wait: .seconds(5))
          let bases = [first.url, second.url].map { HTTPTransport(baseURL: $0, timeout: .seconds(40)) }
          network.base.withLock { base in
            base = ScriptedBase { request in try await bases[Int(numbers.withLock { $0.next() % 2 })].send(request) }
          }
          device.sync.subscribe("carts")
          devices.append(device)
        }
        for device in devices { try await device.sync.checkpoint() }
        for step in 0..<15 {
          for (number, device) in devices.enumerated() {
            let cart = number % 2 == 0 ? [2, 4][step % 2] : [1, 3][step % 2]
            try await device.connect.forward(Append(cart: cart, text: "<\(number).\(step)>"))
          }
          if step % 5 == 0 { try second.serve { try $0.update(Cart.self, id: step % 4 + 1) { $0.weight += 1 } } }
        }
        for _ in 0..<2 { for device in devices { try await device.sync.checkpoint() } }
        let carts = try second.served(Cart.self)
        for (number, device) in devices.enumerated() {
          #expect(device.connect.outbox.pending.isEmpty && device.connect.outbox.deadLetters.isEmpty)
          #expect(try device.stored(Cart.self) == carts.filter { $0.owner == number % 2 + 1 })
          for step in 0..<15 {
            #expect(carts.filter { $0.note.contains("<\(number).\(step)>") }.count == 1)
            #expect(carts.map { $0.note.components(separatedBy: "<\(number).\(step)>").count - 1 }.reduce(0, +) == 1)
          }
          try await device.stop()
        }
      }
    }

    @Test("What one server has committed comes to a device that waits at another one")
    func following() async throws {
      try await withServers { first, second in
        try first.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await second.device("a")
        try await device.sync.subscribe("carts").ready()
        try #require(try await eventually { !second.service.live.isIdle })
        try first.serve { try $0.update(Cart.self, id: 1) { $0.note = "there" } }
        #expect(try await eventually { try device.stored(Cart.self).first?.note == "there" })
        try await device.stop()
      }
    }
  }

  private struct ScriptedBase: Transport {
    let answer: @Sendable (TransportRequest) async throws -> TransportResponse
    func send(_ request: TransportRequest) async throws -> TransportResponse { try await answer(request) }
  }
#endif
