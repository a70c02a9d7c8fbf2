#if Server
  import ConcordServer
  import Foundation
  import Hummingbird
  import NIOCore
  import Testing

  @testable import ConcordServer
  @testable import ConcordSync

  /// Clients that do not read what they have asked for.
  @Suite(.timeLimit(.minutes(2)))
  struct SlowReaderTests {
    /// A connection that takes nothing.
    private struct FullConnection: ResponseBodyWriter {
      let hasBegun: Kept<Bool>
      mutating func write(_ buffer: ByteBuffer) async throws {
        hasBegun.withLock { $0 = true }
        try await Task.sleep(for: .seconds(3600))
      }
      consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    @Test(
      "An answer is counted until its connection has taken it, and not for longer than that may take",
      arguments: [4096, 50_000, 200_000])
    func counted(_ size: Int) async throws {
      var limits = SyncLimits()
      limits.readTime = .milliseconds(300)
      try await withWorld(.memory, limits: limits) { (world: World) async throws -> Void in
        let service = world.service
        let hasBegun = Kept(false)
        @Sendable func body() throws -> ResponseBody {
          var answer = Answer([UInt8](repeating: 0x20, count: size))
          answer.request = try service.requests.begin("1")
          answer.unread = service.unread.add(size, of: "1")
          return service.body(answer)
        }
        let writing = Task { try await body().write(FullConnection(hasBegun: hasBegun)) }
        #expect(try await eventually { hasBegun.withLock { $0 } })
        #expect(service.requests.count == 1 && service.unread.count(of: "1") == size)
        await #expect(throws: (any Error).self) { try await writing.value }
        #expect(try await eventually { service.requests.count == 0 && service.unread.count(of: "1") == 0 })
      }
    }

    #if os(Linux)
      @Test(
        "A client that does not read its answers is cut, however short each of them is",
        arguments: [(1, 150, 200_000), (700, 1, 50_000)])
      func slowReader(requests: Int, carts: Int, length: Int) async throws {
        var limits = SyncLimits()
        limits.readTime = .milliseconds(300)
        try await withWorld(limits: limits) { (world: World) async throws -> Void in
          let note = String(repeating: "0123456789", count: length / 10)
          try world.serve { context in
            for id in 1...carts { context.insert(Cart(id: id, owner: 1, note: note)) }
          }
          let body = PageRequest(
            device: "d", position: nil, user: nil, actions: 0, awaited: [],
            subscriptions: [.init(name: "carts", parameters: [:], known: nil)], wait: 0
          ).wire.bytes
          let socket = try #require(HostileProxy.connection(to: world.url.port ?? 0))
          defer { close(socket) }
          let head = """
            POST /sync/pages HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer user-1\r
            Content-Length: \(body.count)\r
            \r

            """
          let sent = Array(repeating: Array(head.utf8) + body, count: requests).flatMap { $0 }
          #expect(sent.withUnsafeBytes { send(socket, $0.baseAddress, sent.count, 0) } == sent.count)
          if requests == 1 {
            #expect(try await eventually { world.service.requests.count == 1 })
            // While the server waits for the client, the request is in progress.
            #expect(try await eventually { world.service.requests.count == 0 })
          } else {
            // The server closes a connection on which requests wait that it has not read.
            #expect(try await eventually { isCut(socket) })
            #expect(
              try await eventually { world.service.requests.count == 0 && world.service.unread.count(of: "1") == 0 })
          }
          #expect(bytes(from: socket) < requests * carts * length)
          // Who reads gets all.
          let all = try await HTTPTransport(baseURL: world.url, timeout: .seconds(20), sizeLimit: 64_000_000).send(
            TransportRequest("POST", "pages", headers: ["Authorization": "Bearer user-1"], body: Data(body)))
          #expect(all.status == 200 && all.body.count > carts * length)
        }
      }

      @Test("A connection that takes no more is closed, whoever has answered, and whatever waits for it")
      func fullConnection() async throws {
        var limits = SyncLimits()
        limits.readTime = .milliseconds(300)
        try await withWorld(limits: limits) { (world: World) async throws -> Void in
          let router = Router()
          // More than what the system takes of an answer that nobody reads.
          let size = 100_000_000
          router.get("large") { _, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: size)))
          }
          world.service.addRoutes(to: router, path: "sync")
          try await withServer(of: world.service, router) { url, _ in
            let socket = try #require(HostileProxy.connection(to: url.port ?? 0))
            defer { close(socket) }
            let request = ["/large", "/sync/health"].map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined()
            #expect(send(socket, request, request.utf8.count, 0) == request.utf8.count)
            try await Task.sleep(for: .seconds(4))
            #expect(bytes(from: socket) < size)
          }
        }
      }

      /// The number of bytes that come until the connection ends, or nothing comes for some time.
      private func bytes(from socket: Int32) -> Int {
        var time = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var (count, buffer) = (0, [UInt8](repeating: 0, count: 1_000_000))
        while true {
          let more = recv(socket, &buffer, buffer.count, 0)
          if more <= 0 { return count }
          count += more
        }
      }

      private func isCut(_ socket: Int32) -> Bool {
        var descriptor = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&descriptor, 1, 0) > 0 && descriptor.revents & Int16(POLLHUP | POLLERR) != 0
      }
    #endif
  }
#endif
