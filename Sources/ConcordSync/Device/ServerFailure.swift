import ConcordConnect

/// An answer of the server that is no success.
struct ServerFailure: Error {
  /// The failure as an error of the transport, with the server's sentence if it has one, and with the body otherwise.
  let error: TransportError
  /// Whether the server names a limit as the reason.
  let isOfLimit: Bool

  init(_ response: TransportResponse, _ status: Int, excerpt: String, retryAfter: Duration?) {
    let body = try? WireValue(parsing: response.body)
    let sentence = try? body?["error"].text()
    isOfLimit = sentence != nil && body?["limit"].isNull == false
    error = .status(status, excerpt: sentence ?? excerpt, retryAfter: retryAfter)
  }
}
