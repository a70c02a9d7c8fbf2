import ConcordConnect
import Foundation
import Logging

extension Error {
  /// The error's type, its case and its code, without what it carries: that may be an answer, an address or a token.
  var logMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["error": "\(caseName.map { "\(type(of: self)).\($0)" } ?? "\(type(of: self))")"]
    if let code { metadata["code"] = "\(code)" }
    return metadata
  }

  private var caseName: String? {
    let mirror = Mirror(reflecting: self)
    guard mirror.displayStyle == .enum else { return nil }
    if let label = mirror.children.first?.label { return label }
    // A description of its own might say anything.
    let value: Any = self
    return value is any CustomStringConvertible || value is any CustomDebugStringConvertible ? nil : "\(self)"
  }

  private var code: Int? {
    if case .status(let status, _, _)? = self as? TransportError { return status }
    return self is any CustomNSError || type(of: self) is NSError.Type ? (self as NSError).code : nil
  }
}
