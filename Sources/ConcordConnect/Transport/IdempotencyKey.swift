import Foundation

/// By which a web service recognises a request that it has been sent before: the header field `Idempotency-Key`.
public struct IdempotencyKey: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  /// A new one.
  public init() { rawValue = UUID().uuidString.lowercased() }

  public var description: String { rawValue }
}
