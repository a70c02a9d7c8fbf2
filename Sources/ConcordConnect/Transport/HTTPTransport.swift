public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A transport that sends requests with `URLSession`. It keeps no cookies and no cache.
///
/// Redirects are followed on the same host. Of a request that changes something, 301 and 302 are not followed but handed over, as is
/// 307 or 308 where the system cannot send a body again. 303 says that the change was made and that its result is elsewhere (RFC
/// 9110, 15.4.4): the result is fetched with GET, and its answer is handed over; the 303 itself, if that is a status from 400 to
/// 499, which says nothing of the change, or if the result is on a host that is not given the credentials.
///
/// ```swift
/// let transport = HTTPTransport(
///   baseURL: url, headers: ["Authorization": "Bearer \(token)"], timeout: .seconds(20), sizeLimit: 1_000_000)
/// ```
public final class HTTPTransport: Transport {
  /// The URL that the paths of requests are relative to.
  public let baseURL: URL
  /// The header fields that each request carries. They are credentials: no other host gets them.
  public let headers: HeaderFields
  /// The longest time for a response, with all redirects.
  public let timeout: Duration
  /// The longest time in which nothing of a response arrives.
  public let silence: Duration
  /// The maximum number of bytes in a body.
  public let sizeLimit: Int
  private let session: URLSession
  private let delegate = HTTPSessionDelegate()

  /// Creates a transport for a service.
  ///
  /// - Parameters:
  ///   - baseURL: where the service is; paths are added to it.
  ///   - headers: sent with each request.
  ///   - timeout: how long an answer may take; half a minute, unless said otherwise.
  ///   - silence: how long nothing may arrive; as long as the whole, unless said otherwise. A long answer over a slow network needs a long
  ///     timeout and a short silence.
  ///   - sizeLimit: how many bytes a body may have; 10 MB, unless said otherwise.
  ///   - configuration: of the session, for what else it may need.
  public init(
    baseURL: URL, headers: HeaderFields = [:], timeout: Duration = .seconds(30), silence: Duration? = nil,
    sizeLimit: Int = 10_000_000, configuration: URLSessionConfiguration = .ephemeral
  ) {
    self.baseURL = baseURL
    self.headers = headers
    // Some systems multiply it until it is too large for their numbers. A year is as good as for ever.
    self.timeout = min(timeout, .seconds(365 * 86_400))
    self.silence = min(silence ?? self.timeout, self.timeout)
    self.sizeLimit = sizeLimit
    let configuration = (configuration.copy() as? URLSessionConfiguration) ?? configuration
    configuration.httpShouldSetCookies = false
    configuration.httpCookieStorage = nil
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try Task.checkCancellation()
    let request = try urlRequest(request)
    let task = session.dataTask(with: request)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        delegate.begin(
          task,
          HTTPExchange(
            request: request, sizeLimit: sizeLimit, hasCredentials: hasCredentials(request), continuation: continuation)
        )
        delegate.limit(task, to: timeout)
        // A cancellation before this found nothing to end.
        if Task.isCancelled { return delegate.fail(task, CancellationError()) }
        task.resume()
      }
    } onCancel: {
      delegate.fail(task, CancellationError())
    }
  }

  private func urlRequest(_ request: TransportRequest) throws -> URLRequest {
    var result = URLRequest(url: try url(request.target))
    result.httpMethod = request.method
    result.httpBody = request.body
    // The limit of the whole is kept by the delegate; this one is for silence.
    result.timeoutInterval = max(1, silence.seconds)
    var fields = headers
    fields.merge(request.headers)
    for (name, value) in fields.values {
      if (name + value).unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
        throw TransportError.invalidRequest("the header field '\(name)' holds a control character")
      }
      result.setValue(value, forHTTPHeaderField: name)
    }
    return result
  }

  func url(_ target: TransportRequest.Target) throws -> URL {
    switch target {
    case .url(let url):
      // What a service says of the next page is not to take the credentials elsewhere.
      guard url.origin == baseURL.origin else {
        throw TransportError.invalidRequest("\(url) is not on \(baseURL.origin)")
      }
      return url
    case .path(let path, let query):
      guard var components = URLComponents(url: baseURL, resolvingAgainstBaseURL: true) else {
        throw TransportError.invalidRequest("\(baseURL) is no address")
      }
      // `URLComponents` traps at a path that is not escaped rightly, and `URL` does not.
      guard path.isEscapedPath else { throw TransportError.invalidRequest("'\(path)' is no path") }
      let items = [components.percentEncodedQuery ?? ""].filter { !$0.isEmpty } + query.map(\.escaped)
      let rest = items.isEmpty ? "" : "?" + items.joined(separator: "&")
      var base = components.percentEncodedPath
      while base.hasSuffix("/") { base.removeLast() }
      (components.percentEncodedPath, components.percentEncodedQuery, components.fragment) = ("", nil, nil)
      let text = (components.string ?? "") + base + (path.hasPrefix("/") || path.isEmpty ? path : "/" + path) + rest
      guard let url = URL(string: text, encodingInvalidCharacters: false), url.origin == baseURL.origin else {
        throw TransportError.invalidRequest("'\(path)' is no path")
      }
      return url
    }
  }

  private func hasCredentials(_ request: URLRequest) -> Bool {
    let names = Set(headers.values.keys).union(["authorization", "cookie", "proxy-authorization", "idempotency-key"])
    return (request.allHTTPHeaderFields ?? [:]).keys.contains { names.contains($0.lowercased()) }
      || request.url?.user != nil || request.httpBody != nil
  }
}

extension URL {
  /// Scheme, host and port.
  var origin: String {
    let scheme = scheme?.lowercased() ?? ""
    let usual = scheme == "https" ? 443 : 80
    return "\(scheme)://\(host()?.lowercased() ?? ""):\(port ?? usual)"
  }
}

extension CharacterSet {
  /// The characters that are the same in any part of an address: RFC 3986, 2.3.
  static var unreserved: CharacterSet {
    CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
  }
}

extension URLQueryItem {
  /// The item as it stands in an address. `URLComponents` leaves "+" as it is, which services read as a space.
  var escaped: String {
    ([name] + (value.map { [$0] } ?? [])).map { text in
      text.addingPercentEncoding(withAllowedCharacters: .unreserved) ?? ""
    }.joined(separator: "=")
  }
}

extension String {
  /// Whether the text may stand in a path as it is, and leads nowhere else.
  fileprivate var isEscapedPath: Bool {
    let allowed = CharacterSet.urlPathAllowed.union(CharacterSet(charactersIn: "%"))
    return unicodeScalars.allSatisfy(allowed.contains) && removingPercentEncoding != nil
      && !split(separator: "/").contains { ["..", "."].contains(String($0).removingPercentEncoding ?? "") }
  }
}
