#if Server && os(Linux)
  import ConcordServer
  import Foundation
  import HTTPTypes
  import MetricsTestKit
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// What requests that are larger than they need to be cost the server.
  @Suite(.timeLimit(.minutes(2)))
  struct LargeRequestTests {
    private static let user = User(id: 1)

    private func text(_ response: TransportResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    /// A request that waits, with members that nobody knows, and keys that the server does not look for.
    private static func waiting(_ device: String) -> [UInt8] {
      let request = PageRequest(
        device: device, position: nil, user: nil, actions: 0, awaited: (0..<10_000).map { "\($0)" }, subscriptions: [],
        wait: 30)
      let more = ",\"more\":[" + String(repeating: "[0],", count: 30_000) + "[0]]}"
      return request.wire.bytes.dropLast() + Array(more.utf8)
    }

    @Test("A request that waits keeps no more than it is about")
    func waiting() async throws {
      let metrics = TestMetrics()
      try await withWorld(metrics: metrics) { world in
        let service = world.service
        func isWaiting(_ count: Int) async throws -> Bool {
          try await eventually {
            try metrics.expectGauge("concord_sync_waiting_devices").lastValue == Double(count)
          }
        }
        func ask(_ number: Int) -> Task<Answer, Never> {
          Task { await service.answer(.pages, for: Self.user) { Self.waiting("d\(number)") } }
        }
        // The first one makes what all use.
        var tasks = [ask(0)]
        try #require(try await isWaiting(1))
        let before = heapInUse()
        tasks += (1...90).map(ask)
        try #require(try await isWaiting(91))
        let bytes = (heapInUse() - before) / 90
        // A sanitizer's allocator cannot be asked.
        #expect(before == 0 || bytes < 50_000, "\(bytes) bytes each")
        for number in 0...90 { service.live.replace(DeviceName(user: "1", device: "d\(number)")) }
        for task in tasks { #expect(await task.value.status == .ok) }
      }
    }

    @Test("A request for a page is limited by itself")
    func size() async throws {
      var limits = SyncLimits()
      limits.pageRequestSize = 1000
      try await withWorld(limits: limits) { world in
        for (size, status) in [(0, 200), (1000, 413)] {
          let request = PageRequest(
            device: "d", position: String(repeating: "x", count: size), user: nil, actions: 0, awaited: [],
            subscriptions: [], wait: 0)
          let message = TransportRequest("POST", "pages", body: Data(request.wire.bytes))
          let response = try await world.service.transport(as: Self.user).send(message)
          #expect(response.status == status && (status == 200 || text(response).contains("at most 1000 bytes")))
        }
      }
    }

    private func sending(_ name: String, _ key: String) -> TransportRequest {
      let message = ActionMessage(
        device: "d", key: key, name: name, body: .object(["book": .integer(1), "title": .text("x")]), refusals: 0,
        since: 0)
      return TransportRequest("POST", "actions", body: Data(message.wire.bytes))
    }

    @Test("The reason of a refusal has a length, whatever the name of the action, or the error of a rule")
    func reasons() async throws {
      struct Failure: Error, CustomStringConvertible {
        // One character.
        var description: String { "why" + String(repeating: "\u{301}", count: 500_000) }
      }
      try await withWorld { world in
        try world.serve { $0.insert(Book(id: 1, title: "A")) }
        world.service.allow(Rename.self) { _, _ in throw Failure() }
        let names = ["a" + String(repeating: "\u{301}", count: 100_000), Rename.name]
        for (index, name) in names.enumerated() {
          // The second answer is the noted one.
          for _ in 0..<2 {
            let response = try await world.service.transport(as: Self.user).send(sending(name, "k\(index)"))
            let reason = try WireValue(parsing: response.body)["reason"].text()
            #expect(response.status == 200 && (3...1000).contains(reason.utf8.count), "\(reason.utf8.count) bytes")
          }
        }
        world.service.publish("failing", of: Book.self) { _, _ in throw Failure() }
        let error = StoreError.danglingReference(entity: "Group", id: "77")
        world.service.publish("dangling", of: Book.self) { _, _ in throw error }
        for name in ["failing", "dangling"] {
          let request = PageRequest(
            device: "d", position: nil, user: nil, actions: 0, awaited: [],
            subscriptions: [.init(name: name, parameters: [:], known: nil)], wait: 0)
          let message = TransportRequest("POST", "pages", body: Data(request.wire.bytes))
          let response = try await world.service.transport(as: Self.user).send(message)
          let text = text(response)
          #expect(response.status == 200 && text.utf8.count < 2000 && text.contains("refused"), "\(name)")
          #expect(text.contains("\"refused\":\"" + (name == "failing" ? "wh" : "it cannot be served")))
          #expect(!text.contains("Group") && !text.contains("dangling"))
        }
      }
    }

    @Test("What is told ends at a character's scalar", arguments: 0...8)
    func cut(_ count: Int) {
      let text = "aé€😀"
      let found = told(text, bytes: count)
      #expect((count - 3...count).contains(found.utf8.count) && text.utf8.starts(with: found.utf8), "\(found)")
      #expect(told(text, bytes: 10) == text)
    }
  }
#endif
