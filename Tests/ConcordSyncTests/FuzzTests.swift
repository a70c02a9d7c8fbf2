#if Server && os(Linux)
  import ConcordTestSupport
  import Foundation
  import HTTPTypes
  import Hummingbird
  import Logging
  import NIOCore
  import Testing

  @testable import Concord
  @testable import ConcordServer
  @testable import ConcordSync

  /// Requests of any kind to each route, without sockets: random bytes, and valid messages that were changed. A million of them where
  /// `CONCORD_LONG` asks for it, or as many as `CONCORD_FUZZ_INPUTS` says.
  @Suite struct FuzzTests {
    private static let inputs =
      TestOptions.number("CONCORD_FUZZ_INPUTS") ?? (TestOptions.isLong ? 1_000_000 : 10_000)

    /// The bytes of a leak for each input that must be found.
    private static let leak = 250

    @Test("Whatever is sent to a route, the router answers it, and the process does not grow")
    func routes() async throws {
      let seed = TestOptions.seed(.random(in: 1...1_000_000))
      print("fuzz: seed \(seed), \(Self.inputs) inputs")
      let folder = FileManager.default.temporaryDirectory.appending(path: "concord-fuzz-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: folder) }
      let container = ServerContainer(name: "Shop", model: try shopModel())
      try Kind.sqlite.attach(to: container, in: folder)
      let context = container.newBackgroundContext()
      for id in 1...3 {
        context.insert(Cart(id: id, owner: id, lines: [Line(id: "l\(id)", book: Book(id: id, title: "b"))]))
      }
      try context.save()
      var limits = SyncLimits()
      (limits.requestsPerSecond, limits.burst, limits.wait) = (1e9, 1_000_000_000, .milliseconds(1))
      limits.requestSize = 8192
      let router = Router(context: FuzzContext.self)
      shopService(container, limits).addRoutes(to: router, path: "sync")
      let responder = router.buildResponder()
      var run = FuzzRun(seed: seed) { try await responder.respond(to: $0, context: $1) }

      let growth = try await run.send(Self.inputs)
      print("fuzz: \(run.statuses.sorted { $0.key < $1.key })")
      print("fuzz: bytes in use after each tenth: \(growth.sizes), of SQLite: \(growth.databaseSizes)")
      #expect(!growth.isLeak(Self.inputs), "seed \(seed): the heap grows: \(growth)")
      for status in FuzzRun.expected {
        #expect(run.statuses[status, default: 0] > 0, "nothing was answered \(status)")
      }
      // The checks above would find what they look for, and the rows of others are still there.
      #expect(try container.newBackgroundContext().fetch(FetchDescriptor<Cart>()).count >= 3)
      let leak = PlantedLeak()
      let count = 10_000
      let leaked = try await run.send(count) { leak.add(Self.leak) }
      #expect(leaked.isLeak(count), "seed \(seed): a leak of \(Self.leak) bytes an input is not found: \(leaked)")
      withExtendedLifetime(leak) {}
    }

    @Test(
      "The messages that are changed have each member that a device sends, and name each publication of the service")
    func messages() throws {
      func members(_ value: WireValue) throws -> Set<String> { Set(try value.object().keys) }
      var messages = FuzzMessages(seed: 1)
      let page = PageRequest(
        device: "", position: nil, user: nil, actions: 0, awaited: [],
        subscriptions: [.init(name: "", parameters: [:], known: nil)], wait: 0
      ).wire
      let action = ActionMessage(device: "", key: "", name: "", body: .null, refusals: 0, since: 0).wire
      #expect(try members(messages.page()) == members(page) && members(messages.action()) == members(action))
      var subscriptions: [WireValue] = []
      while subscriptions.isEmpty { subscriptions = try messages.page()["subscriptions"].array() }
      #expect(try members(subscriptions[0]) == members(page["subscriptions"].array()[0]))
      let service = shopService(try ServerContainer.inMemory(try shopModel()))
      let publications = service.publications.withLock { Set($0.keys) }
      #expect(publications == Set(FuzzMessages.publications).subtracting(["none"]))
    }
  }

  /// Sends requests, and checks that each has an answer.
  private struct FuzzRun {
    /// The statuses of answers.
    static let expected = [200, 400, 401, 404, 409, 413, 426]

    private let seed: UInt64
    private let respond: @Sendable (Request, FuzzContext) async throws -> Response
    private var messages: FuzzMessages
    /// The numbers of answers, by their statuses.
    private(set) var statuses: [Int: Int] = [:]
    private let logger = {
      var logger = Logger(label: "fuzz")
      logger.logLevel = .critical
      return logger
    }()

    init(seed: UInt64, _ respond: @escaping @Sendable (Request, FuzzContext) async throws -> Response) {
      (self.seed, self.respond, messages) = (seed, respond, FuzzMessages(seed: seed))
    }

    /// - Parameter each: a closure that is called before each request.
    /// - Returns: the sizes of the heap after each tenth of the requests.
    mutating func send(_ count: Int, each: () -> Void = {}) async throws -> HeapGrowth {
      var growth = HeapGrowth()
      for number in 1...count {
        each()
        let (request, text) = messages.next()
        let response: Response?
        do { response = try await respond(request, FuzzContext(source: .init(logger: logger))) } catch let error
          as HTTPError where error.status == .notFound
        {
          // What is no route is the router's own error. Any other one ends the test.
          response = nil
        } catch {
          throw Unanswered(description: "seed \(seed), input \(number): \(error) to \(text())")
        }
        let status = response?.status.code ?? 404
        statuses[status, default: 0] += 1
        #expect(Self.expected.contains(status), "seed \(seed), input \(number): \(status) to \(text())")
        let writer = FuzzWriter()
        try await response?.body.write(writer)
        if status == 200, request.method == .post { messages.learn(from: writer.bytes.withLock { $0 }) }
        if number.isMultiple(of: max(1, count / 10)) { growth.note() }
      }
      return growth
    }

    /// An error that no client gets an answer to.
    private struct Unanswered: Error, CustomStringConvertible { let description: String }
  }

  /// The context of a request that came through no socket.
  private struct FuzzContext: RequestContext {
    struct Source: RequestContextSource { let logger: Logger }
    var coreContext: CoreRequestContextStorage
    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
  }

  /// Takes the body of an answer.
  private struct FuzzWriter: ResponseBodyWriter {
    let bytes = Kept<[UInt8]>([])
    func write(_ buffer: ByteBuffer) async throws { bytes.withLock { $0 += buffer.readableBytesView } }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
  }

  /// Makes requests, valid and invalid ones.
  private struct FuzzMessages {
    private var numbers: SplitMix
    private var positions = ["nonsense", ""]
    private var conditions = ["nonsense"]

    init(seed: UInt64) { numbers = SplitMix(seed) }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &numbers) }
    private mutating func one(of bound: Int) -> Bool { below(bound) == 0 }
    private mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }

    /// Remembers positions and conditions that the server has given.
    mutating func learn(from bytes: [UInt8]) {
      guard one(of: 50), let head = try? WireValue(parsing: bytes.prefix { $0 != 0x0A }) else { return }
      if let position = try? head["position"].text() { positions.append(position) }
      if let condition = try? head["subscriptions"].array().first?["condition"].text() { conditions.append(condition) }
      if positions.count > 50 { positions.removeFirst(40) }
      if conditions.count > 50 { conditions.removeFirst(40) }
    }

    /// - Returns: a request, and what to say of it if it fails.
    mutating func next() -> (Request, () -> String) {
      var path = pick([
        "pages", "pages", "pages", "actions", "actions", "actions", "health", "health/live", "health/ready",
      ])
      if one(of: 50) { path = text(1 + below(30)) }
      let isMessage = path == "pages" || path == "actions"
      var method: HTTPRequest.Method = isMessage ? .post : .get
      if one(of: 50) { method = pick([.get, .put, .delete, .head, .options]) }
      var bytes: [UInt8]
      switch below(10) {
      case 0: bytes = (0..<below(300)).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      case 1: bytes = value(depth: 6).bytes
      case 2: bytes = (path == "actions" ? action() : page()).bytes
      case 3...6: bytes = changed(path == "actions" ? action() : page()).bytes
      default: bytes = damaged((path == "actions" ? action() : page()).bytes)
      }
      if one(of: 500) { bytes += [UInt8](repeating: UInt8(ascii: pick([" ", "[", "x"])), count: below(20_000)) }
      var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: "/sync/\(path)")
      if !one(of: 30) { head.headerFields[.authorization] = "Bearer user-\(1 + below(3))" }
      if one(of: 30) { head.headerFields[.authorization] = text(below(60)) }
      if one(of: 3) { head.headerFields[.acceptEncoding] = pick(["gzip", "gzip;q=0", "*", text(10), ",;=,q="]) }
      let request = Request(head: head, body: body(bytes))
      return (request, { "\(method) \(path) \(String(decoding: bytes, as: UTF8.self))" })
    }

    /// At once or in parts.
    private mutating func body(_ bytes: [UInt8]) -> RequestBody {
      if one(of: 2) { return RequestBody(buffer: ByteBuffer(bytes: bytes)) }
      let length = 1 + below(max(1, bytes.count))
      let parts = stride(from: 0, to: bytes.count, by: length).map {
        ByteBuffer(bytes: bytes[$0..<min(bytes.count, $0 + length)])
      }
      return RequestBody(
        asyncSequence: AsyncStream { continuation in
          for part in parts { continuation.yield(part) }
          continuation.finish()
        })
    }

    // MARK: Valid messages

    /// Those of the service, and one that it does not know.
    static let publications = ["carts", "heavy", "books", "labels", "with-book", "by-stock", "none"]

    mutating func page() -> WireValue {
      let subscriptions = (0..<below(4)).map { _ in
        WireValue.object([
          "name": .text(pick(Self.publications)),
          "parameters": .object(
            pick([
              [:], ["least": .number("1")], ["least": .object(["number": .number("0.5")])], ["title": .text("l1")],
              ["rest": .integer(below(2))],
            ])
          ),
          "known": one(of: 2) ? .null : .text(pick(conditions)),
        ])
      }
      return .object([
        "version": .integer(1), "device": .text("d\(below(5))"),
        "position": one(of: 3) ? .null : .text(pick(positions)),
        "process": one(of: 2) ? .null : .text("p\(below(3))"), "user": user(), "actions": .integer(below(3)),
        "awaited": .array((0..<below(3)).map { _ in .text("k\(below(100))") }),
        "wait": .double(pick([0, 0, 0, 1, 30])),
        "subscriptions": .array(subscriptions),
      ])
    }

    mutating func action() -> WireValue {
      let cart = WireValue.integer(below(5))
      let (name, body): (String, [String: WireValue]) = pick([
        ("append", ["cart": cart, "text": .text("<\(below(10))>")]),
        ("give", ["cart": cart, "owner": .integer(1 + below(3))]),
        ("add-line", ["cart": cart, "book": .integer(below(4)), "line": .text("l\(below(9))")]),
        ("remove-line", ["cart": cart, "line": .text("l\(below(9))")]),
        ("rename", ["book": .integer(below(4)), "title": .text("t")]),
        ("overwrite", ["cart": cart, "other": .integer(below(5))]), ("unknown", ["cart": cart]),
      ])
      return .object([
        "version": .integer(1), "device": .text("d\(below(5))"), "key": .text("k\(below(100))"), "name": .text(name),
        "action": .object(body), "refusals": .integer(below(3)), "since": .integer(below(3)),
        "sinceRefused": .integer(below(3)), "user": user(),
      ])
    }

    private mutating func user() -> WireValue { one(of: 2) ? .null : .text("\(1 + below(3))") }

    // MARK: Changed ones

    /// A value in which something has another type, or is missing, doubled or extreme.
    private mutating func changed(_ value: WireValue) -> WireValue {
      switch value {
      case .object(var members) where !members.isEmpty && !one(of: 10):
        let name = pick(members.keys.sorted())
        switch below(6) {
        case 0: members[name] = nil
        case 1: members[name] = self.value(depth: 3)
        case 2: members[text(5)] = members[name]
        default: members[name] = changed(members[name] ?? .null)
        }
        return .object(members)
      case .array(var values) where !values.isEmpty && !one(of: 10):
        let index = below(values.count)
        if one(of: 4) { values += Array(repeating: values[index], count: below(150)) }
        values[index] = changed(values[index])
        return .array(values)
      case .text(let text) where one(of: 2):
        return .text(String(decoding: damaged(Array(text.utf8)), as: UTF8.self))
      default: return self.value(depth: 2)
      }
    }

    private mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      for _ in 0...below(4) where !bytes.isEmpty {
        let place = below(bytes.count)
        switch below(6) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
        case 1: bytes[place] ^= 1 << UInt8(below(8))
        case 2: bytes.removeSubrange(place...)
        case 3: bytes.remove(at: place)
        case 4: bytes.insert(contentsOf: Array(repeating: pick(Array("[{\"-0\\".utf8)), count: below(100)), at: place)
        default:
          let pieces = [
            "-1e999", "\\ud800", "\\u0000", "null", "9223372036854775808", "\u{301}", "\u{0}", "{\"real\":\"nan\"}",
            "1e400",
          ]
          bytes.insert(contentsOf: Array(pick(pieces).utf8), at: place)
        }
      }
      return bytes
    }

    private mutating func value(depth: Int) -> WireValue {
      switch below(depth > 0 ? 9 : 6) {
      case 0: return .null
      case 1: return .bool(one(of: 2))
      case 2, 3:
        return .number(
          pick([
            "0", "-0", "1", "-1", "1.5", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1e308",
            "1e-400",
            "1e999", "2147483648", "0.1e1", "1000001", String(repeating: "9", count: 400),
          ]))
      case 4, 5: return .text(text(below(80)))
      case 6: return .array((0..<below(5)).map { _ in value(depth: depth - 1) })
      default:
        var members: [String: WireValue] = [:]
        for _ in 0..<below(4) {
          members[pick(["number", "date", "real", "bytes", "name", "parameters", text(3)])] = value(depth: depth - 1)
        }
        return .object(members)
      }
    }

    private mutating func text(_ count: Int) -> String {
      let scalars: [ClosedRange<UInt32>] = [
        0x20...0x7E, 0x20...0x7E, 0...0x1F, 0x300...0x36F, 0x80...0x2FFF, 0x1F600...0x1F64F,
      ]
      var text = ""
      for _ in 0..<count {
        if let scalar = Unicode.Scalar(UInt32.random(in: pick(scalars), using: &numbers)) {
          text.unicodeScalars.append(scalar)
        }
      }
      return text
    }
  }
#endif
