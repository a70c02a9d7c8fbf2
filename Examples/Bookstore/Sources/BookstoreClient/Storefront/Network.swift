import BookstoreShared
import ConcordSync
import Foundation

/// The way to the server, which can be cut, as where a train enters a tunnel: what is sent then fails, and what was sent
/// before is not answered any more.
final class Network: Transport {
  let serverURL: URL
  let reachability = ReachabilitySwitch()
  private let devices: HTTPTransport
  private let staff: HTTPTransport

  init(_ serverURL: URL) {
    self.serverURL = serverURL
    devices = HTTPTransport(
      baseURL: serverURL.appending(path: "sync"), timeout: .seconds(3600), silence: .seconds(60), sizeLimit: 256 << 20)
    staff = HTTPTransport(baseURL: serverURL, timeout: .seconds(10))
  }

  var isOnline: Bool {
    get { reachability.isReachable }
    set { reachability.isReachable = newValue }
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let cut = TransportError.unreachable(reason: "the switch says offline")
    guard isOnline else { throw cut }
    return try await withThrowingTaskGroup(of: TransportResponse.self) { group in
      group.addTask { [devices] in try await devices.send(request) }
      group.addTask { [reachability] in
        for await isOnline in reachability.states where !isOnline { break }
        throw cut
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw cut }
      return first
    }
  }

  /// Sends what is none of the customer's business, whatever the switch says.
  @discardableResult
  func askStaff(_ method: String, _ path: String, _ body: (any Encodable)? = nil) async throws -> Data {
    let data = try body.map { try JSONEncoder().encode($0) }
    let request = TransportRequest(method, path, headers: ["Content-Type": "application/json"], body: data)
    return try await staff.send(request).successful().body
  }
}
