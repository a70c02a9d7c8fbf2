import ConcordSync
import Foundation
import Testing

/// The program itself, started as a person would start it, and read line by line.
final class Running {
  private let process = Process()
  private let output = Pipe()
  private let errors: URL
  private var unread = Data()

  /// - Parameter output: the file that gets what it prints, in place of ``line()``.
  init(_ arguments: [String], in folder: URL, output file: URL? = nil) throws {
    errors = folder.appendingPathComponent("errors-\(UUID())")
    try Data().write(to: errors)
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    if let file {
      try Data().write(to: file)
      process.standardOutput = try FileHandle(forWritingTo: file)
    }
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  /// The next line; `nil` at the end. Asked from one thread at a time.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread = Data(unread[unread.index(after: end)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// All lines that are left.
  func lines() -> [String] {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines
  }

  @discardableResult
  func end(_ number: Int32) -> Int32 {
    kill(process.processIdentifier, number)
    return status()
  }

  func status() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  var complaints: String { (try? String(contentsOf: errors, encoding: .utf8)) ?? "" }

  static var executable: URL {
    #if os(macOS)
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? .main
      return tests.bundleURL.deletingLastPathComponent().appendingPathComponent("bookstore")
    #else
      return Bundle.main.bundleURL.appendingPathComponent("bookstore")
    #endif
  }
}

/// A server in a process of its own, which can be killed and started again at the same place.
final class ServerProcess {
  let folder: URL
  private let store: String
  private(set) var running: Running
  private(set) var url: URL

  /// - Parameter store: the database of the shop, in place of a file in the folder.
  init(in folder: URL, store: String? = nil) throws {
    self.folder = folder
    self.store = store ?? folder.appendingPathComponent("server").path
    (running, url) = try Self.start(folder, self.store, port: 0)
  }

  private static func start(_ folder: URL, _ store: String, port: Int) throws -> (Running, URL) {
    let history = folder.appendingPathComponent("history").path
    let running = try Running(
      ["serve", "--port", "\(port)", "--store", store, "--history", history], in: folder)
    let line = try #require(running.line(), "\(running.complaints)")
    let address = try #require(line.split(separator: " ").last)
    #expect(line == "listening on \(address)")
    return (running, try #require(URL(string: String(address))))
  }

  func kill() { running.end(SIGKILL) }

  func startAgain() throws { (running, url) = try Self.start(folder, store, port: try #require(url.port)) }

  var transport: HTTPTransport { HTTPTransport(baseURL: url, timeout: .seconds(20)) }

  /// What was committed, in order.
  func history() throws -> [HistoryLine] { try HistoryLine.all(in: folder.appendingPathComponent("history")) }

  /// The keys of the actions that were applied, in order.
  func applied() throws -> [String] { try history().flatMap { $0.accepted.values.joined() } }
}

/// A folder of its own, which goes at the end of the body.
nonisolated(nonsending) func withFolder<R>(_ body: (URL) async throws -> R) async throws -> R {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bookstore-\(UUID())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder)
}

/// A server of its own, which is killed at the end of the body.
nonisolated(nonsending) func withServer<R>(_ body: (ServerProcess) async throws -> R) async throws -> R {
  try await withFolder { folder in
    let server = try ServerProcess(in: folder)
    defer { server.kill() }
    return try await body(server)
  }
}

extension Transport {
  func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> TransportResponse {
    let headers: HeaderFields = ["Content-Type": "application/json"]
    return try await send(TransportRequest(method, path, headers: headers, body: body.map { Data($0.utf8) }))
  }
}

extension TransportResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}

/// Waits until something holds, for half a minute at most.
nonisolated(nonsending) func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
  let latest = ContinuousClock.now + .seconds(30)
  while ContinuousClock.now < latest {
    if try await condition() { return true }
    try await Task.sleep(for: .milliseconds(10))
  }
  return false
}
