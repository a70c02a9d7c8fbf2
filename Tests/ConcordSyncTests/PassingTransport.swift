#if Server
  import ConcordServer

  /// A transport that is a closure.
  struct PassingTransport: Transport {
    let body: @Sendable (TransportRequest) async throws -> TransportResponse

    func send(_ request: TransportRequest) async throws -> TransportResponse { try await body(request) }
  }

  extension Device {
    /// Lets a closure send the device's requests, with the transport that it replaces.
    func route(
      _ body: @escaping @Sendable (TransportRequest, any Transport) async throws -> TransportResponse
    ) {
      network.base.withLock { base in
        guard let other = base else { return }
        base = PassingTransport { try await body($0, other) }
      }
    }
  }
#endif
