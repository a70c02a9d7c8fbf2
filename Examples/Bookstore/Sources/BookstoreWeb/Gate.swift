package import HTTPTypes
package import Hummingbird
import Synchronization

/// Lets in what programs and this server's own pages ask for, and no foreign page.
///
/// Other pages in the same browser can send requests to the loopback interface as well. They cannot hide where they come from:
/// `Origin` and `Sec-Fetch-Site` say it, and `Host` gives away a name that was made to lead here. What changes something must be JSON,
/// which a foreign page may send only after asking, and is refused. A page of this machine may show this one in a frame.
package final class Gate: RouterMiddleware {
  package typealias Context = BasicRequestContext

  private let authorities = Mutex<Set<String>>([])

  package init() {}

  /// Lets requests in that were sent to a port. Which one it is may be known only after the first request could have come.
  package func open(_ port: Int) { authorities.withLock { $0 = ["127.0.0.1:\(port)", "localhost:\(port)"] } }

  /// Returns why a request is not let in; `nil` if it is.
  package func refusal(_ request: HTTPRequest) -> HTTPResponse.Status? {
    guard let host = request.authority?.lowercased(), authorities.withLock({ $0.contains(host) }) else {
      return .misdirectedRequest
    }
    let fields = request.headerFields
    if let origin = fields[.origin], origin.lowercased() != "http://\(host)" { return .forbidden }
    if let site = fields[.secFetchSite], site != "same-origin", site != "none" {
      let isFrame = site == "same-site" && fields[.secFetchDest] == "iframe" && request.method == .get
      guard isFrame, request.path == "/" else { return .forbidden }
    }
    switch request.method {
    case .get, .head: return nil
    case .post:
      let type = fields[.contentType]?.prefix { $0 != ";" }
      return type?.lowercased() == "application/json" ? nil : .unsupportedMediaType
    default: return .methodNotAllowed
    }
  }

  package func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    if let status = refusal(request.head) { return Response(status: status) }
    return try await next(request, context)
  }
}

extension HTTPField.Name {
  private static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .origin }
  fileprivate static let secFetchSite = name("Sec-Fetch-Site")
  fileprivate static let secFetchDest = name("Sec-Fetch-Dest")
}
