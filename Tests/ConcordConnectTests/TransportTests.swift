import FlyingFox
import FlyingSocks
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Sending requests", .serialized)
struct TransportTests {
  /// What is thrown, as text.
  private func thrown(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "nothing"
    } catch let error as TransportError { return "\(error)" } catch is CancellationError {
      return "CancellationError"
    } catch { return "another error: \(error)" }
  }

  @Test("Each new idempotency key is another UUID of version 4, in lower case")
  func keys() {
    let keys = (0..<1_000).map { _ in IdempotencyKey().rawValue }
    #expect(Set(keys).count == keys.count)
    let form = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
    #expect(keys.allSatisfy { $0.wholeMatch(of: form) != nil })
    // Each digit that is not fixed takes each value.
    for index in [0, 7, 12, 17, 21, 35] { #expect(Set(keys.map { Array($0)[index] }).count == 16) }
  }

  @Test("Method, path, query, header fields and body arrive; status, header fields and body come back")
  func roundTrip() async throws {
    try await WebServer.run({ request in
      let body = try await request.bodyData
      return .json(String(decoding: body, as: UTF8.self), ["X-Answer": "yes"], status: .created)
    }) { server in
      let transport = HTTPTransport(baseURL: server.url.appending(path: "api/"), headers: ["Authorization": "Bearer x"])
      let response = try await transport.send(
        TransportRequest(
          "POST", "/books", query: [URLQueryItem(name: "q", value: "a b&c")], headers: ["X-Own": "1"],
          body: Data("[1]".utf8)))
      #expect(response.status == 201 && response.body == Data("[1]".utf8))
      #expect(response.headers["x-answer"] == "yes" && response.headers["X-ANSWER"] == "yes")
      let request = try #require(server.requests.entries.first)
      #expect(request.method == "POST" && request.path == "/api/books?q=a b&c")
      #expect(request.headers["authorization"] == "Bearer x" && request.headers["x-own"] == "1")
    }
  }

  @Test("What a query holds stands escaped in an address, also a plus sign, behind what the base has")
  func query() throws {
    let base = try #require(URL(string: "http://shop.example/api?tenant=a%2Bb"))
    let items = [
      URLQueryItem(name: "cursor", value: "ab+c="), URLQueryItem(name: "a b", value: "1&2/ü"),
      URLQueryItem(name: "flag", value: nil), URLQueryItem(name: "empty", value: ""),
    ]
    let transport = HTTPTransport(baseURL: base)
    #expect(
      try transport.url(.path("/books", query: items)).absoluteString
        == "http://shop.example/api/books?tenant=a%2Bb&cursor=ab%2Bc%3D&a%20b=1%262%2F%C3%BC&flag&empty=")
    let plain = try transport.url(.path("/books", query: []))
    #expect(plain.absoluteString == "http://shop.example/api/books?tenant=a%2Bb")
  }

  @Test("Another status than 2xx is an error with an excerpt, and says how long to wait")
  func status() async throws {
    try await WebServer.run({ request in
      request.path == "/long"
        ? .json(String(repeating: "x", count: 1000), status: .internalServerError)
        : .json("try later", ["Retry-After": "7"], status: .serviceUnavailable)
    }) { server in
      let transport = HTTPTransport(baseURL: server.url)
      let response = try await transport.send(TransportRequest("GET", "/busy"))
      #expect(response.retryAfter == .seconds(7))
      #expect(await thrown { _ = try response.successful() } == "the service answered 503: try later")
      let long = try await transport.send(TransportRequest("GET", "/long"))
      let text = await thrown { _ = try long.successful() }
      #expect(text == "the service answered 500: " + String(repeating: "x", count: 400) + "…")
    }
  }

  @Test("`Retry-After` takes the three forms of dates that HTTP has, and any number of seconds")
  func retryAfterForms() throws {
    func date(_ text: String, year: Int = 2026) -> Double? {
      let now = Date(timeIntervalSince1970: (Double(year) - 1970) * 365.25 * 86_400)
      return HTTPDate.date(text, now: now)?.timeIntervalSince1970
    }
    let wanted = 784_111_777.0
    #expect(date("Sun, 06 Nov 1994 08:49:37 GMT") == wanted)
    #expect(date("Sun Nov  6 08:49:37 1994") == wanted)
    #expect(date("Sunday, 06-Nov-94 08:49:37 GMT") == wanted)
    // Two digits are at most 50 years ahead, and the last such year in the past otherwise.
    #expect(date("Friday, 06-Nov-76 08:49:37 GMT").map { $0 > 3.3e9 } == true)
    #expect(date("Sunday, 06-Nov-77 08:49:37 GMT").map { $0 < 3e8 } == true)
    #expect(date("Friday, 06-Nov-20 08:49:37 GMT", year: 2090).map { $0 > 4.7e9 } == true)
    #expect(date("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
    for wrong in [
      "", "Sun", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Now 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49 GMT", "Sun Nov  6 08:49:37 94", "Sun, 06 Nov 1994 08:49:3७ GMT",
    ] {
      #expect(date(wrong) == nil, "\(wrong)")
    }
    func seconds(_ text: String) -> Duration? {
      TransportResponse(status: 503, headers: ["Retry-After": text]).retryAfter
    }
    #expect(seconds("120") == .seconds(120) && seconds(" 7 ") == .seconds(7))
    let most = try #require(seconds("99999999999999999999999999"))
    #expect(most >= .seconds(Int64.max))
    #expect(seconds("-1") == nil && seconds("+1") == nil && seconds("1.5") == nil && seconds("") == nil)
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = .gmt
    for format in ["EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
      formatter.dateFormat = format
      let wait = try #require(seconds(formatter.string(from: Date(timeIntervalSinceNow: 100))))
      #expect(wait > .seconds(90) && wait <= .seconds(100))
    }
  }

  @Test("A date in `Retry-After` is a time from now; nonsense is none")
  func retryAfter() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    func wait(_ text: String) -> Duration? { TransportResponse(status: 503, headers: ["Retry-After": text]).retryAfter }
    let soon = wait(formatter.string(from: Date().addingTimeInterval(100)))
    #expect(soon.map { $0 > .seconds(95) && $0 <= .seconds(100) } == true)
    #expect(wait(formatter.string(from: Date().addingTimeInterval(-100))) == .zero)
    #expect(wait("soon") == nil && wait("-1") == nil)
    // By the service's clock, if it tells the time.
    let dates: HeaderFields = [
      "Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:48:37 GMT",
    ]
    #expect(TransportResponse(status: 503, headers: dates).retryAfter == .seconds(60))
  }

  @Test("An answer that does not come in time is an error, also if a part of it comes")
  func timeout() async throws {
    try await WebServer.run({ request in
      if request.path == "/slow" { try await Task.sleep(for: .seconds(30)) }
      return .json("[]")
    }) { server in
      let transport = HTTPTransport(baseURL: server.url, timeout: .milliseconds(200))
      let start = ContinuousClock.now
      #expect(
        await thrown { _ = try await transport.send(TransportRequest("GET", "/slow")) }
          == "the service did not answer in time")
      #expect(ContinuousClock.now - start < .seconds(10))
      let fast = try await transport.send(TransportRequest("GET", "/fast"))
      #expect(fast.status == 200)
    }
  }

  @Test("Cancelling the task ends the request at once")
  func cancelling() async throws {
    try await WebServer.run({ _ in
      try await Task.sleep(for: .seconds(30))
      return .json("[]")
    }) { server in
      let transport = HTTPTransport(baseURL: server.url)
      let task = Task { await thrown { _ = try await transport.send(TransportRequest("GET", "/slow")) } }
      let hasArrived = try await eventually { !server.paths.isEmpty }
      #expect(hasArrived)
      let start = ContinuousClock.now
      task.cancel()
      #expect(await task.value == "CancellationError")
      #expect(ContinuousClock.now - start < .seconds(10))
      let late = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await thrown { _ = try await transport.send(TransportRequest("GET", "/never")) }
      }
      #expect(await late.value == "CancellationError")
      #expect(server.paths == ["GET /slow"])
    }
  }

  @Test("A body that is longer than the limit is refused, announced or not", arguments: [true, false])
  func sizeLimit(_ isAnnounced: Bool) async throws {
    try await WebServer.run({ request in
      let count = Int(request.query.first { $0.name == "n" }?.value ?? "") ?? 0
      let data = Data(repeating: 0x20, count: count)
      return isAnnounced
        ? HTTPResponse(statusCode: .ok, body: data)
        : HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: Chunks(data: data)))
    }) { server in
      let transport = HTTPTransport(baseURL: server.url, sizeLimit: 100_000)
      func send(_ count: Int) async throws -> Int {
        try await transport.send(TransportRequest("GET", "/", query: [URLQueryItem(name: "n", value: "\(count)")])).body
          .count
      }
      var count = try await send(100_000)
      #expect(count == 100_000)
      #expect(await thrown { _ = try await send(100_001) } == "the answer is longer than 100000 bytes")
      #expect(await thrown { _ = try await send(5_000_000) } == "the answer is longer than 100000 bytes")
      count = try await send(3)
      #expect(count == 3)
    }
  }

  @Test("A redirect on the same host is followed; one to another host is not, since it would get the credentials")
  func redirects() async throws {
    try await WebServer.run({ request in .json("\"\(request.headers[.authorization] ?? "nobody")\"") }) { other in
      try await WebServer.run({ request in
        func to(_ address: String) -> HTTPResponse {
          .json("", ["Location": address], status: .temporaryRedirect)
        }
        return switch request.path {
        case "/here": to("/there")
        case "/away": to(other.url.absoluteString + "/stolen")
        case "/round": to("/round")
        default: .json("\"\(request.headers[.authorization] ?? "nobody")\"")
        }
      }) { server in
        let transport = HTTPTransport(baseURL: server.url, headers: ["Authorization": "secret"])
        let here = try await transport.send(TransportRequest("GET", "/here"))
        #expect(here.body == Data("\"secret\"".utf8) && here.url?.path() == "/there")
        let away = await thrown { _ = try await transport.send(TransportRequest("GET", "/away")) }
        #expect(away == "the service redirects to \(other.url.origin), which is not given the credentials")
        #expect(other.paths.isEmpty)
        let round = await thrown { _ = try await transport.send(TransportRequest("GET", "/round")) }
        #expect(round == "the service redirects again and again")
        // Without anything to hide it is followed.
        let plain = HTTPTransport(baseURL: server.url)
        #expect(try await plain.send(TransportRequest("GET", "/away")).body == Data("\"nobody\"".utf8))
        // A body is not sent on either.
        let posted = await thrown {
          _ = try await plain.send(TransportRequest("POST", "/away", body: Data("secret".utf8)))
        }
        #expect(posted.contains("is not given the credentials"))
        #expect(other.paths == ["GET /stolen"])
      }
    }
  }

  @Test("A redirect that would make a GET of a request which changes something is not followed")
  func redirectedChange() async throws {
    try await WebServer.run({ request in
      let body = String(decoding: try await request.bodyData, as: UTF8.self)
      return switch request.path {
      case "/moved": .json("", ["Location": "/login"], status: .found)
      case "/kept": .json("", ["Location": "/new"], status: .temporaryRedirect)
      default: .json("\"\(request.method.rawValue) \(body)\"")
      }
    }) { server in
      let transport = HTTPTransport(baseURL: server.url)
      let body = Data("change".utf8)
      let moved = try await transport.send(TransportRequest("POST", "/moved", body: body))
      #expect(moved.status == 302 && server.paths == ["POST /moved"])
      #expect(try await transport.send(TransportRequest("GET", "/moved")).status == 200)
      // The same request, at another place, with its body or not at all.
      let kept = try await transport.send(TransportRequest("PUT", "/kept", body: body))
      #expect(kept.body == Data("\"PUT change\"".utf8) || (kept.status == 307 && !server.paths.contains("PUT /new")))
    }
  }

  @Test("What was done, and has its result elsewhere, is answered with that; no refusal if it cannot be had")
  func seeOther() async throws {
    try await WebServer.run({ request in
      switch request.path {
      case "/done": .json("", ["Location": "/result"], status: .seeOther)
      case "/lost": .json("", ["Location": "/nowhere"], status: .seeOther)
      case "/away": .json("", ["Location": "http://127.0.0.1:1/result"], status: .seeOther)
      case "/round": .json("", ["Location": "/round"], status: .seeOther)
      case "/result": .json("\"\(request.method.rawValue)\"")
      default: .json("", status: .notFound)
      }
    }) { server in
      let transport = HTTPTransport(baseURL: server.url)
      let body = Data("change".utf8)
      let done = try await transport.send(TransportRequest("POST", "/done", body: body))
      #expect(done.status == 200 && done.body == Data("\"GET\"".utf8))
      let lost = try await transport.send(TransportRequest("POST", "/lost", body: body))
      #expect(lost.status == 303 && server.paths.suffix(2) == ["POST /lost", "GET /nowhere"])
      // The result is not to get the credentials, or is never there.
      for path in ["/away", "/round"] {
        #expect(try await transport.send(TransportRequest("POST", path, body: body)).status == 303)
      }
      // One that only reads has no result but this one.
      #expect(try await transport.send(TransportRequest("GET", "/lost")).status == 404)
    }
  }

  @Test("An address on another host, a path that leads elsewhere and a field with a line break are refused")
  func invalid() async throws {
    try await WebServer.run({ _ in .json("[]") }) { server in
      let transport = HTTPTransport(baseURL: server.url.appending(path: "api"), headers: ["Authorization": "secret"])
      let elsewhere = try #require(URL(string: "http://example.com/books"))
      let requests = [
        TransportRequest("GET", at: elsewhere), TransportRequest("GET", "/../admin"),
        TransportRequest("GET", "/a/%2E%2e/b"), TransportRequest("GET", "/a b"), TransportRequest("GET", "/a?b"),
        TransportRequest("GET", "/a%zz"), TransportRequest("GET", "/%ff"), TransportRequest("GET", "/ü"),
        TransportRequest("GET", "/", headers: ["X-Own": "a\r\nX-Other: b"]),
      ]
      for request in requests {
        let text = await thrown { _ = try await transport.send(request) }
        #expect(text.hasPrefix("the request is not valid"), "\(request): \(text)")
      }
      #expect(server.paths.isEmpty)
    }
  }

  @Test("A service that is not there is an error that says so")
  func unreachable() async throws {
    let url = try await WebServer.run({ _ in .json("[]") }) { $0.url }
    let transport = HTTPTransport(baseURL: url)
    let text = await thrown { _ = try await transport.send(TransportRequest("GET", "/")) }
    #expect(text.hasPrefix("the service cannot be reached"))
  }

  @Test(
    "An answer that is no HTTP is no fault of the request, which may be sent again",
    arguments: ["", "\0garbage\r\n\r\n", "<html>welcome to our network</html>", "HTTP/1.1 99999 Odd\r\n\r\n"])
  func garbage(_ answer: String) async throws {
    let socket = try Socket(domain: AF_INET)
    try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
    try socket.listen()
    guard case .ip4(_, let port) = try socket.sockname() else { throw Failure(text: "no port") }
    Thread.detachNewThread {
      guard let accepted = try? Socket(file: socket.accept().file) else { return }
      _ = try? accepted.read(atMost: 1000)
      _ = try? accepted.write(Data(answer.utf8))
      try? accepted.close()
    }
    let transport = HTTPTransport(baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")))
    let text = await thrown { _ = try await transport.send(TransportRequest("POST", "/")) }
    #expect(text.hasPrefix("the service cannot be reached"), "\(text)")
    try socket.close()
  }

  @Test("100 requests at once, of which half are cancelled, each end once")
  func many() async throws {
    try await WebServer.run({ request in
      try await Task.sleep(for: .milliseconds(5))
      return .json("\"\(request.path)\"")
    }) { server in
      let transport = HTTPTransport(baseURL: server.url)
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<100 {
          group.addTask {
            let task = Task { try await transport.send(TransportRequest("GET", "/\(index)")).body }
            if index % 2 == 0 { task.cancel() }
            let body = try? await task.value
            #expect(body == Data("\"/\(index)\"".utf8) || index % 2 == 0)
          }
        }
      }
    }
  }
}

/// A body whose length is not told.
private struct Chunks: AsyncBufferedSequence {
  typealias Element = UInt8
  let data: Data

  func makeAsyncIterator() -> Iterator { Iterator(rest: data[...]) }

  struct Iterator: AsyncBufferedIteratorProtocol {
    var rest: Data.SubSequence
    mutating func next() async throws -> UInt8? { rest.popFirst() }
    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
      let part = rest.prefix(count)
      rest = rest.dropFirst(count)
      return part.isEmpty ? nil : Array(part)
    }
  }
}
