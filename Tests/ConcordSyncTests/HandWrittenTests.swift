#if Server
  import Concord
  import Foundation
  import Testing

  @testable import ConcordSync

  /// Requests of clients that somebody has written himself, from the description of the wire.
  @Suite(.timeLimit(.minutes(2)))
  struct HandWrittenTests {
    private static let page = """
      {"version": 1, "device": "d", "position": null, "user": null, "actions": 0, "awaited": [], "wait": 0,
       "subscriptions": [{"name": "heavy", "parameters": {"least": 0}, "known": null}]}
      """
    private static let action = """
      {"version": 1, "device": "d", "key": "k", "name": "append", "action": {"cart": 1, "text": "x"}, "refusals": 0,
       "since": 0, "sinceRefused": 0, "user": "1"}
      """

    /// Sends a message, and returns the status and the reason of an error, or the body.
    private func answer(_ path: String, _ body: String, to world: World) async throws -> (status: Int, text: String) {
      let response = try await HTTPTransport(baseURL: world.url).send(
        TransportRequest("POST", path, headers: ["Authorization": "Bearer user-1"], body: Data(body.utf8)))
      let text = String(decoding: response.body, as: UTF8.self)
      if response.status == 200 { return (200, text) }
      return (response.status, try WireValue(parsing: response.body)["error"].text())
    }

    /// A message in which a member has another value; `nil` leaves it out.
    private func changed(_ message: String, _ name: String, to value: String?) throws -> String {
      var members = try WireValue(parsing: message.utf8).object()
      members[name] = nil
      var text = WireValue.object(members).json
      if let value { text.replaceSubrange(text.startIndex...text.startIndex, with: "{\"\(name)\":\(value),") }
      return text
    }

    @Test("What is no message of the format is refused as such, and another version as another version")
    func versions() async throws {
      try await withWorld { world in
        for (path, message) in [("pages", Self.page), ("actions", Self.action)] {
          for body in ["", "[]", "{}", "1", "null", #""x""#] {
            #expect(try await answer(path, body, to: world).status == 400, "\(path) \(body)")
          }
          for version in [nil, #""1""#, "null", "[1]", "true"] {
            let (status, text) = try await answer(path, changed(message, "version", to: version), to: world)
            #expect(status == 400 && text.contains("'version'"), "\(path) \(version ?? "") \(status) \(text)")
          }
          for version in ["2", "0", "-1", "1.5"] {
            let (status, text) = try await answer(path, changed(message, "version", to: version), to: world)
            #expect(
              status == 426 && text == "the server speaks version 1 of the wire format", "\(path) \(version) \(text)")
          }
        }
      }
    }

    @Test("A member that is missing, or has another form, is named")
    func members() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        func refuse(_ path: String, _ message: String, _ name: String, _ values: [String?]) async throws {
          for value in values {
            let (status, text) = try await answer(path, changed(message, name, to: value), to: world)
            #expect(status == 400 && text.contains("'\(name)'"), "\(path) \(name) \(value ?? "") \(status) \(text)")
          }
        }
        try await refuse("pages", Self.page, "device", [nil, "5", "null"])
        try await refuse("pages", Self.page, "position", ["5", "[]"])
        try await refuse("pages", Self.page, "user", ["5"])
        try await refuse("pages", Self.page, "actions", [nil, "-5", "1.5", #""3""#, "12345678901234567890"])
        try await refuse("pages", Self.page, "awaited", [nil, "5", "[1]"])
        try await refuse("pages", Self.page, "wait", [nil, "null", #""25""#, #""inf""#, "-1", "1e999"])
        try await refuse("pages", Self.page, "subscriptions", [nil, #""x""#])
        for (name, subscription) in [
          ("name", #"{"parameters": {}}"#), ("parameters", #"{"name": "carts"}"#),
          ("parameters", #"{"name": "carts", "parameters": []}"#),
          ("known", #"{"name": "carts", "parameters": {}, "known": 5}"#),
        ] {
          let (status, text) = try await answer(
            "pages", changed(Self.page, "subscriptions", to: "[\(subscription)]"), to: world)
          #expect(status == 400 && text.contains("'\(name)'"), "\(subscription) \(status) \(text)")
        }
        try await refuse("actions", Self.action, "device", [nil, "5"])
        try await refuse("actions", Self.action, "key", [nil, "5"])
        try await refuse("actions", Self.action, "name", [nil, "5"])
        try await refuse("actions", Self.action, "refusals", [nil, "-1", #""0""#])
        try await refuse("actions", Self.action, "since", ["-1", #""0""#])
        try await refuse("actions", Self.action, "sinceRefused", ["-1", #""0""#])
        try await refuse("actions", Self.action, "user", ["5"])
        // Clients of earlier releases send no such members, and later ones further members.
        for name in ["position", "user"] {
          #expect(try await answer("pages", changed(Self.page, name, to: nil), to: world).status == 200)
        }
        for name in ["since", "sinceRefused", "user"] {
          #expect(try await answer("actions", changed(Self.action, name, to: nil), to: world).status == 200)
        }
        #expect(try await answer("pages", changed(Self.page, "further", to: "[1]"), to: world).status == 200)
        #expect(try await answer("pages", changed(Self.page, "wait", to: "1e-3"), to: world).status == 200)
      }
    }

    @Test("A parameter of another form is named, and numbers that JSON does not have are texts")
    func parameters() async throws {
      try await withWorld { world in
        try world.serve { context in
          context.insert(Cart(id: 1, owner: 1, weight: 2))
          context.insert(Cart(id: 2, owner: 1, weight: .infinity))
        }
        func asked(_ value: String) async throws -> (status: Int, text: String) {
          let subscription = #"[{"name": "heavy", "parameters": {"least": \#(value)}, "known": null}]"#
          return try await answer("pages", changed(Self.page, "subscriptions", to: subscription), to: world)
        }
        for value in [
          #"{"number": "1"}"#, #"{"number": "1e999"}"#, #"{"number": "Infinity"}"#, #"{"number": null}"#,
          #"{"date": "1"}"#, #"{"date": true}"#, "null", "[1]", "1.5", "{}", #"{"number": 1, "date": 1}"#,
          "12345678901234567890",
        ] {
          let (status, text) = try await asked(value)
          #expect(status == 400 && text.contains("'least'"), "\(value) \(status) \(text)")
        }
        for (value, keys) in [
          ("1", "[1,2]"), (#"{"number": 2.5}"#, "[2]"), (#"{"number": "inf"}"#, "[2]"),
          (#"{"number": "-inf"}"#, "[1,2]"),
        ] {
          let (status, text) = try await asked(value)
          #expect(status == 200 && text.contains(#"{"enter":[0,\#(keys)]}"#), "\(value) \(status) \(text)")
        }
        #expect(try await asked(#"{"number": "nan"}"#).status == 200)
        // A publication never gets a date that cannot be printed.
        #expect(try await asked(#"{"date": "nan"}"#).text.contains(#""refused":"the parameter 'least' is no date""#))
        // It is served, as far as the form goes: the publication wants a number.
        #expect(try await asked(#"{"date": "inf"}"#).text.contains(#""refused":"the parameter 'least' is missing""#))
      }
    }

    @Test("Numbers that JSON does not have, NaN and -0.0 come to a device as they are stored", arguments: Kind.allCases)
    func numbers(_ kind: Kind) async throws {
      let weights: [(weight: Double, wire: String)] = [
        (.infinity, #"{"real":"inf"}"#), (-.infinity, #"{"real":"-inf"}"#), (.nan, #"{"bytes":"f/gAAAAAAAA="}"#),
        (-0.0, #"{"bytes":"gAAAAAAAAAA="}"#), (0.0, #"{"real":0.0}"#), (1.5, #"{"real":1.5}"#),
      ]
      try await withWorld(kind) { world in
        try world.serve { context in
          for (index, (weight, _)) in weights.enumerated() {
            context.insert(Cart(id: index, owner: 1, weight: weight, lines: [Line(id: "l\(index)", text: "x")]))
          }
        }
        let subscription = #"[{"name": "with-book", "parameters": {"title": "x"}, "known": null}]"#
        let page = try await answer("pages", changed(Self.page, "subscriptions", to: subscription), to: world)
        for (index, (_, wire)) in weights.enumerated() {
          let line = try #require(
            page.text.split(separator: "\n").first { $0.hasPrefix(#"{"row":["Cart",\#(index),"#) })
          #expect(line.contains(#"[\#(index),1,"",\#(wire),"#), "\(line)")
        }
        let device = try await world.device("a")
        try await device.sync.subscribe("with-book", ["title": "x"]).ready()
        #expect(
          try device.stored(Cart.self).map(\.weight.bitPattern) == weights.map(\.weight.bitPattern))
        try await device.stop()
      }
    }

    @Test("What is below the path and is no route is answered by the router")
    func otherPaths() async throws {
      try await withWorld { world in
        let transport = HTTPTransport(baseURL: world.url)
        for (method, path) in [
          ("GET", "nothing"), ("POST", "nothing"), ("GET", "pages"), ("PUT", "actions"), ("GET", ""),
        ] {
          let response = try await transport.send(
            TransportRequest(method, path, headers: ["Authorization": "Bearer user-1"]))
          #expect(response.status == 404 && response.body.isEmpty, "\(method) \(path)")
        }
      }
    }

    #if os(Linux)
      @Test("A body whose chunks are none is a request that is no message")
      func chunks() async throws {
        try await withWorld { world in
          let socket = try #require(HostileProxy.connection(to: world.url.port ?? 0))
          defer { close(socket) }
          let head = """
            POST /sync/pages HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer user-1\r
            Transfer-Encoding: chunked\r
            \r
            zz\r

            """
          let bytes = Array(head.utf8)
          #expect(bytes.withUnsafeBytes { send(socket, $0.baseAddress, bytes.count, 0) } == bytes.count)
          var (answer, buffer) = ("", [UInt8](repeating: 0, count: 4096))
          while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count <= 0 { break }
            answer += String(decoding: buffer.prefix(count), as: UTF8.self)
            if answer.contains("}") { break }
          }
          #expect(answer.hasPrefix("HTTP/1.1 400") && !answer.contains("bytes"), "\(answer)")
        }
      }
    #endif
  }
#endif
