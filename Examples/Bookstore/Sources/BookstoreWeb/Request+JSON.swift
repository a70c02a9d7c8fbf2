import Foundation
package import Hummingbird
import NIOCore

extension Request {
  /// The body as a value, from no more than a few pages of JSON.
  ///
  /// - Throws: an `HTTPError` that says what is wrong with it.
  package func json<T: Decodable>(_ type: T.Type) async throws -> T {
    let body = try await body.collect(upTo: 65_536)
    do {
      return try JSONDecoder().decode(type, from: Data(body.readableBytesView))
    } catch {
      throw HTTPError(.badRequest, message: "The body is not what is expected.")
    }
  }
}

extension Response {
  /// A value as JSON.
  package static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Response(
      status: status, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
  }
}
