#if Persistence
  import Concord
  import ConcordConnect
  import ConcordTestShared
  import FlyingFox
  import FlyingSocks
  import Foundation
  import GRDB

  /// A service that keeps tallies in a file, and fails now and then in every way it can.
  final class FaultyServer: Sendable {
    private let database: DatabaseQueue
    private let random: Locked<SeededNumbers>
    /// How many of 100 requests fail.
    private let faults: Int
    private let isRefused: @Sendable (Int) -> Bool
    private let running = Locked<(server: HTTPServer, task: Task<Void, any Error>)?>(nil)
    private let port = Locked<UInt16>(0)
    let counts = Locked<[Fault: Int]>([:])

    enum Fault: CaseIterable, Sendable {
      case errorBefore, errorAfter, dropBefore, dropAfter, slow, slowAfter
    }

    /// - Parameter isRefused: which numbers it refuses for good.
    init(
      _ file: URL, faults: Int, seed: UInt64, refusing isRefused: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) throws {
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      database = try DatabaseQueue(path: file.path)
      (self.faults, self.isRefused) = (faults, isRefused)
      random = Locked(SeededNumbers(seed: seed))
      try database.write { db in
        try db.execute(
          sql: """
            CREATE TABLE IF NOT EXISTS Applied (
              sequence INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, tally INTEGER NOT NULL, number INTEGER NOT NULL
            )
            """)
      }
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port.withLock { $0 })") ?? URL(fileURLWithPath: "/") }

    /// Starts it, always at the same port, once that is free.
    func start() async throws {
      for attempt in 0..<500 {
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port.withLock { $0 }), logger: .disabled)
        await server.appendRoute("*") { [weak self] in try await self?.answer($0) ?? HTTPResponse(statusCode: .gone) }
        let task: Task<Void, any Error>
        do {
          task = try await server.startListening()
        } catch  where attempt < 499 {
          try await Task.sleep(for: .milliseconds(20))
          continue
        }
        if case .ip4(_, let found)? = await server.listeningAddress { port.withLock { $0 = found } }
        running.withLock { $0 = (server, task) }
        return
      }
    }

    /// Stops it: requests on their way get no answer.
    func stop() async {
      let running = running.withLock { running in
        defer { running = nil }
        return running
      }
      await running?.server.stop()
      running?.task.cancel()
    }

    /// What was applied, in order.
    func applied() throws -> [(tally: Int, number: Int)] {
      try database.read { db in
        try Row.fetchAll(db, sql: "SELECT tally, number FROM Applied ORDER BY sequence").map { ($0[0], $0[1]) }
      }
    }

    private func nextFault() -> Fault? {
      random.withLock { random in
        guard Int.random(in: 0..<100, using: &random) < faults else { return nil }
        return Fault.allCases.randomElement(using: &random)
      }
    }

    private func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
      let body = try await request.bodyData
      guard let key = request.headers[HTTPHeader("Idempotency-Key")], let tally = Int(request.path.dropFirst(9)),
        let number = Int(String(decoding: body, as: UTF8.self))
      else { return HTTPResponse(statusCode: .badRequest) }
      if isRefused(number) { return HTTPResponse(statusCode: HTTPStatusCode(422, phrase: "Refused")) }
      func apply() async throws {
        try await database.write { db in
          try db.execute(
            sql: "INSERT OR IGNORE INTO Applied (key, tally, number) VALUES (?, ?, ?)", arguments: [key, tally, number])
        }
      }
      let fault = nextFault()
      if let fault { counts.withLock { $0[fault, default: 0] += 1 } }
      switch fault {
      case nil: try await apply()
      case .errorBefore: return HTTPResponse(statusCode: .serviceUnavailable)
      case .errorAfter:
        try await apply()
        return HTTPResponse(statusCode: .internalServerError)
      case .dropBefore: return Self.broken
      case .dropAfter:
        try await apply()
        return Self.broken
      case .slow:
        try await Task.sleep(for: .milliseconds(50))
        try await apply()
      case .slowAfter:
        try await apply()
        // Longer than the client waits.
        try await Task.sleep(for: .milliseconds(1500))
      }
      return HTTPResponse(statusCode: .noContent)
    }

    /// The connection breaks in the middle of it.
    private static var broken: HTTPResponse {
      HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: BreakingBody(), count: 100))
    }
  }

  private struct BreakingBody: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
    typealias Element = UInt8
    var isFirst = true
    func makeAsyncIterator() -> BreakingBody { self }
    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }
    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
      guard isFirst else { throw CancellationError() }
      isFirst = false
      return [UInt8](repeating: 32, count: Swift.min(count, 10))
    }
  }
#endif
