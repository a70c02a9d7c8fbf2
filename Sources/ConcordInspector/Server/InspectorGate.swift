#if Inspector
  import Concord
  import FlyingFox

  /// Decides who gets an answer: requests with the token, made by the page itself or typed by a person.
  final class InspectorGate: Sendable {
    let token: String
    private let listening = Locked<UInt16>(0)

    var port: UInt16 {
      get { listening.withLock { $0 } }
      set { listening.withLock { $0 = newValue } }
    }

    init() {
      var generator = SystemRandomNumberGenerator()
      let numbers = (0..<2).map { _ in generator.next() as UInt64 }
      token = numbers.map { number in
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }

    /// Returns the path below the token, or the status with which the request is refused.
    func path(of request: HTTPRequest) -> (path: String, refusal: HTTPStatusCode?) {
      // Another name would be that of a page which has had it point here.
      let host = request.headers[.host] ?? ""
      // Browsers leave the usual port out.
      let hosts = ["127.0.0.1", "localhost"].flatMap { port == 80 ? [$0, "\($0):80"] : ["\($0):\(port)"] }
      guard hosts.contains(host) else { return ("", .misdirectedRequest) }
      let parts = request.path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: true)
      guard let first = parts.first, isToken(first) else { return ("", .notFound) }
      let path = parts.count > 1 ? String(parts[1]) : request.target.path().hasSuffix("/") ? "" : "/"
      switch request.method {
      case .GET: return (path, nil)
      case .POST:
        let origin = request.headers[HTTPHeader("Origin")]
        let isOwn = origin.map { $0 == "http://\(host)" } ?? true
        let site = request.headers[HTTPHeader("Sec-Fetch-Site")].map { $0 == "same-origin" || $0 == "none" } ?? true
        guard isOwn, site else { return ("", .forbidden) }
        guard request.headers[.contentType]?.hasPrefix("application/json") ?? false else {
          return ("", .unsupportedMediaType)
        }
        guard let length = request.headers[.contentLength].flatMap({ Int($0) }), length <= 4_096 else {
          return ("", .payloadTooLarge)
        }
        return (path, nil)
      default: return ("", .methodNotAllowed)
      }
    }

    /// Compares in a time that does not depend on where the texts differ.
    private func isToken(_ text: Substring) -> Bool {
      let (a, b) = (Array(text.utf8), Array(token.utf8))
      guard a.count == b.count else { return false }
      return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
  }
#endif
