package import FlyingFox
import Foundation
import Synchronization

/// Lets in what programs and this server's own pages ask for, and no foreign page.
///
/// Other pages in the same browser can send requests to the loopback interface as well. They cannot hide where they come from:
/// `Origin` and `Sec-Fetch-Site` say it, and `Host` gives away a name that was made to lead here.
package final class Gate: Sendable {
  private let authorities = Mutex<Set<String>>([])

  package init() {}

  /// Lets requests in that were sent to a port. Which one it is may be known only after the first request could have come.
  package func open(_ port: Int) { authorities.withLock { $0 = ["127.0.0.1:\(port)", "localhost:\(port)"] } }

  /// Why a request is not let in; `nil` if it is.
  package func refusalOfForeign(_ request: HTTPRequest) -> HTTPStatusCode? {
    guard let host = request.headers[.host]?.lowercased(), authorities.withLock({ $0.contains(host) }) else {
      return .misdirectedRequest
    }
    if let origin = request.headers[HTTPHeader("Origin")], origin.lowercased() != "http://\(host)" { return .forbidden }
    if let site = request.headers[HTTPHeader("Sec-Fetch-Site")], site != "same-origin", site != "none" {
      return .forbidden
    }
    return nil
  }
}
