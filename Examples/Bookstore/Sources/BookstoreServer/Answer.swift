import BookstoreKit
import FlyingFox
import Foundation

/// What a request is answered: a status and JSON.
struct Answer: Sendable, Equatable {
  var status: Int
  var body: Data
  var fields: [String: String] = [:]

  init(status: Int, body: Data) { (self.status, self.body) = (status, body) }

  init(_ value: some Encodable, status: Int = 200) throws {
    self.init(status: status, body: try Wire.data(value))
  }

  init(_ refusal: Refusal) {
    let body = try? Wire.data(Wire.Refusal(error: refusal.reason))
    self.init(status: refusal.status, body: body ?? Data())
  }

  /// The answer with an `ETag`, or that nothing has changed since the one that the request has.
  func tagged(_ tag: String, _ request: HTTPRequest) -> Answer {
    let tag = "\"\(tag)\""
    let known = request.headers[.ifNoneMatch]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    let isKnown = known?.contains { $0 == tag || $0 == "W/" + tag || $0 == "*" } ?? false
    var answer = isKnown ? Answer(status: 304, body: Data()) : self
    answer.fields = fields
    answer.fields["ETag"] = tag
    return answer
  }

  var response: HTTPResponse {
    var headers = HTTPHeaders()
    for (name, value) in fields { headers[HTTPHeader(name)] = value }
    if !body.isEmpty { headers[.contentType] = "application/json" }
    headers[.cacheControl] = "no-cache"
    return HTTPResponse(statusCode: HTTPStatusCode(status, phrase: Self.phrase(status)), headers: headers, body: body)
  }

  private static func phrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 201: "Created"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 413: "Payload Too Large"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    default: "Internal Server Error"
    }
  }
}
