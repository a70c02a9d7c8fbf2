public import Foundation

/// An error between the app and a web service.
public enum TransportError: Error, Sendable {
  /// The service answered with another status than was expected.
  case status(Int, excerpt: String, retryAfter: Duration?)
  /// The body cannot be decoded. `path` is the place of the error: `[3].author.name`.
  case undecodable(type: String, path: String, reason: String, excerpt: String)
  /// No answer came in time.
  case timedOut
  /// The service cannot be reached, or the connection broke.
  case unreachable(reason: String)
  /// The answer is longer than is taken.
  case tooLarge(limit: Int)
  /// The service sent the request on to another host, which is not to get the credentials.
  case redirected(to: String)
  /// The service sent the request on too often.
  case tooManyRedirects
  /// The request is invalid, or leads to another host.
  case invalidRequest(String)
  /// The pages of a list lead to each other, or there are too many.
  case endlessPages(String)
}

extension TransportError: LocalizedError, CustomStringConvertible {
  public var errorDescription: String? { description }

  public var description: String {
    switch self {
    case .status(let status, let excerpt, _): "the service answered \(status)" + (excerpt.isEmpty ? "" : ": \(excerpt)")
    case .undecodable(let type, let path, let reason, let excerpt):
      "the answer is no \(type)" + (path.isEmpty ? "" : ", at \(path)") + ": \(reason): \(excerpt)"
    case .timedOut: "the service did not answer in time"
    case .unreachable(let reason): "the service cannot be reached: \(reason)"
    case .tooLarge(let limit): "the answer is longer than \(limit.of("byte"))"
    case .redirected(let host): "the service redirects to \(host), which is not given the credentials"
    case .tooManyRedirects: "the service redirects again and again"
    case .invalidRequest(let reason): "the request is not valid: \(reason)"
    case .endlessPages(let reason): "the list does not end: \(reason)"
    }
  }
}

extension TransportError {
  /// Creates an error that names the field that could not be decoded, and its path.
  init(_ error: DecodingError, _ type: Any.Type, _ body: Data) {
    let (context, reason): (DecodingError.Context?, String) =
      switch error {
      case .typeMismatch(let wanted, let context): (context, "no \(wanted)")
      case .valueNotFound(let wanted, let context): (context, "null instead of \(wanted)")
      case .keyNotFound(let key, let context): (context, "no '\(key.stringValue)'")
      case .dataCorrupted(let context): (context, context.debugDescription)
      @unknown default: (nil, "\(error)")
      }
    var path = ""
    for key in context?.codingPath ?? [] {
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + key.stringValue
      }
    }
    self = .undecodable(type: "\(type)", path: path, reason: reason, excerpt: body.excerpt)
  }
}
