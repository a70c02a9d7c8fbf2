import FlyingFox
import FlyingSocks
import Foundation
import Testing

@testable import ConcordConnect

@Suite("Services that fall silent", .serialized, .timeLimit(.minutes(2)))
struct SilenceTests {
  /// Sends parts of ten bytes, with a pause before each but the first; the last pause does not end.
  private struct Parts: AsyncBufferedSequence, AsyncBufferedIteratorProtocol {
    typealias Element = UInt8
    var left: Int
    var pause = Duration.zero
    let stops: Bool
    func makeAsyncIterator() -> Parts { self }
    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }
    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
      if left == 0 {
        if stops { try await Task.sleep(for: .seconds(3600)) }
        return nil
      }
      try await Task.sleep(for: pause)
      pause = .milliseconds(400)
      left -= 1
      return [UInt8](repeating: 0x20, count: 10)
    }
  }

  private func withParts(
    _ count: Int, of length: Int, _ body: (WebServer) async throws -> Void
  ) async throws {
    let parts = Parts(left: count, stops: count * 10 < length)
    try await WebServer.run(
      { _ in HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: parts, count: length)) }, body)
  }

  @Test("A response that stops in the middle ends after the longest silence, long before the longest time")
  func stops() async throws {
    try await withParts(3, of: 100) { server in
      let transport = HTTPTransport(baseURL: server.url, timeout: .seconds(3000), silence: .seconds(1))
      let error = await #expect(throws: TransportError.self) {
        try await transport.send(TransportRequest("GET", "/"))
      }
      guard case .timedOut? = error else {
        Issue.record("\(error as Any)")
        return
      }
      #expect(server.paths == ["GET /"])
    }
  }

  @Test("A response that takes longer than the longest silence arrives, if it never falls silent for so long")
  func goesOn() async throws {
    try await withParts(10, of: 100) { server in
      let transport = HTTPTransport(baseURL: server.url, timeout: .seconds(100), silence: .seconds(3))
      let start = ContinuousClock.now
      let response = try await transport.send(TransportRequest("GET", "/"))
      #expect(response.status == 200 && response.body.count == 100)
      // Otherwise it shows nothing.
      #expect(ContinuousClock.now - start > transport.silence)
    }
  }

  @Test("The longest silence is the longest time, unless it is given, and not longer")
  func limits() throws {
    let url = try #require(URL(string: "http://localhost"))
    #expect(HTTPTransport(baseURL: url, timeout: .seconds(7)).silence == .seconds(7))
    #expect(HTTPTransport(baseURL: url, timeout: .seconds(7), silence: .seconds(9)).silence == .seconds(7))
    #expect(HTTPTransport(baseURL: url, timeout: .seconds(7), silence: .seconds(2)).silence == .seconds(2))
  }
}
