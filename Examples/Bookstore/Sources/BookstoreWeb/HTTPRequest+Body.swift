package import FlyingFox
package import Foundation

extension HTTPRequest {
  /// The body, which is to be no longer than a few pages.
  ///
  /// - Throws: ``BodyTooLong``, or what the socket says.
  package func boundedBody() async throws -> Data {
    let limit = 65_536
    if let count = bodySequence.count, count > limit { throw BodyTooLong() }
    var body = Data()
    for try await part in bodySequence {
      body += part
      if body.count > limit { throw BodyTooLong() }
    }
    return body
  }
}

/// A request brings more than is taken.
package struct BodyTooLong: Error, CustomStringConvertible {
  package var description: String { "The body is too long." }
}
