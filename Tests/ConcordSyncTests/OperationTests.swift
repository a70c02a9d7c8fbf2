#if Server
  import ConcordServer
  import ConcordTestSupport
  import Foundation
  import Hummingbird
  import InMemoryTracing
  import MetricsTestKit
  import Observation
  import ServiceLifecycle
  import Testing
  import Tracing

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @testable import ConcordServer
  @testable import ConcordSync

  /// What whoever operates a server relies on.
  @Suite(.timeLimit(.minutes(2)))
  struct OperationTests {
    private func request(
      _ path: String, _ world: World, position: WireValue? = nil, known: WireValue? = nil, wait: Double = 0,
      headers: [String: String] = [:]
    ) async throws -> (status: Int, headers: [String: String], body: Data) {
      var request = URLRequest(url: world.url.appending(path: path))
      request.timeoutInterval = 40
      if path == "pages" {
        request.httpMethod = "POST"
        request.setValue("Bearer user-1", forHTTPHeaderField: "Authorization")
        request.httpBody = Data(
          PageRequest(
            device: "d", position: try position?.text(), user: position == nil ? nil : "1", actions: 0, awaited: [],
            subscriptions: [.init(name: "carts", parameters: [:], known: try known?.text())], wait: wait
          ).wire.bytes)
      }
      for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
      let (data, response) = try await URLSession.shared.data(for: request)
      let answer = try #require(response as? HTTPURLResponse)
      let fields = answer.allHeaderFields.reduce(into: [String: String]()) { fields, field in
        fields["\(field.key)".lowercased()] = "\(field.value)"
      }
      return (answer.statusCode, fields, data)
    }

    private func head(_ data: Data) throws -> WireValue {
      try WireValue(parsing: try #require(data.split(separator: 0x0A).first))
    }

    @Test("When the service is shut down, requests that wait are answered, nothing is cut, and it is no longer ready")
    func gracefulStop() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        #expect(try await request("health/live", world).status == 200)
        #expect(try await request("health/ready", world).status == 200)
        let first = try head(try await request("pages", world).body)
        let condition = try first["subscriptions"].array()[0]["condition"]
        async let waiting = request("pages", world, position: first["position"], known: condition, wait: 20)
        try #require(try await eventually { !world.service.live.isIdle })
        let begin = ContinuousClock.now
        world.service.live.end()
        let answer = try await waiting
        #expect(answer.status == 200 && ContinuousClock.now - begin < .seconds(15))
        #expect(try head(answer.body)["from"] == first["position"])
        // Whoever asks meanwhile is answered at once.
        #expect(
          try await request("pages", world, position: first["position"], known: condition, wait: 20).status == 200)
        #expect(ContinuousClock.now - begin < .seconds(15))
        #expect(try await request("health/ready", world).status == 503)
        #expect(try await request("health", world).status == 503)
        #expect(try await request("health/live", world).status == 200)
      }
    }

    @Test(
      "While the store cannot be read the server is not ready, and says why; it is alive, and ready again once the store can be read"
    )
    func unreadableStore() async throws {
      try await withWorld { world in
        #expect(try await request("health/ready", world).status == 200)
        // As a program with a later model does.
        try world.write("ALTER TABLE Cart RENAME TO Elsewhere")
        for path in ["health/ready", "health"] {
          let answer = try await request(path, world)
          #expect(answer.status == 503)
          #expect(try head(answer.body)["error"] == .text("the store cannot be read"))
        }
        #expect(try await request("health/live", world).status == 200)
        try world.write("ALTER TABLE Elsewhere RENAME TO Cart")
        #expect(try await request("health/ready", world).status == 200)
      }
    }

    @Test("When the program is told to stop, the service ends by itself, and answers the requests that wait")
    func toldToStop() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let first = try head(try await request("pages", world).body)
        let condition = try first["subscriptions"].array()[0]["condition"]
        async let waiting = request("pages", world, position: first["position"], known: condition, wait: 20)
        try #require(try await eventually { !world.service.live.isIdle })
        let begin = ContinuousClock.now
        await world.services.triggerGracefulShutdown()
        let answer = try await waiting
        #expect(answer.status == 200 && ContinuousClock.now - begin < .seconds(10))
        #expect(try head(answer.body)["from"] == first["position"])
        // Whoever asks from now on is answered at once, too.
        #expect(try await eventually { world.service.live.isEnded })
      }
    }

    @Test("Devices that a server has let go come back at different times")
    func jitter() async throws {
      let model = try shopModel()
      let server = try ServerContainer.inMemory(model)
      let context = server.newBackgroundContext()
      context.insert(Cart(id: 1, owner: 1))
      try context.save()
      let service = shopService(server)
      var devices: [(connect: DeviceConnect, sync: Sync, clock: VirtualClock)] = []
      for _ in 0..<50 {
        let connect = try DeviceConnect.inMemory(model)
        try await connect.start()
        let clock = VirtualClock()
        let sync = connect.sync(
          over: service.transport(as: User(id: 1)), backoff: Backoff(base: .seconds(1), cap: .seconds(60)),
          clock: clock)
        try await sync.subscribe("carts").ready()
        devices.append((connect, sync, clock))
      }
      try #require(try await eventually { service.live.count == devices.count })
      #expect(devices.allSatisfy { $0.clock.sleepers == 0 })
      service.live.end()
      var delays: [Duration] = []
      for device in devices {
        await device.clock.sleepers(atLeast: 1)
        delays.append(try #require(device.clock.advanceToNextSleeper()))
      }
      let (least, most) = (try #require(delays.min()), try #require(delays.max()))
      #expect(most - least > .seconds(1) && Set(delays).count > 45, "\(delays)")
      for device in devices { try await device.connect.stop() }
    }

    @Test("Whoever observes the status of synchronisation is told of the next one")
    func observation() async throws {
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a", wait: .seconds(1))
        try await device.sync.subscribe("carts").ready()
        try #require(try await eventually { device.sync.status == .upToDate })
        let told = Kept(0)
        func observe() -> SyncStatus {
          withObservationTracking {
            device.sync.status
          } onChange: {
            told.withLock { $0 += 1 }
          }
        }
        #expect(observe() == .upToDate)
        device.network.set { _ in .lost }
        #expect(try await eventually { told.withLock { $0 } == 1 })
        #expect(try await eventually { if case .offline(.unreachable) = observe() { true } else { false } })
        // What has stayed the same is no news: it goes on to fail.
        let before = told.withLock { $0 }
        try await Task.sleep(for: .milliseconds(200))
        #expect(told.withLock { $0 } == before)
        device.network.set { _ in .pass }
        #expect(try await eventually { told.withLock { $0 } > before && device.sync.status == .upToDate })
        try await device.stop()
      }
    }

    @Test("Long answers are compressed for clients that take that, and devices do")
    func compression() async throws {
      try await withWorld { world in
        try world.serve { context in
          for id in 1...300 { context.insert(Cart(id: id, owner: 1, note: "a note that is like others \(id % 3)")) }
        }
        let plain = try await request("pages", world, headers: ["Accept-Encoding": "identity"])
        #expect(plain.headers["content-encoding"] == nil)
        let zipped = try await request("pages", world, headers: ["Accept-Encoding": "gzip"])
        #expect(zipped.headers["content-encoding"] == "gzip" && zipped.headers["vary"] == "Accept-Encoding")
        // The head differs in the position.
        func rows(_ data: Data) -> [Data] { data.split(separator: 0x0A).dropFirst().map { Data($0) } }
        #expect(rows(zipped.body) == rows(plain.body) && rows(plain.body).count > 300)
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        #expect(try device.stored(Cart.self).count == 300)
        try await device.stop()
      }
    }

    @Test("Compressed bytes are those of gzip, and shorter if they repeat themselves")
    func gzip() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      for count in [0, 1, 1000, 300_000] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
        let zipped = try #require(Compression.gzip(bytes))
        #expect(count < 1000 || zipped.count < bytes.count)
        try Data(zipped).write(to: folder)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", "-d", "-c"]
        process.standardInput = try FileHandle(forReadingFrom: folder)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        #expect(try output.fileHandleForReading.readToEnd() ?? Data() == Data(bytes))
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
      }
      let fields = [
        "gzip": true, "br, gzip;q=0.5": true, "*": true, "gzip; q=0": false, "gzip;q=0.000": false, "br": false,
        "gzip;q=0, *": false, "*, gzip;q=0": false, "*;q=0, gzip": true, "*;q=0": false,
      ]
      for (field, isAccepted) in fields { #expect(Compression.isAccepted(by: field) == isAccepted, "\(field)") }
      #expect(!Compression.isAccepted(by: nil))
    }

    @Test("A server reports devices, subscriptions, pages, decisions, refused requests and how far it lags")
    func metrics() async throws {
      let metrics = TestMetrics()
      try await withWorld(metrics: metrics) { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try #require(try await eventually { !world.service.live.isIdle })
        #expect(try metrics.expectGauge("concord_sync_waiting_devices").lastValue == 1)
        #expect(try metrics.expectGauge("concord_sync_waiting_subscriptions").lastValue == 1)
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await device.connect.forward(Unknown(cart: 1))
        try await device.sync.checkpoint()
        func count(_ label: String, _ name: String, _ value: String) -> Int64 {
          metrics.counterTotal(label: label, dimensions: [(name, value)])
        }
        #expect(count("concord_sync_actions", "decision", "accepted") == 1)
        #expect(count("concord_sync_actions", "decision", "refused") == 1)
        #expect(
          count("concord_sync_pages", "kind", "whole") >= 1 && count("concord_sync_pages", "kind", "changes") >= 1)
        #expect(try await HTTPTransport(baseURL: world.url).send(TransportRequest("POST", "pages")).status == 401)
        #expect(count("concord_sync_rejections", "status", "401") == 1)
        #expect(try await eventually { try !metrics.expectTimer("concord_sync_lag").values.isEmpty })
        #expect(try !metrics.expectTimer("concord_sync_page_duration").values.isEmpty)
        #expect(try metrics.expectRecorder("concord_sync_page_rows").values.max() ?? 0 >= 1)
        #expect(try metrics.expectRecorder("concord_sync_page_bytes").values.max() ?? 0 > 100)
        try await device.stop()
        #expect(try await eventually { try metrics.expectGauge("concord_sync_store_requests").lastValue == 0 })
      }
    }

    @Test("A server reports the bytes that clients have not read yet, until they have", arguments: [10, 300])
    func buffers(_ count: Int) async throws {
      let metrics = TestMetrics()
      try await withWorld(metrics: metrics) { world in
        try world.serve { context in
          for id in 1...count {
            context.insert(Cart(id: id, owner: 1, note: String(repeating: "\(id)", count: 400)))
          }
        }
        let page = try await request("pages", world, headers: ["Accept-Encoding": "identity"])
        #expect(page.status == 200 && page.body.count > 400 * count)
        #expect(
          try await eventually {
            try metrics.expectGauge("concord_sync_buffered_bytes").values == [Double(page.body.count), 0]
          })
      }
    }

    @Test("Pages and actions are spans of a trace, which say what came of them and nothing of whom")
    func traces() async throws {
      let tracer = InMemoryTracer()
      InstrumentationSystem.bootstrap(tracer)
      try await withWorld { world in
        try world.serve { $0.insert(Cart(id: 1, owner: 1)) }
        let device = try await world.device("a")
        try await device.sync.subscribe("carts").ready()
        try await device.connect.forward(Append(cart: 1, text: "x"))
        try await device.sync.checkpoint()
        try await device.stop()
        #expect(try await HTTPTransport(baseURL: world.url).send(TransportRequest("POST", "pages")).status == 401)
        let spans = tracer.finishedSpans
        #expect(spans.contains { $0.attributes.get("concord.sync.status") == 401.toSpanAttribute() })
        for name in ["concord.sync.pages", "concord.sync.actions"] {
          let span = try #require(spans.first { $0.operationName == name })
          #expect(span.attributes["concord.sync.status"] != nil && span.attributes.count == 2)
        }
      }
    }
  }
#endif
