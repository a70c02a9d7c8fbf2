import Concord
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A request, and the part of its response that has arrived.
struct HTTPExchange {
  let request: URLRequest
  let sizeLimit: Int
  let hasCredentials: Bool
  let continuation: CheckedContinuation<TransportResponse, any Error>
  var response: HTTPURLResponse?
  var body = Data()
  var redirects = 0
  /// The response to a request that made its change and whose result is elsewhere.
  var seeOther: HTTPURLResponse?
  var timer: DispatchWorkItem?

  /// Appends a part of the body.
  ///
  /// - Returns: `false` if it would be too large.
  mutating func append(_ data: Data) -> Bool {
    guard body.count + data.count <= sizeLimit else { return false }
    body.append(data)
    return true
  }
}

/// A delegate that collects responses, and ends those that take too long, are too large, or redirect to another host.
/// Each exchange is resumed once, by the call that removes it.
final class HTTPSessionDelegate: NSObject, URLSessionDataDelegate {
  private let exchanges = Locked<[Int: HTTPExchange]>([:])

  func begin(_ task: URLSessionTask, _ exchange: HTTPExchange) {
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
  }

  /// Lets it fail after a while.
  func limit(_ task: URLSessionTask, to duration: Duration) {
    let timer = DispatchWorkItem { [weak self, weak task] in
      if let task { self?.fail(task, TransportError.timedOut) }
    }
    exchanges.withLock { $0[task.taskIdentifier]?.timer = timer }
    DispatchQueue.global().asyncAfter(deadline: .now() + max(0, duration.seconds), execute: timer)
  }

  func fail(_ task: URLSessionTask, _ error: any Error) {
    let exchange = take(task)
    task.cancel()
    exchange?.continuation.resume(throwing: error)
  }

  private func take(_ task: URLSessionTask) -> HTTPExchange? {
    let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    exchange?.timer?.cancel()
    return exchange
  }

  // MARK: Redirects

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    let error = exchanges.withLock { exchanges -> TransportError? in
      guard let exchange = exchanges[task.taskIdentifier] else { return nil }
      exchanges[task.taskIdentifier]?.redirects += 1
      if response.statusCode == 303, Self.changes(exchange.request) {
        exchanges[task.taskIdentifier]?.seeOther = response
      }
      if exchange.redirects >= 5 { return .tooManyRedirects }
      let origin = request.url?.origin ?? ""
      return exchange.hasCredentials && origin != exchange.request.url?.origin ? .redirected(to: origin) : nil
    }
    let given = exchanges.withLock { $0[task.taskIdentifier] }
    if let error {
      completionHandler(nil)
      // That its result cannot be had is no failure of the change.
      if let seeOther = given?.seeOther { return finish(task, seeOther) }
      return fail(task, error)
    }
    if isAnotherRequest(request, than: given?.request, response.statusCode) {
      completionHandler(nil)
      return finish(task, response)
    }
    completionHandler(request)
  }

  /// Ends an exchange with a redirect that is not followed.
  private func finish(_ task: URLSessionTask, _ response: HTTPURLResponse) {
    let exchange = take(task)
    task.cancel()
    exchange?.continuation.resume(returning: Self.answer(response, Data()))
  }

  /// Returns whether a redirect turns a changing request into another one: a GET, or one without the body. The response
  /// to that one (a login page, say) does not mean that the change was made.
  private func isAnotherRequest(_ new: URLRequest, than old: URLRequest?, _ status: Int) -> Bool {
    guard Self.changes(old) else { return false }
    if new.httpMethod == old?.httpMethod { return old?.httpBody != nil && !Self.keepsBodies }
    return [301, 302].contains(status)
  }

  /// Whether a request is to change something.
  private static func changes(_ request: URLRequest?) -> Bool {
    request?.httpMethod.map { !["GET", "HEAD"].contains($0) } ?? false
  }

  /// Whether the system sends the body again after a redirect. On Linux it does not, though the new request has one.
  private static var keepsBodies: Bool {
    #if canImport(FoundationNetworking)
      false
    #else
      true
    #endif
  }

  // MARK: The answer

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let limit = exchanges.withLock { exchanges -> Int? in
      exchanges[dataTask.taskIdentifier]?.response = response as? HTTPURLResponse
      return exchanges[dataTask.taskIdentifier]?.sizeLimit
    }
    if let limit, response.expectedContentLength > Int64(limit) {
      completionHandler(.cancel)
      return fail(dataTask, TransportError.tooLarge(limit: limit))
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    // In place: a copy of the exchange would copy what has arrived so far.
    let isTaken = exchanges.withLock { $0[dataTask.taskIdentifier]?.append(data) }
    guard isTaken == false, let limit = exchanges.withLock({ $0[dataTask.taskIdentifier]?.sizeLimit }) else { return }
    fail(dataTask, TransportError.tooLarge(limit: limit))
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let exchange = take(task) else { return }
    if let error { return exchange.continuation.resume(throwing: Self.error(error, exchange.request)) }
    guard let response = exchange.response ?? task.response as? HTTPURLResponse else {
      return exchange.continuation.resume(throwing: TransportError.unreachable(reason: "no answer"))
    }
    // That its result cannot be had is no refusal of the change.
    if let seeOther = exchange.seeOther, (400..<500).contains(response.statusCode) {
      return exchange.continuation.resume(returning: Self.answer(seeOther, Data()))
    }
    exchange.continuation.resume(returning: Self.answer(response, exchange.body))
  }

  private static func answer(_ response: HTTPURLResponse, _ body: Data) -> TransportResponse {
    var headers = HeaderFields()
    for (name, value) in response.allHeaderFields { headers["\(name)"] = "\(value)" }
    return TransportResponse(status: response.statusCode, headers: headers, body: body, url: response.url)
  }

  private static func error(_ error: any Error, _ request: URLRequest) -> any Error {
    guard let error = error as? URLError else { return TransportError.unreachable(reason: "\(error)") }
    return switch error.code {
    case .cancelled: CancellationError()
    case .timedOut: TransportError.timedOut
    case .httpTooManyRedirects: TransportError.tooManyRedirects
    // Some systems report this for a response that is not HTTP, too. The request is not at fault, and is sent again.
    case .badURL, .unsupportedURL:
      ["http", "https"].contains(request.url?.scheme?.lowercased())
        ? TransportError.unreachable(reason: error.localizedDescription)
        : TransportError.invalidRequest(error.localizedDescription)
    default: TransportError.unreachable(reason: error.localizedDescription)
    }
  }
}
