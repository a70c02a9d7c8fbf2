import BookstoreWeb
import FlyingFox
import Foundation

extension Gate {
  /// Why a request is not let in; `nil` if it is one that this page makes.
  ///
  /// What changes something must be JSON, which a foreign page may send only after asking, and is refused.
  func refusal(of request: HTTPRequest) -> HTTPStatusCode? {
    if let status = refusalOfForeign(request) { return status }
    switch request.method {
    case .GET, .HEAD: return nil
    case .POST:
      let type = request.headers[.contentType]?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces)
      return type?.lowercased() == "application/json" ? nil : .unsupportedMediaType
    default: return .methodNotAllowed
    }
  }
}
