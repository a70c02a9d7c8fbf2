import FlyingFox
import Foundation
import Synchronization

/// Lets in what this page asks for, and nothing else.
///
/// Other pages in the same browser can send requests to the loopback interface as well. They cannot hide where they come from:
/// `Origin` and `Sec-Fetch-Site` say it, and `Host` gives away a name that was made to lead here. What changes something must be
/// JSON, which a foreign page may send only after asking, and is refused.
final class Gate: Sendable {
  private let authorities = Mutex<Set<String>>([])

  /// Lets requests in that were sent to a port. Which one it is may be known only after the first request could have come.
  func open(_ port: Int) { authorities.withLock { $0 = ["127.0.0.1:\(port)", "localhost:\(port)"] } }

  /// Why a request is not let in; `nil` if it is.
  func refusal(of request: HTTPRequest) -> HTTPStatusCode? {
    guard let host = request.headers[.host]?.lowercased(), authorities.withLock({ $0.contains(host) }) else {
      return .misdirectedRequest
    }
    if let origin = request.headers[HTTPHeader("Origin")], origin.lowercased() != "http://\(host)" { return .forbidden }
    if let site = request.headers[HTTPHeader("Sec-Fetch-Site")], site != "same-origin", site != "none" {
      return .forbidden
    }
    switch request.method {
    case .GET, .HEAD: return nil
    case .POST:
      let type = request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
      return type?.lowercased() == "application/json" ? nil : .unsupportedMediaType
    default: return .methodNotAllowed
    }
  }
}
