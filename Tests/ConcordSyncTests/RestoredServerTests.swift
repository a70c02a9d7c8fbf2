#if Server
  import ConcordServer
  import Foundation
  import Testing

  @testable import ConcordSync

  /// Servers whose store was put back to an earlier state, and has gone on from there.
  @Suite(.timeLimit(.minutes(2)))
  struct RestoredServerTests {
    @Test("A page tells an action of a device also if the server had counted as many before it was restored")
    func counts() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let transport = world.service.transport(as: User(id: 1))
        func append(_ key: String) async throws {
          let message = ActionMessage(
            device: "d", key: key, name: Append.name, body: .object(["cart": .integer(1), "text": .text(key)]),
            refusals: 0, since: 0)
          let answer = try await transport.send(TransportRequest("POST", "actions", body: Data(message.wire.bytes)))
          #expect(try ActionDecision(WireValue(parsing: answer.body)) == .accepted)
        }
        func page(after earlier: Page?) async throws -> Page {
          let request = PageRequest(
            device: "d", position: earlier?.position, user: earlier?.user, actions: earlier?.actions ?? 0, awaited: [],
            subscriptions: [
              .init(name: "carts", parameters: [:], known: earlier?.subscriptions.first?.condition)
            ], wait: 0)
          let answer = try await transport.send(TransportRequest("POST", "pages", body: Data(request.wire.bytes)))
          return try Page(parsing: answer.body, world.container.model)
        }
        try await append("k1")
        let first = try await page(after: nil)
        #expect(first.keys == ["k1"] && first.actions == 1)
        // As a copy from before the action.
        try world.write("DELETE FROM concord_notes WHERE space <> 'sync.server'")
        try world.write("UPDATE concord_feed SET epoch = epoch + 1")
        try await append("k2")
        let second = try await page(after: first)
        #expect(second.keys == ["k2"] && second.actions == 1)
        #expect(try await page(after: second).keys.isEmpty)
      }
    }
  }
#endif
