#if Server
  public import ConcordSync
  import Foundation
  import HTTPTypes

  extension SyncService {
    /// Returns a transport that reaches the service within the process, as an authenticated user: for tests, without a network.
    ///
    /// ```swift
    /// let network = ScriptedTransport { try await service.transport(as: user).send($0) }
    /// let sync = connect.sync(over: network, clock: VirtualClock())
    /// network.play(.fail(TransportError.unreachable(reason: "a tunnel")))
    /// ```
    public func transport(as user: User) -> any Transport { ServiceTransport(service: self, user: user) }
  }

  /// A transport to a service of the same process.
  private struct ServiceTransport<User: Identifiable & Sendable>: Transport where User.ID: Sendable {
    let service: SyncService<User>
    let user: User

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      try Task.checkCancellation()
      guard case .path(let path, _) = request.target, let route = SyncService<User>.Route(rawValue: path) else {
        return TransportResponse(status: 404)
      }
      let answer = await service.answer(route, for: user) { Array(request.body ?? Data()) }
      // Nobody waits for the answer of a request that was cancelled.
      try Task.checkCancellation()
      var headers: HeaderFields = ["Content-Type": "application/json"]
      if let seconds = answer.retryAfter { headers["Retry-After"] = "\(seconds)" }
      return TransportResponse(status: answer.status.code, headers: headers, body: Data(answer.bytes))
    }
  }
#endif
