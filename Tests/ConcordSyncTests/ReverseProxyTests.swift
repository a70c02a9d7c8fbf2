#if Server && os(Linux)
  import Concord
  import ConcordServer
  import Foundation
  import Testing

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @testable import ConcordServer
  @testable import ConcordSync

  /// An ordinary reverse proxy between devices and a server, as the article "Operating a server" configures it.
  @Suite(.enabled(if: Nginx.program != nil), .timeLimit(.minutes(2)))
  struct ReverseProxyTests {
    @Test("Devices wait, get what is compressed, are told of another version, and survive a new start of the proxy")
    func nginx() async throws {
      try await withWorld { world in
        try world.serve { context in
          for id in 1...500 { context.insert(Book(id: id, title: "A title that repeats itself")) }
          context.insert(Cart(id: 1, owner: 1))
        }
        let nginx = try Nginx(to: try #require(world.url.port), in: world.folder.appending(path: "nginx"))
        defer { nginx.stop() }
        try await nginx.start()
        let device = try await world.device("a", wait: .seconds(20))
        let (times, proxied) = (Kept<[Duration]>([]), HTTPTransport(baseURL: nginx.url, timeout: .seconds(40)))
        device.route { request, _ in
          let begin = ContinuousClock.now
          let response = try await proxied.send(request)
          times.withLock { $0.append(.now - begin) }
          return response
        }
        for name in ["books", "carts"] { try await device.sync.subscribe(name).ready() }
        #expect(try device.stored(Book.self).count == 500)
        // A request that waits is held by the proxy, and answered when something is committed.
        #expect(try await eventually { !world.service.live.isIdle })
        try await Task.sleep(for: .milliseconds(500))
        let before = times.withLock { $0.count }
        try await Task.sleep(for: .seconds(2))
        #expect(times.withLock { $0.count } == before && device.sync.status == .upToDate)
        try world.serve { try $0.update(Cart.self, id: 1) { $0.note = "late" } }
        #expect(try await eventually { try device.stored(Cart.self).first?.note == "late" })
        #expect(times.withLock { $0.count > before && $0[before] > .seconds(1) && $0[before] < .seconds(15) })

        let page = try await nginx.post("pages", version: PageRequest.version)
        #expect(page.status == 200 && page.encoding == "gzip" && page.body.count > 10_000)
        let other = try await nginx.post("pages", version: 99)
        #expect(other.status == 426)
        #expect(String(decoding: other.body, as: UTF8.self).contains("the server speaks version"))

        // The proxy is away while something is done.
        nginx.stop()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        #expect(try await eventually { if case .offline(.unreachable) = device.sync.status { true } else { false } })
        try await nginx.start()
        try await device.sync.checkpoint()
        #expect(device.sync.status == .upToDate && device.connect.outbox.deadLetters.isEmpty)
        #expect(try world.served(Cart.self).first?.note == "latex" && device.stored(Cart.self).first?.note == "latex")
        try await device.stop()
      }
    }
  }

  /// A process of nginx.
  private final class Nginx: Sendable {
    /// Where the program is; `nil` where it is not installed.
    static let program = "\(ProcessInfo.processInfo.environment["PATH"] ?? ""):/usr/sbin:/usr/local/sbin"
      .split(separator: ":").map { "\($0)/nginx" }.first { FileManager.default.isExecutableFile(atPath: $0) }

    let url: URL
    private let folder: URL
    private let process = Kept<Process?>(nil)

    struct Failure: Error { let log: String }

    init(to target: Int, in folder: URL) throws {
      // A port that was free a moment ago.
      let gateway = try Gateway(to: target)
      let port = gateway.port
      gateway.close()
      (self.folder, url) = (folder, try #require(URL(string: "http://127.0.0.1:\(port)/sync")))
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      var server = try Self.configuration()
      for (text, other) in [("127.0.0.1:8080", "127.0.0.1:\(target)"), ("443 ssl", "127.0.0.1:\(port)")] {
        try #require(server.contains(text))
        server = server.replacing(text, with: other)
      }
      server = server.split(separator: "\n").filter { !$0.contains("ssl_") }.joined(separator: "\n")
      let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
        "\($0)_temp_path \(folder.path)/\($0);"
      }
      try """
      daemon off;
      user \(NSUserName());
      worker_processes 1;
      pid \(folder.path)/pid;
      error_log \(folder.path)/log;
      events {}
      http {
      access_log off;
      \(temporary.joined(separator: "\n"))
      \(server)
      }
      """.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
    }

    /// The block that the article has.
    private static func configuration() throws -> String {
      let repository = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let article = try String(
        contentsOf: repository.appending(path: "Sources/ConcordServer/ConcordServer.docc/OperatingAServer.md"),
        encoding: .utf8)
      let block = try #require(
        article.split(separator: "```nginx\n").dropFirst().first?.split(separator: "\n```").first)
      return String(block)
    }

    /// Returns once it passes on what it is sent.
    func start() async throws {
      let process = Process()
      process.executableURL = URL(filePath: try #require(Self.program))
      process.arguments = [
        "-p", folder.path, "-c", folder.appending(path: "nginx.conf").path, "-e", folder.path + "/log",
      ]
      (process.standardInput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
      try process.run()
      self.process.withLock { $0 = process }
      for _ in 0..<500 {
        let answer = try? await URLSession.shared.data(from: url.appending(path: "health/live"))
        if (answer?.1 as? HTTPURLResponse)?.statusCode == 200 { return }
        try await Task.sleep(for: .milliseconds(20))
      }
      throw Failure(log: (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "")
    }

    func stop() {
      guard let process = process.withLock({ $0 }), process.isRunning else { return }
      process.terminate()
      for _ in 0..<500 where process.isRunning { usleep(10_000) }
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Asks for all books, as a client in another language does.
    func post(_ path: String, version: Int64) async throws -> (status: Int, encoding: String?, body: Data) {
      var request = URLRequest(url: url.appending(path: path))
      request.httpMethod = "POST"
      request.setValue("Bearer user-1", forHTTPHeaderField: "Authorization")
      let message = PageRequest(
        device: "d", position: nil, user: nil, actions: 0, awaited: [],
        subscriptions: [.init(name: "books", parameters: [:], known: nil)], wait: 0)
      request.httpBody = Data(message.wire.json.replacing("\"version\":1", with: "\"version\":\(version)").utf8)
      let (body, response) = try await URLSession.shared.data(for: request)
      let answer = try #require(response as? HTTPURLResponse)
      return (answer.statusCode, answer.value(forHTTPHeaderField: "Content-Encoding"), body)
    }
  }
#endif
