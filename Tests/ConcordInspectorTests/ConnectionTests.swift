#if Inspector && os(Linux)
  import Concord
  import ConcordInspector
  import Foundation
  import Glibc
  import Testing

  @Suite("Connections to the inspector")
  struct ConnectionTests {
    @Test("Many that say nothing, or half of something, keep nobody from the page")
    func idle() async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { client, inspector in
        let port = try #require(inspector.url.port.flatMap { UInt16(exactly: $0) })
        let sockets = (0..<300).map { _ in makeSocket() }
        for socket in sockets { #expect(connect(socket, port)) }
        for (index, socket) in sockets.enumerated() where index % 2 == 0 {
          let half = "POST /\(inspector.url.lastPathComponent)/api/recording HTTP/1.1\r\nContent-Length: 4000\r\n\r\n{"
          #expect(send(socket, half, half.utf8.count, 0) == half.utf8.count)
        }
        #expect(try await client.get("").status == 200)
        for socket in sockets { close(socket) }
        #expect(try await client.get("").status == 200)
      }
    }

    @Test("Of those who ask for an inspector at once one has it, and it ends while others ask it")
    func race() async throws {
      let store = EntityStore(delivery: .immediate)
      let book = store.store(emma)
      for _ in 0..<5 {
        let inspectors = await withTaskGroup(of: Inspector?.self) { group in
          for _ in 0..<8 { group.addTask { try? await store.inspect() } }
          var found: [Inspector] = []
          for await inspector in group { if let inspector { found.append(inspector) } }
          return found
        }
        #expect(inspectors.count == 1)
        let inspector = try #require(inspectors.first)
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<40 {
            group.addTask {
              let client = Client(url: inspector.url)
              if number % 10 == 9 { await inspector.stop() } else { _ = try? await client.entities("Book") }
              store.update(Book.self, id: 1) { $0.title = "\(number)" }
            }
          }
        }
        await #expect(throws: URLError.self) { try await Client(url: inspector.url).get("") }
      }
      withExtendedLifetime(book) {}
    }

    @Test("The page is served again after the program had too many open files")
    func files() async throws {
      try await inspecting(EntityStore(delivery: .immediate)) { client, inspector in
        #expect(try await client.get("").status == 200)
        let port = try #require(inspector.url.port.flatMap { UInt16(exactly: $0) })
        let sockets = (0..<4).map { _ in makeSocket() }
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        getrlimit(resource, &limit)
        let usual = limit
        let next = dup(2)
        close(next)
        limit.rlim_cur = rlim_t(next) + 8
        setrlimit(resource, &limit)
        var files: [Int32] = []
        while true {
          let file = dup(2)
          if file < 0 { break }
          files.append(file)
        }
        // Whoever listened goes at the first one that cannot be taken: the others are refused, or end with it.
        let areConnected = sockets.map { connect($0, port) }
        var byte: UInt8 = 0
        let isEnded = !areConnected[3] || recv(sockets[3], &byte, 1, 0) <= 0
        for file in files { close(file) }
        var restored = usual
        setrlimit(resource, &restored)
        for socket in sockets { close(socket) }
        #expect(areConnected[0] && isEnded)
        var status: Int?
        for _ in 0..<200 where status == nil {
          status = try? await client.get("").status
          if status == nil { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(status == 200)
      }
    }

    /// A socket that waits for ten seconds at most.
    private func makeSocket() -> Int32 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var time = timeval(tv_sec: 10, tv_usec: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
      return descriptor
    }

    private func connect(_ descriptor: Int32, _ port: UInt16) -> Bool {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
  }
#endif
