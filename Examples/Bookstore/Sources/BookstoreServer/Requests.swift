import BookstoreKit
import FlyingFox
import Foundation

extension HTTPRequest {
  /// The path's parts.
  var parts: [String] { path.split(separator: "/").map(String.init) }

  var idempotencyKey: String? {
    get throws {
      guard let key = headers[HTTPHeader("Idempotency-Key")] else { return nil }
      guard (1...200).contains(key.count) else { throw Refusal.malformed("The Idempotency-Key has no fitting length.") }
      return key
    }
  }

  static func decode<T: Decodable>(_ type: T.Type, _ body: Data) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      throw Refusal.malformed("The body is not what is expected: \(error.decodingReason)")
    }
  }
}
