import ConcordConnect
import FlyingFox
import FlyingSocks
import Foundation

/// A real server on the loopback interface, which a test scripts.
struct WebServer: Sendable {
  let server: HTTPServer
  let url: URL
  /// What was asked for: method, path with query, header fields.
  let requests = Log<(method: String, path: String, headers: [String: String])>()

  typealias Handler = @Sendable (HTTPRequest) async throws -> HTTPResponse

  /// Starts one, and stops it at the end of the body.
  static func run<R>(_ handler: @escaping Handler, _ body: (WebServer) async throws -> R) async throws -> R {
    let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
    let task = try await server.startListening()
    guard case .ip4(_, let port)? = await server.listeningAddress else { throw Failure(text: "no port") }
    guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw Failure(text: "no address") }
    let found = WebServer(server: server, url: url)
    await server.appendRoute("*") { request in
      let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
      let headers = Dictionary(request.headers.map { ($0.key.rawValue.lowercased(), $0.value) }) { $1 }
      found.requests.add((request.method.rawValue, request.path + (query.isEmpty ? "" : "?\(query)"), headers))
      return try await handler(request)
    }
    let result = await Result { try await body(found) }
    await server.stop()
    task.cancel()
    return try result.get()
  }

  var paths: [String] { requests.entries.map { "\($0.method) \($0.path)" } }
}

extension HTTPServer {
  /// Runs it, and returns when it listens, however late: a busy machine may need longer than any time-out.
  ///
  /// Throws what ends it before, as a port that is taken.
  func startListening() async throws -> Task<Void, any Error> {
    let ends = Log<Void>()
    let task = Task {
      defer { ends.add(()) }
      try await self.run()
    }
    while !isListening {
      if !ends.entries.isEmpty {
        try await task.value
        throw Failure(text: "the server has ended")
      }
      try await Task.sleep(for: .milliseconds(1))
    }
    return task
  }
}

extension HTTPResponse {
  static func json(_ text: String, _ headers: [String: String] = [:], status: HTTPStatusCode = .ok) -> HTTPResponse {
    var fields = HTTPHeaders()
    fields[.contentType] = "application/json"
    for (name, value) in headers { fields[HTTPHeader(name)] = value }
    return HTTPResponse(statusCode: status, headers: fields, body: Data(text.utf8))
  }
}
