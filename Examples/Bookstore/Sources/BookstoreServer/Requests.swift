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

  /// The body, which is to be no longer than a few pages.
  func boundedBody() async throws -> Data {
    let limit = 65_536
    if let count = bodySequence.count, count > limit { throw Refusal(status: 413, reason: "The body is too long.") }
    var body = Data()
    for try await part in bodySequence {
      body += part
      if body.count > limit { throw Refusal(status: 413, reason: "The body is too long.") }
    }
    return body
  }

  static func decode<T: Decodable>(_ type: T.Type, _ body: Data) throws -> T {
    do {
      return try JSONDecoder().decode(type, from: body)
    } catch {
      throw Refusal.malformed("The body is not what is expected: \(error.decodingReason)")
    }
  }
}
