public import Foundation

/// A client that sends requests to a web service.
///
/// ```swift
/// let response = try await transport.send(TransportRequest("GET", "/books"))
/// ```
public protocol Transport: Sendable {
  /// Sends a request.
  ///
  /// - Parameter request: the request. Its path is relative to the service's address, which the transport knows.
  /// - Returns: the response, with any status.
  /// - Throws: ``TransportError``, or `CancellationError` if the task was cancelled.
  func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// A request, relative to where the service is.
public struct TransportRequest: Sendable, Equatable {
  /// The address of a request.
  public enum Target: Sendable, Hashable {
    /// A path below the service's, and what follows the question mark. The path is escaped already.
    case path(String, query: [URLQueryItem])
    /// A whole address, as the service gave it. It has to be on the service's host.
    case url(URL)
  }

  /// The HTTP method.
  public var method: String
  /// The address.
  public var target: Target
  /// The header fields.
  public var headers: HeaderFields
  /// The body; `nil` if the request has none.
  public var body: Data?

  /// Creates a request to a path of the service.
  ///
  /// - Parameters:
  ///   - method: the HTTP method.
  ///   - path: the path below the service's, escaped already.
  ///   - query: the items of the query.
  ///   - headers: the header fields.
  ///   - body: the body; `nil` if the request has none.
  public init(
    _ method: String, _ path: String, query: [URLQueryItem] = [], headers: HeaderFields = [:], body: Data? = nil
  ) {
    self.method = method
    target = .path(path, query: query)
    self.headers = headers
    self.body = body
  }

  /// Creates a request to a URL.
  ///
  /// - Parameters:
  ///   - method: the HTTP method.
  ///   - url: the whole address, which has to be on the service's host.
  ///   - headers: the header fields.
  ///   - body: the body; `nil` if the request has none.
  public init(_ method: String, at url: URL, headers: HeaderFields = [:], body: Data? = nil) {
    self.method = method
    target = .url(url)
    self.headers = headers
    self.body = body
  }
}

/// The response of a web service.
public struct TransportResponse: Sendable {
  /// The status code.
  public var status: Int
  /// The header fields.
  public var headers: HeaderFields
  /// The body.
  public var body: Data
  /// The address of the response, after redirects.
  public var url: URL?

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - status: the status code.
  ///   - headers: the header fields.
  ///   - body: the body.
  ///   - url: the address of the response, after redirects.
  public init(status: Int, headers: HeaderFields = [:], body: Data = Data(), url: URL? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
    self.url = url
  }

  /// Returns the response, if its status is a success.
  ///
  /// - Throws: ``TransportError/status(_:excerpt:retryAfter:)`` if the status is not 2xx.
  public func successful() throws -> TransportResponse {
    if (200..<300).contains(status) { return self }
    throw TransportError.status(status, excerpt: excerpt, retryAfter: retryAfter)
  }

  /// The beginning of the body, for people to read.
  var excerpt: String { body.excerpt }

  /// The time that the service asks clients to wait: `Retry-After`, in seconds or as a date in one of HTTP's three
  /// forms. A date is compared with the response's own `Date`, if it has one.
  ///
  /// `nil` if it says nothing of it, or something else. Seconds that no number can hold are the most that one can.
  public var retryAfter: Duration? {
    guard let text = headers["Retry-After"]?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return .seconds(Int64(text) ?? .max) }
    // By the clock of the service, which the device's may differ from.
    let now = headers["Date"].flatMap { HTTPDate.date($0) } ?? Date()
    return HTTPDate.date(text).map { .seconds(max(0, $0.timeIntervalSince(now))) }
  }
}

/// The header fields of a request or a response, with case-insensitive names.
public struct HeaderFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// The values by name; the names are in lower case.
  public private(set) var values: [String: String] = [:]

  /// Creates an empty list of fields.
  public init() {}
  public init(dictionaryLiteral elements: (String, String)...) { for (name, value) in elements { self[name] = value } }

  /// The value of a field, whose name is case-insensitive; `nil` if there is no such field.
  public subscript(name: String) -> String? {
    get { values[name.lowercased()] }
    set { values[name.lowercased()] = newValue }
  }

  /// Adds fields; those of the same name are replaced.
  public mutating func merge(_ other: HeaderFields) { values.merge(other.values) { $1 } }
}

extension Data {
  var excerpt: String {
    let text = String(decoding: prefix(400), as: UTF8.self)
    return count > 400 ? text + "…" : text
  }
}
