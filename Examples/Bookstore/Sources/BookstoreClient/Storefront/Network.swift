import ConcordConnect
import Foundation

/// The way to the server, which can be cut, as where a train enters a tunnel: what is sent then fails, and what was sent
/// before is not answered any more.
final class Network: Transport {
  let serverURL: URL
  let reachability = ReachabilitySwitch()
  private let http: HTTPTransport

  init(_ serverURL: URL) {
    self.serverURL = serverURL
    http = HTTPTransport(baseURL: serverURL, timeout: .seconds(10))
  }

  var isOnline: Bool {
    get { reachability.isReachable }
    set { reachability.isReachable = newValue }
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let cut = TransportError.unreachable(reason: "the switch says offline")
    guard isOnline else { throw cut }
    let response = try await http.send(request)
    guard isOnline else { throw cut }
    return response
  }

  /// Sends what is none of the customer's business, whatever the switch says.
  func sendAsStaff(_ method: String, _ path: String, _ body: some Encodable) async throws {
    let data = try JSONEncoder().encode(body)
    let request = TransportRequest(method, path, headers: ["Content-Type": "application/json"], body: data)
    _ = try await http.send(request).successful()
  }

  /// Asks whatever the switch says.
  func getAsStaff<T: Decodable>(_ path: String, _ type: T.Type) async throws -> T {
    try JSONDecoder().decode(type, from: try await http.send(TransportRequest("GET", path)).successful().body)
  }
}
