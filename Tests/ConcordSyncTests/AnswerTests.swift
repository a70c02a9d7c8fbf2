#if Server
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  /// What a device tells people of answers that are no success.
  @Suite(.timeLimit(.minutes(2)))
  struct AnswerTests {
    @Test("A device whose requests are one too many for the server says that a limit is the reason")
    func limit() async throws {
      var limits = SyncLimits()
      limits.requests = 0
      try await withWorld(limits: limits) { world in
        let device = try await world.device("a")
        device.sync.subscribe("books")
        #expect(
          try await eventually { device.sync.status == .offline(.limited("the server has too many requests")) },
          "\(device.sync.status)")
        try await device.stop()
      }
    }

    @Test("What people read is the server's sentence, and what other programs answer is read as it is")
    func sentences() async throws {
      let answers: [(status: Int, body: String, reason: SyncOfflineReason)] = [
        (
          503, #"{"error":"the server cannot answer now"}"#,
          .unreachable("the service answered 503: the server cannot answer now")
        ),
        (
          503, #"{"error":"the server has too many requests","limit":"requests"}"#,
          .limited("the server has too many requests")
        ),
        (429, #"{"error":"the user asks too often","limit":"rate"}"#, .limited("the user asks too often")),
        (429, "enough", .limited("enough")),
        (
          426, #"{"error":"the server speaks version 2 of the wire format"}"#,
          .upgradeRequired("the server speaks version 2 of the wire format")
        ),
        (503, "<p>busy</p>", .unreachable("the service answered 503: <p>busy</p>")),
        (503, #"{"error":5}"#, .unreachable(#"the service answered 503: {"error":5}"#)),
        (503, #"{"limit":"requests"}"#, .unreachable(#"the service answered 503: {"limit":"requests"}"#)),
        (502, "", .unreachable("the service answered 502")),
      ]
      try await withWorld { world in
        let device = try await world.device("a", network: Network { _ in .lost })
        device.sync.subscribe("books")
        for (status, body, reason) in answers {
          device.network.set { _ in .answer(status, body) }
          #expect(
            try await eventually { device.sync.status == .offline(reason) }, "\(reason), and not \(device.sync.status)")
        }
        try await device.stop()
      }
    }

    @Test("The reason of a dead letter is the server's sentence")
    func deadLetter() async throws {
      var limits = SyncLimits()
      limits.requestSize = 2000
      try await withWorld(limits: limits) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Append(cart: 1, text: String(repeating: "x", count: 3000)))
        try await device.sync.checkpoint()
        #expect(
          device.connect.outbox.deadLetters.map(\.reason) == [
            "the service answered 413: a request has at most 2000 bytes"
          ])
        try await device.stop()
      }
    }

    @Test("An action that waits says why in the server's sentence")
    func delayed() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        let events = device.connect.outbox.events
        device.network.set { request in
          request.isForPages ? .pass : .answer(426, #"{"error":"the server speaks version 2 of the wire format"}"#)
        }
        try await device.connect.forward(Append(cart: 1, text: "x"))
        for await case .delayed(_, let error, _) in events {
          #expect(
            "\(error)"
              == "the service cannot be reached: the server answered 426: the server speaks version 2 of the wire format"
          )
          break
        }
        device.network.set { _ in .pass }
        try await device.sync.checkpoint()
        #expect(try device.stored(Cart.self).map(\.note) == ["x"])
        try await device.stop()
      }
    }
  }
#endif
