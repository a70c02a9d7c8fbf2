#if Inspector
  import Concord
  import ConcordInspector
  import Foundation
  import Testing

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @Suite("The inspector's server")
  struct ServerTests {
    @Test("The page is served on the loopback interface, to those who know the token")
    func token() async throws {
      let store = EntityStore(delivery: .immediate)
      try await inspecting(store) { client, inspector in
        #expect(inspector.url.host() == "127.0.0.1")
        let token = inspector.url.lastPathComponent
        #expect(token.count == 32)
        let page = try await client.get("")
        #expect(page.status == 200)
        #expect(page.text.hasPrefix("<!doctype html>"))
        let root = try #require(URL(string: "/", relativeTo: inspector.url)).absoluteURL
        let others = ["00000000000000000000000000000000/", "\(token.dropLast())/", "\(token)0/api/overview"]
        for path in ["", "api/overview"] + others {
          #expect(try await Client(url: root).get(path).status == 404, "\(path)")
        }
      }
    }

    @Test("Nobody reaches the page through another address of the machine")
    func loopback() async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { client, inspector in
        #expect(try await client.get("").status == 200)
        let port = try #require(inspector.url.port)
        let own = Host.current().addresses.filter { $0.contains(".") && !$0.hasPrefix("127.") }
        for address in ["127.0.0.2"] + own {
          let other = try #require(URL(string: "http://\(address):\(port)/"))
          var request = URLRequest(url: other)
          request.timeoutInterval = 5
          await #expect(throws: URLError.self, "\(address)") { try await client.send(request) }
        }
      }
    }

    @Test("The address of the page is printed to the standard error")
    func printed() async throws {
      let saved = dup(2)
      let pipe = Pipe()
      try #require(saved >= 0 && dup2(pipe.fileHandleForWriting.fileDescriptor, 2) == 2)
      let inspector = try? await EntityStore(delivery: .immediate).inspect()
      dup2(saved, 2)
      close(saved)
      try pipe.fileHandleForWriting.close()
      let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      let url = try #require(inspector?.url)
      #expect(text.split(separator: "\n").contains("inspect \(url)"))
      await inspector?.stop()
    }

    @Test("Two inspectors have two tokens, and a store has one inspector at a time")
    func several() async throws {
      let store = EntityStore(delivery: .immediate)
      try await inspecting(store) { _, first in
        await #expect(throws: InspectorError.alreadyInspected) { try await store.inspect() }
        try await inspecting(EntityStore(delivery: .immediate)) { _, second in
          #expect(first.url.lastPathComponent != second.url.lastPathComponent)
        }
      }
      // When it has ended, there may be another.
      try await inspecting(store) { client, _ in
        let page = try await client.get("")
        #expect(page.status == 200)
      }
    }

    @Test("A port that is taken is told")
    func port() async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { _, first in
        let port = try #require(first.url.port.flatMap { UInt16(exactly: $0) })
        let store = EntityStore(delivery: .immediate)
        let error = await #expect(throws: InspectorError.self) { try await store.inspect(port: port) }
        #expect(error?.description.contains("port \(port)") ?? false)
        // It is not attached then.
        try await inspecting(store) { client, _ in
          let page = try await client.get("")
          #expect(page.status == 200)
        }
      }
    }

    @Test("The page is served at port 80, too, where that may be had")
    func usualPort() async throws {
      guard let inspector = try? await EntityStore(delivery: .immediate).inspect(port: 80) else { return }
      #expect(try await Client(url: inspector.url).get("").status == 200)
      await inspector.stop()
    }

    @Test("An inspector that nobody waits for any longer leaves no server behind")
    func cancelled() async throws {
      var port = UInt16(0)
      try await inspecting(EntityStore(delivery: .immediate)) { _, first in
        port = try #require(first.url.port.flatMap { UInt16(exactly: $0) })
      }
      let (store, free) = (EntityStore(delivery: .immediate), port)
      let attempt = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await store.inspect(port: free)
      }
      let error = await #expect(throws: InspectorError.self) { try await attempt.value }
      #expect(error?.description.contains("cancelled") ?? false)
      // Neither the store nor the port is taken.
      let inspector = try await store.inspect(port: free)
      #expect(try await Client(url: inspector.url).get("").status == 200)
      await inspector.stop()
    }

    @Test("A standard error that takes nothing is no reason to end the program")
    func standardError() async throws {
      let saved = dup(2)
      let closed = open("/dev/null", O_RDONLY)
      try #require(saved >= 0 && closed >= 0 && dup2(closed, 2) == 2)
      let inspector = try? await EntityStore(delivery: .immediate).inspect()
      dup2(saved, 2)
      close(saved)
      close(closed)
      #expect(inspector != nil)
      await inspector?.stop()
    }

    @Test("After its end nothing is served, also if it was only released")
    func end() async throws {
      let store = EntityStore(delivery: .immediate)
      let inspector = try await store.inspect()
      let client = Client(url: inspector.url)
      #expect(try await client.get("").status == 200)
      await inspector.stop()
      await #expect(throws: URLError.self) { try await client.get("") }

      var released: Inspector? = try await store.inspect()
      let other = Client(url: try #require(released).url)
      #expect(try await other.get("").status == 200)
      released = nil
      for _ in 0..<1_000 where (try? await other.get("")) != nil { try await Task.sleep(for: .milliseconds(20)) }
      await #expect(throws: URLError.self) { try await other.get("") }
    }

    @Test(
      "A bad request gets a status and a reason",
      arguments: [
        ("nothing", 404), ("api/nothing", 404), ("api/entities", 400), ("api/entities?type=None", 404),
        ("api/entities?type=None&offset=-1", 400), ("api/entities?type=None&limit=x", 400),
        ("api/entities?type=None&offset=99999999999999999999", 400), ("api/entity?type=Book", 400),
        ("api/entity?type=%FF%FE&id=%00", 404), ("api/transaction?number=9", 404), ("api/transaction?number=-1", 400),
        ("api/overview?at=7", 410), ("api/overview?at=", 400), ("api/part?number=0", 404), ("api/part?number=x", 400),
        ("../../etc/passwd", 404), ("%2e%2e/api/overview", 404),
      ])
    func badRequests(path: String, status: Int) async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { client, _ in
        let answer = try await client.send(URLRequest(url: try #require(URL(string: client.url.absoluteString + path))))
        #expect(answer.status == status, "\(answer.text)")
        if status != 404 { #expect(!answer.text.isEmpty) }
      }
    }

    @Test("A command is refused that no page of the inspector has sent")
    func commands() async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { client, _ in
        let everything = #"{"everything":true}"#
        let answer = try await client.post("api/recording", everything)
        #expect(answer.json["recordsEverything"].bool)
        let cases: [(Int, String, String, [String: String])] = [
          (415, everything, "text/plain", [:]), (400, "{", "application/json", [:]),
          (400, #"{"everything":1}"#, "application/json", [:]),
          (403, everything, "application/json", ["Origin": "http://example.org"]),
          (403, everything, "application/json", ["Origin": "null"]),
          (403, everything, "application/json", ["Sec-Fetch-Site": "cross-site"]),
          (413, String(repeating: " ", count: 5_000), "application/json", [:]),
        ]
        for (status, body, type, headers) in cases {
          #expect(try await client.post("api/recording", body, type: type, headers: headers).status == status)
        }
        var request = URLRequest(url: client.url)
        request.httpMethod = "DELETE"
        #expect(try await client.send(request).status == 405)
        #expect(try await client.post("api/perform", #"{"part":0,"action":"Drop","row":"x"}"#).status == 404)
      }
    }

    @Test("What has not changed is answered with the same bytes, so that the page is not drawn anew")
    func sameBytes() async throws {
      let store = EntityStore(delivery: .immediate)
      let kept = store.store(emma)
      try await inspecting(store) { client, _ in
        let key = try await client.key("Book")
        let first = try await client.get("api/entity", ["type": key, "id": "1"]).data
        for _ in 0..<10 {
          #expect(try await client.get("api/entity", ["type": key, "id": "1"]).data == first)
        }
      }
      withExtendedLifetime(kept) {}
    }

    @Test("A page of elsewhere can neither show this one nor read it, and this one loads nothing")
    func headers() async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { client, _ in
        let page = try await client.get("")
        let policy = try #require(page.headers["Content-Security-Policy"] as? String)
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe-inline"))
        #expect(page.headers["Referrer-Policy"] as? String == "no-referrer")
        // Nothing of it is from elsewhere.
        #expect(!page.text.contains("http://") && !page.text.contains("https://") && !page.text.contains("//cdn"))
        #expect(!page.text.contains("innerHTML"))
      }
    }
  }
#endif
