#if PostgreSQL
  import ConcordServer
  import Foundation
  import Hummingbird

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension Row {
    static var clickMedian: Row { clicks("from a click to the screen of another device, median", 50) }
    static var clickPercentile99: Row {
      clicks("from a click to the screen of another device, what 99 of 100 do not exceed", 99)
    }

    private static func clicks(_ name: String, _ percent: Int) -> Row {
      Row(
        name, goal: .none,
        floor: """
          a request with URLSession to a plain route that updates a row of PostgreSQL and notifies, until another connection is \
          told
          """,
        repetitions: 3
      ) { stopwatch in
        let watch = stopwatch.acrossThreads
        let (screens, plain) = (try Screens(), try PlainClicks())
        return Sides {
          try screens.click(200, watch).percentile(percent) ?? 0
        } floor: {
          try plain.click(200, watch).percentile(percent) ?? 0
        }
      }
    }
  }

  /// Two devices of a customer, and a server over a database.
  private final class Screens {
    private let server: OrderServer
    private let (clicked, other): (OrderDevice, OrderDevice)
    /// What the other screen shows, and since when.
    private let shown = Kept((note: "", time: 0.0))
    private var turn = 0

    init() throws {
      var limits = SyncLimits()
      // A person does not click so often.
      limits.requestsPerSecond = 1e6
      let server = try OrderServer(orders: [Order(id: 1, customer: 1)], limits: limits, inDatabase: true)
      self.server = server
      (clicked, other) = try blocking {
        let devices = (
          try await OrderDevice(of: 1, at: server.web.url), try await OrderDevice(of: 1, at: server.web.url)
        )
        for device in [devices.0, devices.1] { try await device.sync.subscribe("orders").ready() }
        return devices
      }
    }

    deinit {
      // Before their files go.
      try? blocking { [clicked, other] in for device in [clicked, other] { try await device.stop() } }
    }

    func click(_ count: Int, _ watch: Stopwatch) throws -> Measurement.Series {
      guard let order = try other.connect.viewContext.find(Order.self, id: 1) else {
        throw WrongResult(description: "the other device has no order")
      }
      let subscription = order.observe { [shown] order in
        shown.withLock { $0 = (order.note, watch.now) }
      }
      defer { subscription.unsubscribe() }
      var series = Measurement.Series()
      for _ in 0..<count {
        turn += 1
        let note = "click \(turn)"
        let begin = watch.now
        Task.detached { [clicked] in try await clicked.connect.forward(Annotate(order: 1, note: note)) }
        // The screen is drawn by the main queue, as that of an app.
        while shown.withLock({ $0.note }) != note {
          try expect(watch.now - begin < 10e9, "the other screen does not show it")
          RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001))
        }
        series.append(shown.withLock { $0.time } - begin)
        // Until both devices wait again.
        usleep(5_000)
      }
      return series
    }
  }

  /// A route that updates a row and notifies, and a connection that listens.
  private final class PlainClicks {
    private let web: WebServer
    private let listener: RawConnection
    private var turn = 0

    /// Relies on: the lock of ``Kept`` guards the connection.
    private struct Writer: @unchecked Sendable { let raw: RawConnection }

    init() throws {
      let url = OrderServer.database ?? ""
      listener = try RawConnection(url)
      let raw = try RawConnection(url)
      try raw.run("SET client_min_messages TO warning")
      try raw.run("CREATE TABLE IF NOT EXISTS plain_orders (id bigint PRIMARY KEY, note text NOT NULL)")
      try raw.run("INSERT INTO plain_orders VALUES (1, '') ON CONFLICT DO NOTHING")
      try listener.run("LISTEN plain_orders")
      let writer = Kept(Writer(raw: raw))
      web = try WebServer { router in
        router.post("orders/{note}") { _, context in
          let note = Int(context.parameters.get("note") ?? "") ?? 0
          try writer.withLock { writer in
            try writer.raw.run("BEGIN; UPDATE plain_orders SET note = 'click \(note)'; NOTIFY plain_orders; COMMIT")
          }
          return Response(status: .ok)
        }
      }
    }

    func click(_ count: Int, _ watch: Stopwatch) throws -> Measurement.Series {
      var series = Measurement.Series()
      for _ in 0..<count {
        turn += 1
        var request = URLRequest(url: web.url.appending(path: "orders/\(turn)"))
        request.httpMethod = "POST"
        let sent = request
        var answer: Task<Void, any Error>?
        series.append(
          try watch.nanoseconds {
            answer = Task.detached { _ = try await URLSession.shared.data(for: sent) }
            try listener.wait()
          })
        try blocking { [answer] in try await answer?.value }
        usleep(5_000)
      }
      return series
    }
  }
#endif
